// path: cold
//
// All tables of counters and reasons, for `explain`.
#pragma once

#include "actors/telemetry/metrics/metric_rows.h"
#include "config/rows.h"

#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// A table of counters, where each row is a metric (metric_name), or a table of reasons, where each
/// row is a value of the label `reason` of other metrics.
struct RowTable {
    std::string_view of;  ///< the object that the rows count for, such as "a line"
    std::span<const Row> rows;
    std::string_view subject;       ///< counters only: prefix of their metrics
    std::vector<Metric> by_reason;  ///< reasons only: the metrics with these reasons
    bool gauges = false;            ///< counters only: they are gauges
};

[[nodiscard]] std::vector<RowTable> row_tables();

}  // namespace pinstrike::actors
