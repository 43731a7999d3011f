// path: cold
#pragma once

#include <chrono>
#include <vector>

namespace pinstrike::feed {

/// Session hours from `open` to `close`. If `close` is not after `open`, it is on the next day.
struct DailyHours {
    std::chrono::minutes open{};
    std::chrono::minutes close{};
    friend bool operator==(const DailyHours&, const DailyHours&) = default;
};

/// Hours of one trade date that differ from the usual ones.
struct DayHours {
    std::chrono::year_month_day date{};
    DailyHours regular;  ///< 0:00 to 0:00: the usual hours
    DailyHours gth;      ///< 0:00 to 0:00: the usual hours
};

/// The times at which data is expected, in New York time (America/New_York).
struct CalendarConfig {
    /// False: the hours below are ignored, and data is expected at any time.
    bool in_use = false;
    /// From a little before the start of day to a little after the end of day (OPRA Schedule of
    /// Daily OPRA Messages).
    DailyHours regular{std::chrono::hours{1}, std::chrono::hours{18} + std::chrono::minutes{15}};
    DailyHours gth{std::chrono::hours{19} + std::chrono::minutes{30},
                   std::chrono::hours{11} + std::chrono::minutes{45}};
    std::vector<std::chrono::year_month_day> holidays;      ///< no regular session
    std::vector<std::chrono::year_month_day> gth_holidays;  ///< no GTH session of this trade date
    std::vector<DayHours> days;
};

/// A range of New York dates, both included.
struct Days {
    std::chrono::local_days first;
    std::chrono::local_days last;
};

}  // namespace pinstrike::feed
