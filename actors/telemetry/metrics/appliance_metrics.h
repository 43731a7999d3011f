// path: cold
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/telemetry/log/log_counts.h"

#include <prometheus/metric_family.h>

#include <vector>

namespace pinstrike::actors {

/// All figures of an appliance and its log as metric families. Any cold thread, at any time. It
/// reads the counters of other threads, and the statistics of ports and allocator.
[[nodiscard]] std::vector<prometheus::MetricFamily> appliance_metrics(Appliance& appliance,
                                                                      const LogCounters& log);

}  // namespace pinstrike::actors
