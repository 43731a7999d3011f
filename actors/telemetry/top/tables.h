// path: cold
//
// The tables that `pinstrike top` and `run` show, from two readings: answers of an instance's admin
// socket, or the same views of this instance (actors/telemetry/admin/views.h, "all"). Rates are
// between the two readings.
#pragma once

#include "actors/telemetry/top/table.h"

#include <nlohmann/json.hpp>

#include <string>

namespace pinstrike::actors::top {

/// The latest reading and the one before.
struct Readings {
    nlohmann::json now;
    nlohmann::json before;  ///< null: there is none yet, so there are no rates

    [[nodiscard]] double seconds() const;
};

[[nodiscard]] Table lines_table(const Readings& readings);
[[nodiscard]] Table threads_table(const Readings& readings);
[[nodiscard]] Table rings_table(const Readings& readings);
[[nodiscard]] Table actors_table(const Readings& readings);
[[nodiscard]] Table ports_table(const Readings& readings);
[[nodiscard]] Table latency_table(const Readings& readings);

/// The series that are quoted most, by their quotes since the last reading.
[[nodiscard]] Table busiest_table(const Readings& readings);

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
