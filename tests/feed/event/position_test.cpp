#include "feed/event/position.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pinstrike::feed {
namespace {

constexpr Numbering opra{};
constexpr Numbering forty_bits{.last = number_max, .infers_resets = false};
constexpr Numbering of_ten{.last = 10};

TEST(Position, NumbersRepeatAfterTheLast) {
    EXPECT_EQ(of_ten.number_at(1), 1U);
    EXPECT_EQ(of_ten.number_at(10), 10U);
    EXPECT_EQ(of_ten.number_at(11), 1U);
    EXPECT_EQ(of_ten.number_after(9), 10U);
    EXPECT_EQ(of_ten.number_after(10), 1U);
    EXPECT_EQ(opra.number_after(4'294'967'295), 1U) << "0 is never a data number";
    EXPECT_EQ(forty_bits.number_after(4'294'967'295), 4'294'967'296U);
}

TEST(Position, DistanceCountsForwardAcrossTheWrap) {
    EXPECT_EQ(of_ten.distance(3, 7), 4U);
    EXPECT_EQ(of_ten.distance(7, 3), 6U);
    EXPECT_EQ(of_ten.distance(10, 1), 1U);
    EXPECT_EQ(of_ten.distance(5, 5), 0U);
    EXPECT_EQ(opra.distance(4'294'967'295, 1), 1U);
}

TEST(Position, TheTurnOfAPositionBeginsAtNumberZero) {
    EXPECT_EQ(of_ten.turn_of(1), 0U);
    EXPECT_EQ(of_ten.turn_of(10), 0U);
    EXPECT_EQ(of_ten.turn_of(11), 10U);
    EXPECT_EQ(of_ten.turn_of(25) + of_ten.number_at(25), 25U);
}

TEST(Position, NearestIsThePositionOfTheNumberWithTheLeastDistance) {
    for (const Numbering& numbering : {of_ten, Numbering{.last = 7}}) {
        for (Position anchor = numbering.last + 1; anchor < 5 * numbering.last; ++anchor) {
            for (std::uint64_t number = 1; number <= numbering.last; ++number) {
                const Position nearest = numbering.nearest(anchor, number);
                ASSERT_EQ(numbering.number_at(nearest), number);
                const std::uint64_t away = nearest > anchor ? nearest - anchor : anchor - nearest;
                ASSERT_LE(2 * away, numbering.last) << "anchor " << anchor << ", number " << number;
            }
        }
    }
}

TEST(Position, NearestCrossesTheWrapInBothDirections) {
    EXPECT_EQ(opra.nearest(2 * opra.last, 1), 2 * opra.last + 1);
    EXPECT_EQ(opra.nearest(2 * opra.last + 1, opra.last), 2 * opra.last);
    EXPECT_EQ(forty_bits.nearest(2 * number_max, 3), 2 * number_max + 3);
}

TEST(Position, SerialsOfNeighboursDifferByOneAcross32Bits) {
    EXPECT_EQ(serial_of(0x1'0000'0000) - serial_of(0xFFFF'FFFF), 1U);
}

}  // namespace
}  // namespace pinstrike::feed
