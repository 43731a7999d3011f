// path: cold
//
// Latencies and stops with all their buckets, for `pinstrike latency`: the classic histograms of
// /metrics have few, and cannot tell p99.99. Only buckets that hold something are shown.
#pragma once

#include "actors/telemetry/latency/reading.h"

#include <prometheus/metric_family.h>

#include <vector>

namespace pinstrike::actors {

[[nodiscard]] std::vector<prometheus::MetricFamily> latency_metrics(const LatencyReading& reading);

}  // namespace pinstrike::actors
