// path: cold
//
// Latencies as people and programs read them.
#pragma once

#include "actors/telemetry/latency/reading.h"

#include <string>

namespace pinstrike::actors {

/// Tables of percentiles and of stops, and what the figures begin with and cannot see.
[[nodiscard]] std::string latency_text(const LatencyReading& reading);

/// A row each: stage, thread, actor, samples, count, percentiles and highest in ns; empty where
/// there are too few values to tell.
[[nodiscard]] std::string latency_csv(const LatencyReading& reading);

/// A curve each: value over 1 / (1 - percentile), both on logarithmic scales.
[[nodiscard]] std::string latency_svg(const LatencyReading& reading);

}  // namespace pinstrike::actors
