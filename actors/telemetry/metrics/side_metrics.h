// path: cold
//
// What the pages of all processes beside a feed have.
#pragma once

#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/families.h"
#include "actors/telemetry/metrics/http_server.h"
#include "config/version.h"
#include "config/wall_time.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

/// How long ago a thread last took its figures; 0: it has just begun.
[[nodiscard]] inline double stalled_seconds(std::int64_t stepped_ns) {
    return stepped_ns == 0 ? 0 : seconds_of(std::max<std::int64_t>(wall_ns() - stepped_ns, 0));
}

/// `endpoint`: null if there is none.
inline void add_side_metrics(Families& families, const LogCounters& log,
                             const EndpointCounters* endpoint) {
    families.value(Metric::build_info, {{"version", version}}, 1);
    families.rows("log", LogCount_rows, RowTotals{log});
    if (endpoint != nullptr) {
        families.rows("endpoint", EndpointCount_rows, RowTotals{*endpoint});
    }
}

}  // namespace pinstrike::actors
