// path: cold
//
// All latencies and preemptions that an appliance has measured, and the difference between two
// snapshots.
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "config/histogram.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// The names of the stages in metrics.
inline constexpr const char* exchange_to_decoded = "exchange_to_decoded";
inline constexpr const char* receive_to_actor = "receive_to_actor";
inline constexpr const char* actor_waiting = "actor_waiting";
inline constexpr const char* actor_service = "actor_service";

struct StageReading : StageSnapshot {
    std::string stage;
    std::string thread;
    std::string actor;  ///< empty: the thread as a whole
};

struct LoopReading {
    std::string thread;
    bool polls = false;
    std::uint64_t steps = 0;
    std::uint64_t looked_ns = 0;    ///< total time of all steps
    Histogram::Snapshot not_empty;  ///< steps that were not just an empty poll
    Histogram::Snapshot preemptions;
};

struct LatencyReading {
    std::string feed;
    std::string version;
    double running_s = 0;
    double seconds = 0;  ///< the time that the figures cover
    double clock_error_s = 0;
    std::uint64_t clock_steps = 0;
    bool from_due = false;  ///< paced replay: "receive" is when a packet was due
    std::vector<StageReading> stages;
    std::vector<LoopReading> loops;
};

[[nodiscard]] LatencyReading latency_of(const CounterSnapshot& counters);

/// The samples recorded after `before` was taken. Their maxima are exact to 1/16 only.
[[nodiscard]] LatencyReading since(const LatencyReading& now, const LatencyReading& before);

/// The samples not affected by a detected preemption. The maximum is exact to 1/16.
[[nodiscard]] Histogram::Snapshot without_preemption(const StageReading& stage);

/// How long a packet would have waited until the thread polled, if it had come at any time of the
/// measurement with equal probability. Computed from the lengths of the steps; each nanosecond
/// counts as one sample.
[[nodiscard]] Histogram::Snapshot wait_for_poll(const LoopReading& loop);

}  // namespace pinstrike::actors
