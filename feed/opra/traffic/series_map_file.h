// path: cold
#pragma once

#include "feed/lines/line_config.h"
#include "feed/opra/traffic/traffic_config.h"

#include <ostream>
#include <span>

namespace pinstrike::feed::opra::traffic {

/// Writes the series of a generated day in the format of the nightly file (series_mapping.h),
/// including GTH series with their lines.
void write_series_map(std::ostream& out, const TrafficConfig& config,
                      std::span<const LineConfig> lines);

}  // namespace pinstrike::feed::opra::traffic
