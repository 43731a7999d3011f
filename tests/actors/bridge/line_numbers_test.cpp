// path: cold
//
// Which numbers of a line were not carried.
#include "actors/bridge/line_numbers.h"

#include "tests/actors/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace pinstrike::actors::bridge::test {
namespace {

using pinstrike::test_events::gap_of;
using pinstrike::test_events::quote_of;
using pinstrike::test_events::series_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

feed::Event quote(std::uint32_t number, std::uint16_t line = 1) {
    return quote_of(series_of("SPX"), number, 1, line);
}

class LineNumbersTest : public ::testing::Test {
  protected:
    std::vector<std::pair<std::uint16_t, LostNumbers>> resumed() {
        std::vector<std::pair<std::uint16_t, LostNumbers>> lost;
        numbers.resume(
            [&](std::uint16_t line, const LostNumbers& range) { lost.emplace_back(line, range); });
        return lost;
    }

    LineNumbers numbers;
};

TEST_F(LineNumbersTest, ALineWithoutInterruptionLacksNothing) {
    EXPECT_EQ(numbers.see(quote(5)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(9)), std::nullopt) << "a filter left the others out";
}

TEST_F(LineNumbersTest, TheFirstNumberAfterAnInterruptionSaysWhatIsMissing) {
    EXPECT_EQ(numbers.see(quote(5)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.open(), 1U);
    EXPECT_THAT(resumed(), IsEmpty());
    EXPECT_EQ(numbers.see(quote(9)), (LostNumbers{6, 8}));
    EXPECT_EQ(numbers.see(quote(10)), std::nullopt);
    EXPECT_EQ(numbers.open(), 0U);
    EXPECT_EQ(numbers.line(1).first, 5U);
    EXPECT_EQ(numbers.line(1).carried, 3U);
    EXPECT_EQ(numbers.line(1).lost, 3U);
}

TEST_F(LineNumbersTest, NothingIsMissingIfTheNextNumberFollows) {
    EXPECT_EQ(numbers.see(quote(5)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(6)), std::nullopt);
    EXPECT_EQ(numbers.open(), 0U);
}

TEST_F(LineNumbersTest, EventsThatBecamePartOfTheStateWereNotCarried) {
    EXPECT_EQ(numbers.see(quote(5)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(7, 2)), std::nullopt);
    numbers.interrupt();
    numbers.pass(quote(8));
    numbers.pass(quote(9));
    numbers.pass(quote(3, 3));
    EXPECT_THAT(resumed(), ElementsAre(Pair(1, LostNumbers{6, 9})));
    EXPECT_EQ(numbers.see(quote(10)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(20, 3)), std::nullopt) << "a line that was unknown before";
    EXPECT_EQ(numbers.see(quote(9, 2)), (LostNumbers{8, 8})) << "a line that was quiet";
}

TEST_F(LineNumbersTest, OfALineThatBeganAnewOnlyTheNewNumbersAreKnown) {
    EXPECT_EQ(numbers.see(quote(1000)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(4)), (LostNumbers{1, 3}));
}

TEST_F(LineNumbersTest, WhatTheFeedLostItselfIsInItsOwnGap) {
    EXPECT_EQ(numbers.see(quote(5)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(gap_of(8, 9, feed::GapCause::line)), (LostNumbers{6, 7}));
    EXPECT_EQ(numbers.see(quote(10)), std::nullopt);
}

TEST_F(LineNumbersTest, LateMessagesAndRepairsDoNotCount) {
    EXPECT_EQ(numbers.see(quote(50)), std::nullopt);
    feed::Event late = quote(20);
    late.header.flags = feed::flag_late;
    EXPECT_EQ(numbers.see(late), std::nullopt);
    EXPECT_EQ(numbers.see(gap_of(20, 20, feed::GapCause::repaired)), std::nullopt);
    EXPECT_EQ(numbers.line(1).last, 50U);
}

TEST_F(LineNumbersTest, ASecondInterruptionBeginsWhereTheFirstOneDid) {
    EXPECT_EQ(numbers.see(quote(5)), std::nullopt);
    numbers.interrupt();
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(7)), (LostNumbers{6, 6}));
}

}  // namespace
}  // namespace pinstrike::actors::bridge::test
