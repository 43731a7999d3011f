// path: cold
//
// The views of a running appliance as JSON, for the admin socket and for the screen of `run`.
// README.md of this folder describes the members.
#pragma once

#include "actors/telemetry/admin/tally.h"
#include "actors/telemetry/counter_snapshot.h"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace pinstrike::actors::admin {

/// Feed, version, running time, and the view `ask` by its name: "status" has sums, and the lines
/// and streams that are not up; "lines", "ports", "threads", "rings", "actors" and "busiest" have
/// an element for each line, queue of a port, poll or actor thread, ring, actor, or often quoted
/// series; "latency" has each stage, of all its threads together. "all" stands for all of these; of
/// another name there is no view. Counts and times are as `tally` has them.
[[nodiscard]] nlohmann::json views(const CounterSnapshot& counters, Tally& tally,
                                   std::string_view ask);

}  // namespace pinstrike::actors::admin
