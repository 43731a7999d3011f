// path: cold
//
// The views of the admin socket (views.h) as tables. Each table is described once: `ctl` shows the
// columns with counts, `top` and `run` those with rates between two readings.
#pragma once

#include "actors/telemetry/admin/table.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace pinstrike::actors::admin {

/// The latest reading of the view "all", and the one before.
struct Readings {
    nlohmann::json now;
    nlohmann::json before;  ///< null: there is none, so there are no rates

    [[nodiscard]] double seconds() const;
};

enum class Figures : std::uint8_t { counts, rates };

/// The view `view`: lines, threads, rings, actors, ports, latency, or busiest (the series that are
/// quoted most, which have rates only).
[[nodiscard]] Table view_table(const Readings& readings, std::string_view view, Figures figures);

/// The value, or 0 if it is null.
[[nodiscard]] double number(const nlohmann::json& of, const char* member);

/// The increase of a counter per second; 0 if it was cleared in between, or if `before` is null.
[[nodiscard]] double rate(const nlohmann::json& now, const nlohmann::json& before,
                          const char* member, double seconds);

/// "-" if the count, or the word, is null.
[[nodiscard]] std::string count_text(const nlohmann::json& of, const char* member);
[[nodiscard]] std::string word(const nlohmann::json& of, const char* member);
[[nodiscard]] std::string word(const nlohmann::json& value);

/// "9.31 us", three digits and at most seven characters; "-" if there are no samples.
[[nodiscard]] std::string time_text(const nlohmann::json& times, const char* member);

}  // namespace pinstrike::actors::admin
