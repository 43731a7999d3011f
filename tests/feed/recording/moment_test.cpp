// path: cold
#include "feed/recording/moment.h"

#include "config/time_units.h"

#include <gtest/gtest.h>

namespace pinstrike::feed {
namespace {

constexpr std::int64_t noon_utc_ns = 1'764'072'000 * second_ns;  // 2025-11-25 12:00 UTC

std::int64_t at(std::string_view text, std::int64_t first_ns = noon_utc_ns,
                std::int64_t last_ns = noon_utc_ns) {
    const auto moment = parse_moment(text);
    EXPECT_TRUE(moment) << text;
    return moment ? ns_of(*moment, first_ns, last_ns).value_or(-1) : 0;
}

TEST(Moment, is_in_utc_with_a_z) {
    EXPECT_EQ(at("2025-11-25T12:00Z"), noon_utc_ns);
    EXPECT_EQ(at("12:00:01.25Z"), noon_utc_ns + second_ns * 5 / 4);
}

TEST(Moment, is_in_new_york_without_one) {
    EXPECT_EQ(at("07:00"), noon_utc_ns);  // five hours behind in winter
    EXPECT_EQ(at("2025-11-25T07:00:00"), noon_utc_ns);
    EXPECT_EQ(at("2025-07-01T08:00"), at("2025-07-01T12:00Z"));  // four in summer
}

TEST(Moment, without_a_date_is_of_the_one_day_of_the_recording) {
    constexpr std::int64_t hour_ns = 3600 * second_ns;
    // 20:00 and 21:00 of 25 November in New York, which is the 26th in UTC.
    EXPECT_EQ(at("20:30", noon_utc_ns + 13 * hour_ns, noon_utc_ns + 14 * hour_ns),
              noon_utc_ns + 13 * hour_ns + hour_ns / 2);
    EXPECT_EQ(at("20:30", noon_utc_ns, noon_utc_ns + 24 * hour_ns), -1);
    EXPECT_EQ(at("2025-11-25T07:00", noon_utc_ns, noon_utc_ns + 24 * hour_ns), noon_utc_ns);
}

TEST(Moment, refuses_other_texts) {
    for (const char* const text :
         {"", "Z", "noon", "25:00", "12", "12:60", "2025-13-01T12:00", "12:00x", "12:00ZZ",
          "2025-11-25", "2025-11-25 12:00", "-1:00", "1:00", "12:00:", "12:00:60", "12:00:-1",
          "5-11-25T12:00", "2025-02-30T12:00"}) {
        EXPECT_FALSE(parse_moment(text)) << text;
    }
}

}  // namespace
}  // namespace pinstrike::feed
