// path: cold
//
// The views of a running appliance at its admin socket, as JSON. Counts and times are since the
// last clear (tally.h). README.md of this folder describes the members.
#pragma once

#include "actors/telemetry/admin/tally.h"
#include "actors/telemetry/counter_snapshot.h"

#include <nlohmann/json_fwd.hpp>

namespace pinstrike::actors::admin {

/// Sums, and the lines and streams that are not up.
[[nodiscard]] nlohmann::json status_view(const CounterSnapshot& counters, Tally& tally);

/// Arrays with one element for each line, queue of a port, poll or actor thread, ring, or actor.
[[nodiscard]] nlohmann::json lines_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json ports_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json threads_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json rings_view(const CounterSnapshot& counters, Tally& tally);
[[nodiscard]] nlohmann::json actors_view(const CounterSnapshot& counters, Tally& tally);

/// The latency of each stage, for all its threads together.
[[nodiscard]] nlohmann::json latency_view(const CounterSnapshot& counters, Tally& tally);

}  // namespace pinstrike::actors::admin
