// path: cold
#pragma once

#include "feed/lines/line_config.h"
#include "feed/opra/traffic/traffic_config.h"

#include <ostream>
#include <span>

namespace pinstrike::feed::opra::traffic {

/// Writes the series of a generated day as the exchange's nightly file does (series_mapping.h), GTH
/// series on their lines included.
void write_series_map(std::ostream& out, const TrafficConfig& config,
                      std::span<const LineConfig> lines);

}  // namespace pinstrike::feed::opra::traffic
