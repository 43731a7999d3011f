// path: cold
//
// All tables of counters and reasons, for `explain`.
#pragma once

#include "actors/core/actor_report.h"
#include "actors/telemetry/metrics/metric_rows.h"
#include "config/rows.h"

#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// A table of counters, where each row is a metric (metric_name): `of` names the object that they
/// count for, such as "a line".
[[nodiscard]] std::vector<ActorTable> counter_tables();

/// A table of reasons, where each row is a value of the label `reason` of other metrics.
struct ReasonTable {
    std::string_view of;
    std::span<const Row> rows;
    std::vector<Metric> metrics;
};

[[nodiscard]] std::vector<ReasonTable> reason_tables();

}  // namespace pinstrike::actors
