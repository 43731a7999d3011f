// path: cold
#include "actors/topology/feed_hours.h"

#include "feed/venue_services.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

namespace pinstrike::actors {

std::optional<LineHours> hours_of(const FeedConfig& config, Problems& problems) {
    const auto hours_of = feed::venue_services(config.kind).session_hours;
    if (hours_of == nullptr) {
        return LineHours{};
    }
    // Covers the oldest captures in use and the lifetime of any process.
    const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    constexpr std::chrono::days ten_years{3653};
    const feed::Days days{std::chrono::local_days{std::chrono::year{2008} / 1 / 1},
                          std::chrono::local_days{(today + ten_years).time_since_epoch()}};
    try {
        return LineHours{hours_of(config.calendar, false, days),
                         hours_of(config.calendar, true, days)};
    } catch (const std::runtime_error& failure) {
        add_problem(
            problems, "",
            fmt::format("the calendar needs this host's time zone data (package tzdata): {}",
                        failure.what()));
        return std::nullopt;
    }
}

}  // namespace pinstrike::actors
