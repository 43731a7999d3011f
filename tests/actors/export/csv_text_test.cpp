// path: cold
#include "actors/export/csv_text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace pinstrike::actors {
namespace {

std::string price(std::int64_t value) {
    std::array<char, csv_text_max> text{};
    return {text.data(), write_price(text.data(), value)};
}

std::string time_text(CsvTimes& times, std::uint64_t ns) {
    std::array<char, csv_text_max> text{};
    return {text.data(), times.write(text.data(), ns)};
}

TEST(CsvText, prices_are_exact_decimals) {
    EXPECT_EQ(price(0), "0");
    EXPECT_EQ(price(1), "0.000000001");
    EXPECT_EQ(price(-1), "-0.000000001");
    EXPECT_EQ(price(100'000'000), "0.1");
    EXPECT_EQ(price(10'000'000), "0.01");
    EXPECT_EQ(price(1'250'000'000), "1.25");
    EXPECT_EQ(price(-1'050'000'000), "-1.05");
    EXPECT_EQ(price(1'005'000'000), "1.005");
    EXPECT_EQ(price(7'000'000'000), "7");
    EXPECT_EQ(price(123'456'789'012'345'678), "123456789.012345678");
    EXPECT_EQ(price(std::numeric_limits<std::int64_t>::min()), "-9223372036.854775808");
}

TEST(CsvText, times_have_nanoseconds) {
    CsvTimes times;
    EXPECT_EQ(time_text(times, 0), "1970-01-01T00:00:00.000000000Z");
    EXPECT_EQ(time_text(times, 1'795'791'600'123'456'789), "2026-11-27T15:00:00.123456789Z");
    EXPECT_EQ(time_text(times, 1'795'791'600'000'000'001), "2026-11-27T15:00:00.000000001Z");
    EXPECT_EQ(time_text(times, 1'709'251'199'999'999'999), "2024-02-29T23:59:59.999999999Z");
    EXPECT_EQ(time_text(times, 1'709'251'200'000'000'000), "2024-03-01T00:00:00.000000000Z");
}

TEST(CsvText, fields_with_commas_and_quotes_are_in_quotes) {
    EXPECT_EQ(csv_field("SPY   261218C00600000"), "SPY   261218C00600000");
    EXPECT_EQ(csv_field("A,B"), "\"A,B\"");
    EXPECT_EQ(csv_field("A\"B"), "\"A\"\"B\"");
    EXPECT_EQ(csv_field("A\nB"), "\"A\nB\"");
}

}  // namespace
}  // namespace pinstrike::actors
