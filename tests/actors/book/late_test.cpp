// path: cold
//
// The book's rules for late messages.
#include "tests/actors/book/book_fixture.h"

#include <gtest/gtest.h>

namespace pinstrike::actors::test {
namespace {

TEST_F(BookTest, ALateQuoteYieldsToANewerStatementOfThatSide) {
    events_.quote(key_, one_line, 1, {'F', 100, 1, 200, 1});
    events_.gap(one_line, 2, 3);
    events_.quote(key_, one_line, 4, {'E', 104, 1, 204, 1});
    events_.quote(key_, one_line, 2, {'F', 102, 1, 202, 1}, late_only);
    const SeriesState after = state();
    EXPECT_EQ(after.bid->price.value, 104);
    EXPECT_EQ(after.bid_state, SideState::fresh);
    EXPECT_EQ(after.offer->price.value, 202);
    EXPECT_EQ(after.offer_state, SideState::stale);  // number 3 may have changed it
    EXPECT_EQ(after.quotes, 3U);
}

TEST_F(BookTest, WhatALateQuoteStatedIsFreshOnceNothingBehindItIsMissing) {
    events_.gap(one_line, 2, 3);
    events_.quote(key_, one_line, 2, {}, late_only);
    EXPECT_EQ(state().bid_state, SideState::stale);
    events_.gap(one_line, 3, 3, feed::GapCause::repaired);
    EXPECT_EQ(state().bid_state, SideState::fresh);
    events_.gap(one_line, 9, 9);
    EXPECT_EQ(state().bid_state, SideState::stale);
}

/// A peer repairs a gap in several blocks.
TEST_F(BookTest, WhatALateQuoteStatedIsFreshOnceAllOfTheGapCame) {
    events_.gap(one_line, 2, 4);
    events_.gap(one_line, 8, 9);
    events_.quote(key_, one_line, 2, {}, late_only);
    events_.gap(one_line, 2, 2, feed::GapCause::repaired);
    events_.gap(one_line, 8, 9, feed::GapCause::repaired);
    events_.gap(one_line, 3, 3, feed::GapCause::repaired);
    EXPECT_EQ(state().bid_state, SideState::stale);
    events_.gap(one_line, 4, 4, feed::GapCause::repaired);
    EXPECT_EQ(state().bid_state, SideState::fresh);
}

TEST_F(BookTest, ARepairOfWhatWasLostBeforeAFlushCountsForNothing) {
    events_.gap(one_line, 2, 4);
    events_.control(one_line, 5, feed::Forget::quotes);
    events_.gap(one_line, 10, 11);
    events_.quote(key_, one_line, 10, {}, late_only);
    events_.gap(one_line, 2, 4, feed::GapCause::repaired);
    EXPECT_EQ(state().bid_state, SideState::stale);
    events_.gap(one_line, 10, 11, feed::GapCause::repaired);
    EXPECT_EQ(state().bid_state, SideState::fresh);
}

/// After a start of day the line uses the same numbers again.
TEST_F(BookTest, ARepairOfTheSameNumbersBeforeAStartOfDayCountsForNothing) {
    events_.gap(one_line, 2, 3);
    events_.control(one_line, 0, feed::Forget::day);
    events_.gap(one_line, 2, 3);
    events_.quote(key_, one_line, 2, {}, late_only);
    events_.gap(one_line, 2, 3, feed::GapCause::repaired, late_day);
    EXPECT_EQ(state().bid_state, SideState::stale);
    events_.gap(one_line, 2, 3, feed::GapCause::repaired, late_only);
    EXPECT_EQ(state().bid_state, SideState::fresh);
}

/// Differences of more than 2^31 would be negative as signed ones.
TEST_F(BookTest, LateMessagesAreNewerThanThoseOfTheMorning) {
    constexpr std::uint32_t evening = 2'200'000'000;
    events_.quote(key_, one_line, 999, {'F', 99});
    events_.trade(key_, one_line, 1000, 'I', 100, 1);
    events_.open_interest(key_, one_line, 1001, 7);
    events_.gap(one_line, evening, evening + 2);
    events_.quote(key_, one_line, evening, {'F', 102}, late_only);
    events_.trade(key_, one_line, evening + 1, 'I', 500, 1, late_only);
    events_.open_interest(key_, one_line, evening + 2, 8, late_only);
    const SeriesState after = state();
    EXPECT_EQ(after.bid->price.value, 102);
    EXPECT_EQ(after.open->value, 100);
    EXPECT_EQ(after.last->price.value, 500);
    EXPECT_EQ(after.open_interest, 8U);
}

TEST_F(BookTest, LateAcrossTheWrap) {
    events_.quote(key_, one_line, 2, {'F', 102});
    events_.quote(key_, one_line, 0xFFFF'FFFF, {'F', 99}, late_only);
    EXPECT_EQ(state().bid->price.value, 102);
}

TEST_F(BookTest, LateFromBeforeTheDayChangesNothing) {
    events_.quote(key_, one_line, 10);
    events_.control(one_line, 0, feed::Forget::day);
    events_.quote(key_, one_line, 9, {}, late_day);
    events_.trade(key_, one_line, 8, 'I', 1, 1, late_day);
    events_.open_interest(key_, one_line, 7, 1, late_day);
    events_.end_of_day(key_, one_line, 6, late_day);
    EXPECT_FALSE(listed(key_));
    EXPECT_EQ(book_.counters().read(BookCount::late_before_day), 4U);
}

TEST_F(BookTest, LateFromBeforeAFlushBringsNoSides) {
    events_.quote(key_, one_line, 10);
    events_.control(one_line, 1, feed::Forget::quotes);
    events_.quote(key_, one_line, 9, {}, late_flush);
    events_.trade(key_, one_line, 8, 'I', 5, 7, late_flush);
    const SeriesState after = state();
    EXPECT_EQ(after.bid_state, SideState::unknown);
    EXPECT_EQ(after.quotes, 2U);
    EXPECT_EQ(after.volume, 7U);
    EXPECT_EQ(after.last->price.value, 5);
}

TEST_F(BookTest, ALateFlushTakesOnlyWhatWasStatedBeforeIt) {
    events_.quote(key_, one_line, 1, {'F'});
    events_.gap(one_line, 2, 2);
    events_.quote(key_, one_line, 3, {'E', 103});
    events_.control(one_line, 2, feed::Forget::quotes, late_only);
    const SeriesState after = state();
    EXPECT_EQ(after.bid->price.value, 103);
    EXPECT_EQ(after.bid_state, SideState::fresh);
    EXPECT_EQ(after.offer_state, SideState::unknown);
}

TEST_F(BookTest, LateTradesAddUpAndLastStaysTheNewest) {
    events_.trade(key_, one_line, 1, 'I', 100, 1);
    events_.gap(one_line, 2, 3);
    events_.trade(key_, one_line, 4, 'I', 104, 1);
    events_.trade(key_, one_line, 2, 'I', 90, 5, late_only);
    EXPECT_EQ(state().volume, 7U);
    EXPECT_EQ(state().trades, 3U);
    EXPECT_EQ(state().last->price.value, 104);
    EXPECT_EQ(state().low->value, 90);
    EXPECT_EQ(state().open->value, 100);
}

TEST_F(BookTest, TheOpenIsThatOfTheOldestTrade) {
    events_.gap(one_line, 1, 3);
    events_.trade(key_, one_line, 4, 'I', 104, 1);
    events_.trade(key_, one_line, 2, 'I', 102, 1, late_only);
    events_.trade(key_, one_line, 3, 'I', 103, 1, late_only);
    EXPECT_EQ(state().open->value, 102);
    events_.trade(key_, one_line, 1, 'F', 101, 1, late_only);
    EXPECT_EQ(state().open->value, 101);
}

TEST_F(BookTest, ALateCancelYieldsToWhatCameAfterIt) {
    events_.trade(key_, one_line, 1, 'I', 100, 10);
    events_.gap(one_line, 2, 2);
    events_.trade(key_, one_line, 3, 'H', 103, 10);
    events_.trade(key_, one_line, 2, 'G', 100, 10, late_only);
    EXPECT_EQ(state().volume, 10U);
    EXPECT_EQ(state().last->price.value, 103);
    EXPECT_EQ(state().open->value, 103);
}

TEST_F(BookTest, LateOpenInterestYieldsToNewer) {
    events_.open_interest(key_, one_line, 5, 50);
    events_.open_interest(key_, one_line, 4, 40, late_only);
    EXPECT_EQ(state().open_interest, 50U);
    events_.open_interest(key_, one_line, 6, 60, late_only);
    EXPECT_EQ(state().open_interest, 60U);
}

TEST_F(BookTest, LateOnALineTheSeriesHasLeft) {
    events_.quote(key_, one_line, 1);
    events_.gap(one_line, 2, 2);
    events_.quote(key_, other_line, 900, {'F', 190});
    events_.quote(key_, one_line, 2, {'F', 102}, late_only);
    EXPECT_EQ(state().bid->price.value, 190);
    EXPECT_EQ(state().line, other_line);
    EXPECT_EQ(state().quotes, 3U);
}

}  // namespace
}  // namespace pinstrike::actors::test
