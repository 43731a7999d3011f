// path: cold
#include "feed/opra/sessions.h"

#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::feed::opra {

namespace {

constexpr const char* exchange_zone = "America/New_York";

std::int64_t ns_of(const date::time_zone& zone, date::local_time<std::chrono::minutes> local) {
    // If the clocks skip or repeat an hour, takes the earlier of the two times. No session opens or
    // closes in that hour.
    const auto time = zone.to_sys(local, date::choose::earliest);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::chrono::year_month_day date_of(date::local_days day) {
    return std::chrono::sys_days{day.time_since_epoch()};
}

bool is_trade_date(const CalendarConfig& calendar, date::local_days day, bool gth) {
    const date::weekday weekday{day};
    const auto& holidays = gth ? calendar.gth_holidays : calendar.holidays;
    return weekday != date::Saturday && weekday != date::Sunday &&
           std::ranges::find(holidays, date_of(day)) == holidays.end();
}

/// The session's hours on a trade date.
DailyHours hours_of(const CalendarConfig& calendar, date::local_days day, bool gth) {
    const auto own = std::ranges::find(calendar.days, date_of(day), &DayHours::date);
    const DailyHours& usual = gth ? calendar.gth : calendar.regular;
    if (own == calendar.days.end()) {
        return usual;
    }
    const DailyHours& hours = gth ? own->gth : own->regular;
    return hours == DailyHours{} ? usual : hours;
}

SessionHours::Stretch session_of(const date::time_zone& zone, date::local_days trade_date,
                                 const DailyHours& hours) {
    const bool overnight = hours.close <= hours.open;
    const date::local_days opens = overnight ? trade_date - date::days{1} : trade_date;
    return {ns_of(zone, opens + hours.open), ns_of(zone, trade_date + hours.close)};
}

}  // namespace

SessionHours session_hours(const CalendarConfig& calendar, bool gth, Days days) {
    if (!calendar.in_use) {
        return {};
    }
    const date::time_zone& zone = *date::locate_zone(exchange_zone);
    const date::local_days last{days.last.time_since_epoch()};
    std::vector<SessionHours::Stretch> stretches;
    for (date::local_days day{days.first.time_since_epoch()}; day <= last; day += date::days{1}) {
        if (is_trade_date(calendar, day, gth)) {
            stretches.push_back(session_of(zone, day, hours_of(calendar, day, gth)));
        }
    }
    return SessionHours{std::move(stretches)};
}

}  // namespace pinstrike::feed::opra
