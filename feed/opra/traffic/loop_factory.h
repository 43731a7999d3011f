// path: cold
#pragma once

#include "feed/lines/line_config.h"
#include "feed/opra/traffic_config.h"
#include "nic/open_port.h"

#include <vector>

namespace pinstrike::feed::opra::traffic {

/// What a sim port of a feed with these lines hands out: see LoopSource. Pollers that share a port
/// get the parts of one traffic, each its own lines, so that a series keeps to its line.
[[nodiscard]] nic::FrameSourceFactory loop_factory(const TrafficConfig& config,
                                                   std::vector<LineConfig> lines);

}  // namespace pinstrike::feed::opra::traffic
