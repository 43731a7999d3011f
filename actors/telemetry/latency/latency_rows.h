// path: cold
//
// Converts a latency reading to rows: a name in words and a distribution. Text, CSV and plot show
// the same rows.
#pragma once

#include "actors/telemetry/latency/reading.h"
#include "config/histogram.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct Percentile {
    const char* name;
    double share;
    std::uint64_t one_in;  ///< one in this many values exceeds the percentile
};

inline constexpr std::array<Percentile, 5> percentiles{{{"p50", 0.5, 2},
                                                        {"p90", 0.9, 10},
                                                        {"p99", 0.99, 100},
                                                        {"p99.9", 0.999, 1'000},
                                                        {"p99.99", 0.9999, 10'000}}};

struct LatencyRow {
    enum class Kind : std::uint8_t {
        all,                 ///< every sample
        without_preemption,  ///< samples not affected by a detected preemption
        by_time,     ///< not samples: computed for a packet that could have come at any time
        preemption,  ///< their durations
    };

    std::string stage;  ///< "receive to actor"
    std::string thread;
    std::string actor;
    Kind kind = Kind::all;
    Histogram::Snapshot taken;

    /// "core0 receive to actor, without preemption"
    [[nodiscard]] std::string title() const;
};

[[nodiscard]] std::vector<LatencyRow> latency_rows(const LatencyReading& reading);

/// Exact to 1/16. nullopt if there are too few values for one to exceed the percentile.
[[nodiscard]] std::optional<std::uint64_t> percentile_ns(const LatencyRow& row,
                                                         const Percentile& percentile);

}  // namespace pinstrike::actors
