// path: cold
//
// Latencies for people and programs.
#pragma once

#include "actors/telemetry/latency/reading.h"

#include <string>

namespace pinstrike::actors {

/// Tables of percentiles and preemptions, with notes on where each figure starts and what it omits.
[[nodiscard]] std::string latency_text(const LatencyReading& reading);

/// One row each: stage, thread, actor, samples, count, percentiles and maximum in ns. A percentile
/// is empty if there are too few values for it.
[[nodiscard]] std::string latency_csv(const LatencyReading& reading);

/// One curve each: value over 1 / (1 - percentile), both on logarithmic scales.
[[nodiscard]] std::string latency_svg(const LatencyReading& reading);

}  // namespace pinstrike::actors
