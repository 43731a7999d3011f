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
#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// How long ago a thread last took its figures; 0: it has just begun.
[[nodiscard]] inline double stalled_seconds(std::int64_t stepped_ns) {
    const std::int64_t stalled_ns =
        stepped_ns == 0 ? 0 : std::max<std::int64_t>(wall_ns() - stepped_ns, 0);
    return static_cast<double>(stalled_ns) * 1e-9;
}

/// `endpoint`: null if there is none.
inline void add_side_metrics(Families& families, const LogCounters& log,
                             const EndpointCounters* endpoint) {
    families.value(Metric::build_info, {{"version", version}}, 1);
    for (std::size_t i = 0; i < LogCount_rows.size(); ++i) {
        families.row("log", LogCount_rows[i], {}, log.read(static_cast<LogCount>(i)));
    }
    for (std::size_t i = 0; endpoint != nullptr && i < EndpointCount_rows.size(); ++i) {
        families.row("endpoint", EndpointCount_rows[i], {},
                     endpoint->read(static_cast<EndpointCount>(i)));
    }
}

}  // namespace pinstrike::actors
