// path: cold
//
// What an actor core is handed, of generated traffic or of a capture, kept, to be handed on again
// and again.
#pragma once

#include "config/problem.h"
#include "feed/event/event.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pinstrike::command {

struct RecordedEvents {
    std::vector<feed::Event> records;  ///< messages side by side, as in a ring
    std::size_t messages = 0;
};

/// The first `most` events of a capture of published lines, as a poller hands them on: both
/// streams arbitrated, gaps and all. None: the problems tell why; they tell as well where the file
/// ends in the middle of something.
[[nodiscard]] RecordedEvents record_capture(const std::string& file, std::size_t most,
                                            Problems& problems);

}  // namespace pinstrike::command
