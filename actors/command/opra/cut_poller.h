// path: cold
#pragma once

#include "actors/bench/stages/cut_pollers.h"

#include <cstddef>
#include <memory>

namespace pinstrike::command {

/// A poller of OPRA whose path ends after `last`, which is find_line, check, arbitrate, decode or
/// route. Each has a translation unit of its own (cut_poller.cpp), because gcc inlines less where
/// a function has several callers, and then the stages would not be those of the program.
template <actors::Stage last>
std::unique_ptr<actors::PollerTask> make_cut_poller(actors::PollerSetup setup,
                                                    actors::Router router, std::size_t cores_count);

}  // namespace pinstrike::command
