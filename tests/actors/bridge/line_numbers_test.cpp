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

using pinstrike::test_events::control_of;
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

    LineNumbers numbers{feed::Numbering{}};  // of 32 bits
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

/// The numbers alone would say that the line went on.
TEST_F(LineNumbersTest, ALineThatBeganAnewMayHavePassedItsOldNumber) {
    EXPECT_EQ(numbers.see(quote(1000)), std::nullopt);
    numbers.interrupt();
    numbers.begin_anew(1);
    EXPECT_EQ(numbers.see(quote(3000)), (LostNumbers{1, 2999}));
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(4000)), (LostNumbers{3001, 3999})) << "it went on this time";
}

TEST_F(LineNumbersTest, AControlThatForgetsBeginsAnotherNumbering) {
    const feed::Event day = control_of('C', feed::Forget::day, 0);
    EXPECT_EQ(numbers.see(quote(1000)), std::nullopt);
    numbers.interrupt();
    numbers.pass(quote(2000));
    numbers.pass(day);
    numbers.pass(quote(1500));
    EXPECT_THAT(resumed(), ElementsAre(Pair(1, LostNumbers{1, 1500})));
    numbers.interrupt();
    numbers.pass(quote(1600));
    numbers.pass(day);
    EXPECT_THAT(resumed(), IsEmpty()) << "the new numbering has no number yet";
    EXPECT_EQ(numbers.see(quote(1700)), (LostNumbers{1, 1699}));
    numbers.interrupt();
    EXPECT_EQ(numbers.see(day), std::nullopt);
    EXPECT_EQ(numbers.see(quote(1800)), (LostNumbers{1, 1799}));
    numbers.interrupt();
    feed::Event late = control_of('K', feed::Forget::quotes, 1);
    late.header.flags = feed::flag_late;
    EXPECT_EQ(numbers.see(late), std::nullopt);
    EXPECT_EQ(numbers.see(quote(1900)), (LostNumbers{1801, 1899})) << "a late one does not";
}

/// The line was quiet between two interruptions.
TEST_F(LineNumbersTest, ALineThatBeganAnewIsKnownUntilItsNextNumber) {
    EXPECT_EQ(numbers.see(quote(20)), std::nullopt);
    numbers.interrupt();
    numbers.begin_anew(1);
    EXPECT_THAT(resumed(), IsEmpty());
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(30)), (LostNumbers{1, 29}));
    EXPECT_EQ(numbers.see(control_of('C', feed::Forget::day, 0)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(50)), (LostNumbers{1, 49}));
    EXPECT_EQ(numbers.see(control_of('C', feed::Forget::day, 0)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(60)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(63)), (LostNumbers{61, 62}));
}

TEST_F(LineNumbersTest, ALineThatBeganAnewInAStateGoesOnBehindIt) {
    EXPECT_EQ(numbers.see(quote(1000)), std::nullopt);
    numbers.interrupt();
    numbers.pass(control_of('C', feed::Forget::day, 0));
    numbers.pass(quote(30));
    EXPECT_THAT(resumed(), ElementsAre(Pair(1, LostNumbers{1, 30})));
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(40)), (LostNumbers{31, 39}));
}

TEST_F(LineNumbersTest, NumbersAreMissingAcrossTheWrap) {
    EXPECT_EQ(numbers.see(quote(0xFFFF'FFF0)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(6)), (LostNumbers{0xFFFF'FFF1, 5}));
    EXPECT_EQ(numbers.line(1).lost, 20U) << "15 before the wrap, and 1 to 5";
    EXPECT_EQ(numbers.see(quote(0xFFFF'FFF0, 2)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(0xFFFF'FFFF, 3)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(0xFFFF'FFFF, 4)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(quote(1, 2)), (LostNumbers{0xFFFF'FFF1, 0xFFFF'FFFF}));
    EXPECT_EQ(numbers.see(quote(1, 3)), std::nullopt) << "0 is no number";
    EXPECT_EQ(numbers.see(quote(3, 4)), (LostNumbers{1, 2}));
}

TEST(WideLineNumbers, WrapAtTheLastNumberOfTheVenue) {
    constexpr std::uint64_t last = feed::number_max;
    const auto wide = [](std::uint64_t number, std::uint16_t line) {
        feed::Event event = quote(0, line);
        event.header.set_number(number);
        return event;
    };
    LineNumbers numbers{{.last = last}};
    for (std::uint16_t line = 1; line <= 4; ++line) {
        EXPECT_EQ(numbers.see(wide(line == 1 ? 0xFFFF'FFF0 : last - 2, line)), std::nullopt);
    }
    numbers.interrupt();
    EXPECT_EQ(numbers.see(wide(0x1'C000'0000, 1)), (LostNumbers{0xFFFF'FFF1, 0x1'BFFF'FFFF}));
    EXPECT_EQ(numbers.line(1).lost, 0xC000'000FU) << "more than half of 32 bits";
    EXPECT_EQ(numbers.see(wide(3, 2)), (LostNumbers{last - 1, 2}));
    EXPECT_EQ(numbers.line(2).lost, 4U);
    EXPECT_EQ(numbers.see(wide(1, 3)), (LostNumbers{last - 1, last}));
    feed::Event gap = gap_of(1, 1, feed::GapCause::line, 4);
    gap.body.gap.first = last - 1;
    gap.body.gap.last = 2;
    EXPECT_EQ(numbers.see(gap), std::nullopt);
    EXPECT_EQ(numbers.line(4).carried, 5U) << "one quote, and the gap that the feed states";
    EXPECT_EQ(numbers.line(4).last, 2U);
}

/// A core whose ring was full may state its gap later than numbers behind it.
TEST_F(LineNumbersTest, AGapThatBeginsBeforeTheLastNumberSaysNothing) {
    EXPECT_EQ(numbers.see(quote(100)), std::nullopt);
    numbers.interrupt();
    EXPECT_EQ(numbers.see(gap_of(90, 105, feed::GapCause::ring_full)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(106)), std::nullopt);
    EXPECT_EQ(numbers.line(1).lost, 0U);
}

/// A full ring refuses late messages too, and states them like others.
TEST_F(LineNumbersTest, AGapOfOldNumbersDoesNotTurnTheLineBack) {
    EXPECT_EQ(numbers.see(quote(99)), std::nullopt);
    EXPECT_EQ(numbers.see(quote(100)), std::nullopt);
    EXPECT_EQ(numbers.see(gap_of(20, 20, feed::GapCause::ring_full)), std::nullopt);
    EXPECT_EQ(numbers.see(gap_of(30, 102, feed::GapCause::ring_full)), std::nullopt);
    EXPECT_EQ(numbers.line(1).last, 102U);
    EXPECT_EQ(numbers.line(1).carried, 4U);
    numbers.interrupt();
    numbers.pass(gap_of(40, 41, feed::GapCause::ring_full));
    EXPECT_THAT(resumed(), IsEmpty());
    EXPECT_EQ(numbers.see(quote(105)), (LostNumbers{103, 104}));
    numbers.interrupt();
    numbers.pass(quote(110));
    numbers.pass(gap_of(42, 42, feed::GapCause::ring_full));
    EXPECT_THAT(resumed(), ElementsAre(Pair(1, LostNumbers{106, 110})));
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
