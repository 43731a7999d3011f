// path: cold
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/log/log_counts.h"

#include <prometheus/metric_family.h>

#include <vector>

namespace pinstrike::actors {

/// Every figure of a snapshot, of the log and of the allocator as metric families. Any cold thread.
[[nodiscard]] std::vector<prometheus::MetricFamily> appliance_metrics(
    const CounterSnapshot& counters, const LogCounters& log);

}  // namespace pinstrike::actors
