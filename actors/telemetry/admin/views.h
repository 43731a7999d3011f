// path: cold
//
// What a running appliance shows at its admin socket, as JSON. Counts and times are since the last
// clear (tally.h); README.md of this folder names the members.
#pragma once

#include "actors/telemetry/admin/tally.h"
#include "actors/telemetry/counter_snapshot.h"

#include <nlohmann/json_fwd.hpp>

namespace pinstrike::actors::admin {

/// Sums, and which lines and streams are not up.
[[nodiscard]] nlohmann::json status_view(const CounterSnapshot& counters, Tally& tally);

/// An array each: one element a line, a queue of a port, a poll or actor thread, a ring, an actor.
[[nodiscard]] nlohmann::json lines_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json ports_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json threads_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json rings_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json actors_view(const CounterSnapshot& counters, Tally& tally);

/// The latency of each stage, over all its threads.
[[nodiscard]] nlohmann::json latency_view(const CounterSnapshot& counters, Tally& tally);

}  // namespace pinstrike::actors::admin
