// path: cold
//
// What `pinstrike top` and `run` say of the feed as a whole, from two readings: answers of an
// instance's admin socket, or the same views of this instance (actors/telemetry/admin/views.h,
// "all"). Rates are between the two readings.
#pragma once

#include "actors/telemetry/admin/view_tables.h"

#include <string>

namespace pinstrike::actors::top {

using admin::Readings;

/// One line each: rates of the feed, what came, and what is missing.
[[nodiscard]] std::string rates_text(const Readings& readings);
[[nodiscard]] std::string totals_text(const Readings& readings);
[[nodiscard]] std::string losses_text(const Readings& readings);

/// The lines and streams that are not heard, or that all are.
[[nodiscard]] std::string lines_up_text(const Readings& readings);

/// The median and the 99th percentile of both stages.
[[nodiscard]] std::string latency_text(const Readings& readings);

/// A line for where there is no terminal: running time, rates, losses, and what is not heard.
[[nodiscard]] std::string plain_text(const Readings& readings);

}  // namespace pinstrike::actors::top
