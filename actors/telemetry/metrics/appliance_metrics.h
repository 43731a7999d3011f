// path: cold
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/http_server.h"

#include <prometheus/metric_family.h>

#include <vector>

namespace pinstrike::actors {

/// Every figure of a snapshot, of the log, of the allocator and of the endpoint (null: there is
/// none) as metric families. Any cold thread.
[[nodiscard]] std::vector<prometheus::MetricFamily> appliance_metrics(
    const CounterSnapshot& counters, const LogCounters& log, const EndpointCounters* endpoint);

}  // namespace pinstrike::actors
