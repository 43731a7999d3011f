// path: cold
//
// All that an appliance has measured of latencies and of stops of the machine; and what came in
// between two snapshots.
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "config/histogram.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// The stages by name, as metrics have them.
inline constexpr std::string_view exchange_to_decoded = "exchange_to_decoded";
inline constexpr std::string_view receive_to_actor = "receive_to_actor";
inline constexpr std::string_view actor_waiting = "actor_waiting";
inline constexpr std::string_view actor_service = "actor_service";

struct StageReading {
    std::string stage;
    std::string thread;
    std::string actor;  ///< empty: of the thread as a whole
    Histogram::Snapshot all;
    Histogram::Snapshot disturbed;  ///< of these, those that overlap a stop of the machine
};

struct LoopReading {
    std::string thread;
    bool polls = false;
    std::uint64_t turns = 0;
    std::uint64_t looked_ns = 0;  ///< the time of all turns
    Histogram::Snapshot away;     ///< turns that were not just an empty look
    Histogram::Snapshot stops;
};

struct LatencyReading {
    std::string feed;
    std::string version;
    double running_s = 0;
    double seconds = 0;  ///< what the figures cover
    double clock_error_s = 0;
    std::uint64_t clock_steps = 0;
    bool from_due = false;  ///< of a paced replay: "receive" is when a packet was due
    std::vector<StageReading> stages;
    std::vector<LoopReading> loops;
};

[[nodiscard]] LatencyReading latency_of(const CounterSnapshot& counters);

/// What was recorded after `before` was taken. Highest values are then known to 1/16 only.
[[nodiscard]] LatencyReading since(const LatencyReading& now, const LatencyReading& before);

/// Those that overlap no stop that was found; highest to 1/16.
[[nodiscard]] Histogram::Snapshot undisturbed(const StageReading& stage);

/// How long a packet that came at any time would have waited for the thread to look, had it come
/// in the time that was measured: by the lengths of its turns. Each nanosecond counts as one.
[[nodiscard]] Histogram::Snapshot wait_for_look(const LoopReading& loop);

}  // namespace pinstrike::actors
