// path: cold
//
// OPRA's traffic generator as ports of kind sim use it (feed/traffic/traffic_generator.h).
#pragma once

#include "feed/opra/traffic/traffic_config.h"
#include "feed/traffic/traffic_generator.h"

namespace pinstrike::feed::opra::traffic {

/// The settings of a sim port's traffic (LoopSource). Pollers that share a port get parts of the
/// same traffic, each with its own lines, so that a series stays on its line.
[[nodiscard]] TrafficSettings settings_of(const TrafficConfig& config);

/// The generator, for register_traffic_generator().
[[nodiscard]] TrafficGenerator generator();

}  // namespace pinstrike::feed::opra::traffic
