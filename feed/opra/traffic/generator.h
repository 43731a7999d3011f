// path: cold
//
// OPRA's traffic generator as ports of kind sim use it (feed/traffic_generator.h).
#pragma once

#include "feed/opra/traffic/traffic_config.h"
#include "feed/traffic_generator.h"

namespace pinstrike::feed::opra::traffic {

/// What a sim port then sends: see LoopSource. Pollers that share a port get the parts of one
/// traffic, each its own lines, so that a series keeps to its line.
[[nodiscard]] TrafficSettings settings_of(const TrafficConfig& config);

/// For register_traffic_generator().
[[nodiscard]] TrafficGenerator generator();

}  // namespace pinstrike::feed::opra::traffic
