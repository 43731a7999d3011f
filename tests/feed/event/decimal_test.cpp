#include "feed/event/decimal.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace pinstrike::feed {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(Decimal, HasAsManyDecimalsAsTheCodeSays) {
    EXPECT_EQ(decimal_text(1330, 1), "133.0");
    EXPECT_EQ(decimal_text(-5, 2), "-0.05");
    EXPECT_EQ(decimal_text(200, 0), "200");
    EXPECT_EQ(decimal_text(0, 8), "0.00000000");
    EXPECT_EQ(decimal_text(7, 18), "0.000000000000000007");
}

TEST(Decimal, CoversTheWholeRange) {
    EXPECT_EQ(decimal_text(most, 2), "92233720368547758.07");
    EXPECT_EQ(decimal_text(least, 2), "-92233720368547758.08");
    EXPECT_EQ(decimal_text(least, 0), "-9223372036854775808");
}

TEST(Decimal, IsAppended) {
    std::string text = "price ";
    append_decimal(text, 61, 2);
    EXPECT_EQ(text, "price 0.61");
}

TEST(Decimal, APriceInOneWayIsOneText) {
    EXPECT_EQ(normalised_decimal(13'300'000'000), "133");
    EXPECT_EQ(normalised_decimal(61'000'000), "0.61");
    EXPECT_EQ(normalised_decimal(-5'000'000), "-0.05");
    EXPECT_EQ(normalised_decimal(1), "0.00000001");
    EXPECT_EQ(normalised_decimal(0), "0");
    EXPECT_EQ(normalised_decimal(10'000'000'000), "100") << "zeros before the point stay";
    EXPECT_EQ(normalised_decimal(least), "-92233720368.54775808");
}

}  // namespace
}  // namespace pinstrike::feed
