// path: cold
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/telemetry/log/log_counts.h"

#include <prometheus/metric_family.h>

#include <vector>

namespace pinstrike::actors {

/// Every figure of an appliance, and of its log, as metric families. Any cold thread, at any time:
/// it reads counters that their threads write, and asks ports and allocator for their own.
[[nodiscard]] std::vector<prometheus::MetricFamily> appliance_metrics(Appliance& appliance,
                                                                      const LogCounters& log);

}  // namespace pinstrike::actors
