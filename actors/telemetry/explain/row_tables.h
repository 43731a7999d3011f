// path: cold
//
// Every table of counters and reasons there is, for `explain`.
#pragma once

#include "actors/telemetry/metrics/metric_rows.h"
#include "config/rows.h"

#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// A table of counters, each a metric of its own (metric_name), or of reasons, which stand in the
/// label `reason` of other metrics.
struct RowTable {
    std::string_view of;  ///< what has them: "a line"
    std::span<const Row> rows;
    std::string_view subject;       ///< of counters: what their metrics begin with
    std::vector<Metric> by_reason;  ///< of reasons: what is counted by them
    bool gauges = false;            ///< of counters: they are gauges
};

[[nodiscard]] std::vector<RowTable> row_tables();

}  // namespace pinstrike::actors
