// path: cold
#pragma once

#include "actors/topology/feed_config.h"

namespace pinstrike::command {

/// One poller and one core without actors, so that events have the order of the packets. Nothing
/// else of the config runs.
void make_single_core(actors::FeedConfig& config);

}  // namespace pinstrike::command
