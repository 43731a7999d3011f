// path: cold
#include "feed/opra/sessions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace pinstrike::feed::opra {
namespace {

using namespace std::chrono_literals;

std::int64_t utc_ns(int year, unsigned month, unsigned day, std::chrono::minutes time) {
    const std::chrono::sys_days date =
        std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day};
    return std::chrono::nanoseconds{date.time_since_epoch() + time}.count();
}

Days days(int year, unsigned month, unsigned first, unsigned last) {
    const auto day = [&](unsigned number) {
        return std::chrono::local_days{std::chrono::year{year} / std::chrono::month{month} /
                                       std::chrono::day{number}};
    };
    return {day(first), day(last)};
}

CalendarConfig in_use() {
    CalendarConfig calendar;
    calendar.in_use = true;
    calendar.holidays = {std::chrono::year{2026} / 11 / 26};  // Thanksgiving
    return calendar;
}

TEST(Sessions, AreAlwaysOnWhereTheCalendarIsNotInUse) {
    EXPECT_TRUE(session_hours({}, false, days(2026, 11, 21, 22)).on_air(0));
}

TEST(Sessions, RegularIsOnFromMondayToFridayInNewYork) {
    // Friday 20 November 2026 is in winter time, five hours behind UTC.
    const SessionHours hours = session_hours(in_use(), false, days(2026, 11, 19, 30));
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 20, 5h + 59min)));
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 11, 20, 6h)));
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 11, 20, 23h + 14min)));
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 20, 23h + 15min)));
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 21, 15h)));  // Saturday
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 22, 15h)));
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 11, 25, 15h)));
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 26, 15h)));  // the holiday
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 11, 27, 15h)));
}

TEST(Sessions, FollowSummerTime) {
    const SessionHours hours = session_hours(in_use(), false, days(2026, 7, 1, 10));
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 7, 1, 4h + 59min)));
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 7, 1, 5h)));
}

TEST(Sessions, GthBeginsOnTheEveningBeforeATradeDateAndRunsOnHolidays) {
    const SessionHours hours = session_hours(in_use(), true, days(2026, 11, 20, 30));
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 11, 20, 1h)));            // Thursday evening
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 20, 17h)));          // Friday noon
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 21, 1h)));           // Friday evening
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 23, 0h + 29min)));   // Sunday, before the opening
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 11, 23, 0h + 30min)));    // Sunday 19:30
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 11, 26, 12h)));           // the holiday's morning
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 11, 23, 16h + 45min)));  // closed at 11:45
}

TEST(Sessions, GthDoesNotRunOnItsOwnHolidays) {
    CalendarConfig calendar = in_use();
    calendar.gth_holidays = {std::chrono::year{2026} / 12 / 25};
    const SessionHours hours = session_hours(calendar, true, days(2026, 12, 20, 30));
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 12, 24, 1h)));
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 12, 25, 0h + 45min)));  // 19:45 on Christmas Eve
    EXPECT_FALSE(hours.on_air(utc_ns(2026, 12, 25, 12h)));
    EXPECT_TRUE(hours.on_air(utc_ns(2026, 12, 28, 1h)));
}

TEST(Sessions, ADayMayHaveHoursOfItsOwn) {
    CalendarConfig calendar = in_use();
    const std::chrono::year_month_day friday = std::chrono::year{2026} / 11 / 27;
    calendar.days = {{friday, DailyHours{1h, 15h + 30min}, {}},
                     {std::chrono::year{2026} / 11 / 30, {}, DailyHours{20h, 9h}}};
    const SessionHours regular = session_hours(calendar, false, days(2026, 11, 19, 30));
    EXPECT_TRUE(regular.on_air(utc_ns(2026, 11, 27, 20h + 29min)));
    EXPECT_FALSE(regular.on_air(utc_ns(2026, 11, 27, 20h + 30min)));  // 15:30 in New York
    EXPECT_TRUE(regular.on_air(utc_ns(2026, 11, 30, 22h)));
    const SessionHours gth = session_hours(calendar, true, days(2026, 11, 20, 30));
    EXPECT_TRUE(gth.on_air(utc_ns(2026, 11, 27, 1h)));
    EXPECT_FALSE(gth.on_air(utc_ns(2026, 11, 30, 0h + 45min)));
    EXPECT_TRUE(gth.on_air(utc_ns(2026, 11, 30, 1h)));
    EXPECT_FALSE(gth.on_air(utc_ns(2026, 11, 30, 14h)));
}

}  // namespace
}  // namespace pinstrike::feed::opra
