// path: cold
//
// Latencies and preemptions with all their buckets, for /latency. The histograms of /metrics have
// too few buckets for p99.99. Empty buckets are left out.
#pragma once

#include "actors/telemetry/latency/reading.h"

#include <prometheus/metric_family.h>

#include <vector>

namespace pinstrike::actors {

[[nodiscard]] std::vector<prometheus::MetricFamily> latency_metrics(const LatencyReading& reading);

}  // namespace pinstrike::actors
