// path: cold
//
// The book's rules, one by one.
#include "tests/actors/book/book_fixture.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace pinstrike::actors::test {
namespace {

std::string text_of(const std::optional<BestQuote>& best) {
    return best ? std::string{best->participant} + " " + std::to_string(best->price.e8()) + " " +
                      std::to_string(best->size)
                : "none";
}

// ---------------------------------------------------------------- best bid and offer

struct IndicatorCase {
    char indicator;
    const char* bid;
    const char* offer;
};

class IndicatorTest : public BookTest, public testing::WithParamInterface<IndicatorCase> {};

TEST_P(IndicatorTest, HasItsEffectOnEachSide) {
    const std::string before_bid = "A 500000000 1";
    const std::string before_offer = "A 600000000 2";
    events_.quote(key_, one_line, 1, {'F', 500, 1, 600, 2, 'A'});
    ASSERT_EQ(text_of(state().bid), before_bid);
    ASSERT_EQ(text_of(state().offer), before_offer);

    events_.quote(
        key_, one_line, 2,
        {GetParam().indicator, 10, 3, 20, 4, 'C', 'A', {77, 5, 'X', 'C'}, {88, 6, 'Z', 'I'}});
    const SeriesState after = state();
    const auto expected = [](const std::string& what, const std::string& before,
                             const std::string& own, const std::string& appendage) {
        return what == "keep" ? before : what == "own" ? own : what == "best" ? appendage : "none";
    };
    EXPECT_EQ(text_of(after.bid),
              expected(GetParam().bid, before_bid, "C 100000000 3", "X 7700000 5"));
    EXPECT_EQ(text_of(after.offer),
              expected(GetParam().offer, before_offer, "C 200000000 4", "Z 8800000000 6"));
    EXPECT_EQ(after.bid_state, SideState::fresh);
    EXPECT_EQ(after.offer_state, SideState::fresh);
    EXPECT_EQ(after.quotes, 2U);
}

// The grid of OPRA BBO Indicator, written out by hand.
INSTANTIATE_TEST_SUITE_P(
    Grid, IndicatorTest,
    testing::Values(IndicatorCase{'A', "keep", "keep"}, IndicatorCase{'B', "keep", "own"},
                    IndicatorCase{'C', "keep", "best"}, IndicatorCase{'D', "keep", "none"},
                    IndicatorCase{'E', "own", "keep"}, IndicatorCase{'F', "own", "own"},
                    IndicatorCase{'G', "own", "best"}, IndicatorCase{'H', "own", "none"},
                    IndicatorCase{'I', "none", "keep"}, IndicatorCase{'J', "none", "own"},
                    IndicatorCase{'K', "none", "best"}, IndicatorCase{'L', "none", "none"},
                    IndicatorCase{'M', "best", "keep"}, IndicatorCase{'N', "best", "own"},
                    IndicatorCase{'O', "best", "best"}, IndicatorCase{'P', "best", "none"},
                    IndicatorCase{' ', "keep", "keep"}));

TEST_F(BookTest, UnknownIsNotEmpty) {
    events_.quote(key_, one_line, 1, {'A'});
    EXPECT_EQ(state().bid_state, SideState::unknown);
    EXPECT_EQ(state().bid, std::nullopt);
    events_.quote(key_, one_line, 2, {'I'});
    EXPECT_EQ(state().bid_state, SideState::fresh);
    EXPECT_EQ(state().bid, std::nullopt);
    EXPECT_EQ(state().offer_state, SideState::unknown);
}

TEST_F(BookTest, ABestBidOfPriceZeroIsABestBid) {
    events_.quote(key_, one_line, 1, {'F', 0, 0, 5, 1});
    EXPECT_EQ(text_of(state().bid), "C 0 0");
}

TEST_F(BookTest, SessionsAreSeriesOfTheirOwn) {
    const auto gth = key_of("SPY", 'A', 16, 27, key_.strike_e8, true);
    events_.quote(key_, one_line, 1);
    events_.quote(gth, 201, 1, {'F', 7});
    EXPECT_EQ(state().bid->price.value, 100);
    EXPECT_EQ(state(gth).bid->price.value, 7);
}

// ---------------------------------------------------------------- messages that list a series

TEST_F(BookTest, SummariesAndMapsListNothing) {
    events_.end_of_day(key_, one_line, 1);
    events_.series_map(key_, one_line, 2);
    EXPECT_FALSE(listed(key_));
    events_.open_interest(key_, one_line, 3, 5);
    EXPECT_TRUE(listed(key_));
}

TEST_F(BookTest, ASummaryIsALatestMessageAMapIsNot) {
    events_.quote(key_, one_line, 1);
    events_.series_map(key_, 220, 1);
    EXPECT_EQ(state().line, one_line);
    events_.end_of_day(key_, other_line, 1);
    EXPECT_EQ(state().line, other_line);
}

TEST_F(BookTest, ASummaryAfterForgettingListsNothing) {
    events_.quote(key_, one_line, 1);
    events_.control(one_line, 0, feed::Forget::day);
    events_.end_of_day(key_, one_line, 1);
    EXPECT_FALSE(listed(key_));
}

TEST_F(BookTest, TestSymbolsAreLeftOut) {
    events_.quote(key_of("ZVZZT"), one_line, 1);
    events_.quote(key_, one_line, 2);
    events_.play(book_);
    EXPECT_EQ(book_.series_count(), 1U);
}

// ---------------------------------------------------------------- trades

TEST_F(BookTest, OrdinaryTradesOfEveryType) {
    std::uint64_t volume = 0;
    std::uint64_t count = 0;
    for (const char type : std::string("DIJSabcdefghijklmnopqrst KLMNOPQRTX9\x80")) {
        trade(type, 100 + static_cast<int>(++count), 2);
        volume += 2;
        EXPECT_EQ(state().last->type, type);
        EXPECT_EQ(state().last->price.value, 100 + static_cast<int>(count));
    }
    EXPECT_EQ(state().volume, volume);
    EXPECT_EQ(state().trades, count);
    EXPECT_EQ(state().open->value, 101);
    EXPECT_EQ(state().low->value, 101);
    EXPECT_EQ(state().high->value, 100 + static_cast<int>(count));
}

TEST_F(BookTest, OpeningReports) {
    trade('I', 100, 1);
    trade('H', 90, 1);  // late, in sequence: open and last
    EXPECT_EQ(state().open->value, 90);
    EXPECT_EQ(state().last->price.value, 90);
    trade('F', 120, 1);  // out of sequence: open, not last
    EXPECT_EQ(state().open->value, 120);
    EXPECT_EQ(state().last->price.value, 90);
    EXPECT_EQ(state().high->value, 120);
    EXPECT_EQ(state().low->value, 90);
    EXPECT_EQ(state().volume, 3U);
    trade('I', 100, 1);
    EXPECT_EQ(state().open->value, 120);
}

TEST_F(BookTest, OutOfSequenceAndOutsideHours) {
    trade('B', 50, 4);
    EXPECT_EQ(state().last, std::nullopt);
    EXPECT_EQ(state().open, std::nullopt);
    EXPECT_EQ(state().high->value, 50);
    trade('u', 500, 5);
    trade('v', 5, 6);
    EXPECT_EQ(state().volume, 15U);
    EXPECT_EQ(state().trades, 3U);
    EXPECT_EQ(state().high->value, 50);
    EXPECT_EQ(state().low->value, 50);
}

TEST_F(BookTest, Cancels) {
    trade('I', 100, 10);
    trade('I', 110, 10);
    trade('A', 100, 3);
    EXPECT_EQ(state().volume, 17U);
    EXPECT_TRUE(state().last && state().open);
    trade('C', 110, 4);
    EXPECT_EQ(state().volume, 13U);
    EXPECT_EQ(state().last, std::nullopt);
    trade('E', 100, 5);
    EXPECT_EQ(state().volume, 8U);
    EXPECT_EQ(state().open, std::nullopt);
    EXPECT_EQ(state().high->value, 110);
    EXPECT_EQ(state().trades, 2U);
    trade('A', 100, 100);
    EXPECT_EQ(state().volume, 0U);
    trade('I', 120, 1);
    EXPECT_EQ(state().open->value, 120);
    trade('G', 120, 1);
    const SeriesState after = state();
    EXPECT_EQ(after.volume, 0U);
    EXPECT_FALSE(after.open || after.high || after.low || after.last);
    EXPECT_EQ(after.trades, 3U);
}

TEST_F(BookTest, PricesOfDifferentCodesCompare) {
    events_.trade(key_, one_line, 1, 'I', 100, 1, 0, 'A');     // 10.0
    events_.trade(key_, one_line, 2, 'I', 999, 1, 0, 'B');     // 9.99
    events_.trade(key_, one_line, 3, 'I', 100001, 1, 0, 'D');  // 10.0001
    EXPECT_EQ(state().high->e8(), 10'00010000);
    EXPECT_EQ(state().low->e8(), 9'99000000);
}

// ---------------------------------------------------------------- flushes, starts of day

TEST_F(BookTest, StartOfDayForgetsTheSeriesOfItsLine) {
    const auto elsewhere = key_of("QQQ");
    events_.quote(key_, one_line, 1);
    events_.trade(key_, one_line, 2, 'I', 100, 5);
    events_.quote(elsewhere, other_line, 1);
    events_.control(one_line, 0, feed::Forget::day);
    EXPECT_FALSE(listed(key_));
    EXPECT_TRUE(listed(elsewhere));
    events_.quote(key_, one_line, 1, {'A'});
    EXPECT_EQ(state().volume, 0U);
    EXPECT_EQ(state().quotes, 1U);
    EXPECT_EQ(state().bid_state, SideState::unknown);
}

TEST_F(BookTest, ASeriesThatMovedFollowsItsNewLine) {
    events_.quote(key_, one_line, 1);
    events_.quote(key_, other_line, 1, {'A'});
    events_.control(one_line, 0, feed::Forget::day);
    EXPECT_EQ(state().bid_state, SideState::fresh);
    events_.gap(one_line, 5, 6);
    EXPECT_EQ(state().bid_state, SideState::fresh);
    events_.gap(other_line, 2, 2);
    EXPECT_EQ(state().bid_state, SideState::stale);
    EXPECT_EQ(book_.counters().read(BookCount::series_moved), 1U);
}

TEST_F(BookTest, AFlushTakesBothSidesAndNothingElse) {
    events_.quote(key_, one_line, 1);
    events_.trade(key_, one_line, 2, 'I', 100, 5);
    events_.control(one_line, 3, feed::Forget::quotes);
    const SeriesState after = state();
    EXPECT_EQ(after.bid_state, SideState::unknown);
    EXPECT_EQ(after.offer_state, SideState::unknown);
    EXPECT_FALSE(after.bid || after.offer);
    EXPECT_EQ(after.volume, 5U);
    EXPECT_EQ(after.quotes, 1U);
}

TEST_F(BookTest, OtherControlsForgetNothing) {
    events_.quote(key_, one_line, 1);
    events_.control(one_line, 2, feed::Forget::nothing);
    EXPECT_EQ(state().bid_state, SideState::fresh);
}

TEST_F(BookTest, ForgottenEntriesLeaveTheTable) {
    for (unsigned i = 0; i < 900; ++i) {
        events_.trade(key_of("IBM", 'A', 1, 27, i), one_line, i + 1, 'I', 1, 1);
    }
    events_.quote(key_, other_line, 1);
    events_.control(one_line, 0, feed::Forget::day);
    events_.play(book_);
    for (int i = 0; i < 10; ++i) {
        book_.on_timer(i);
    }
    book_.on_stop();
    EXPECT_EQ(book_.entries_count(), 1U);
    EXPECT_EQ(book_.counters().read(BookCount::series_forgotten), 900U);
    EXPECT_TRUE(listed(key_));
}

// ---------------------------------------------------------------- gaps

TEST_F(BookTest, AGapMakesStaleWhatWasKnownUntilAQuoteStatesIt) {
    events_.quote(key_, one_line, 1, {'E'});
    events_.gap(one_line, 2, 3);
    EXPECT_EQ(state().bid_state, SideState::stale);
    EXPECT_EQ(state().bid->price.value, 100);
    EXPECT_EQ(state().offer_state, SideState::unknown);
    events_.quote(key_, one_line, 4, {'A'});
    EXPECT_EQ(state().bid_state, SideState::stale);
    events_.quote(key_, one_line, 5, {'L'});
    EXPECT_EQ(state().bid_state, SideState::fresh);
    EXPECT_EQ(state().bid, std::nullopt);
    events_.gap(one_line, 6, 6);
    EXPECT_EQ(state().bid_state, SideState::stale);
}

TEST_F(BookTest, EveryLossMakesStaleARepairMakesNothingFresh) {
    for (const auto cause :
         {feed::GapCause::line, feed::GapCause::undecodable, feed::GapCause::ring_full}) {
        events_.quote(key_, one_line, 1);
        EXPECT_EQ(state().bid_state, SideState::fresh);
        events_.gap(one_line, 2, 3, cause);
        EXPECT_EQ(state().bid_state, SideState::stale);
        events_.gap(one_line, 2, 3, feed::GapCause::repaired);
        EXPECT_EQ(state().bid_state, SideState::stale);
    }
}

// ---------------------------------------------------------------- capacity

TEST(BookCapacity, RefusesAndCountsWhenFull) {
    Book book{BookConfig{.series_capacity = 50}, 1};
    book.on_start({});
    Events events;
    for (unsigned i = 0; i < 60; ++i) {
        events.quote(key_of("IBM", 'A', 1, 27, i), one_line, i + 1);
    }
    events.play(book);
    EXPECT_EQ(book.series_count(), 50U);
    EXPECT_EQ(book.counters().read(BookCount::series_refused), 10U);

    // After a start of day entries are free again, before any timer.
    events.control(one_line, 0, feed::Forget::day);
    for (unsigned i = 0; i < 60; ++i) {
        events.quote(key_of("AMD", 'A', 1, 27, i), one_line, i + 1);
    }
    events.play(book);
    EXPECT_EQ(book.series_count(), 50U);
    EXPECT_EQ(book.counters().read(BookCount::series_refused), 20U);
}

TEST(BookCapacity, AnEmptyKeyIsRefused) {
    Book book{BookConfig{.series_capacity = 50}, 1};
    book.on_start({});
    Events events;
    events.quote({}, one_line, 1);
    events.trade({}, one_line, 1, 'I', 1, 1);
    events.end_of_day({}, one_line, 1);
    events.play(book);
    EXPECT_EQ(book.series_count(), 0U);
    EXPECT_EQ(book.counters().read(BookCount::series_refused), 2U);
}

// ---------------------------------------------------------------- announced series

class AnnouncedTest : public BookTest {
  protected:
    /// The numbers of all entries and of announced entries, after the events and a full sweep.
    std::pair<std::uint64_t, std::uint64_t> entries() {
        events_.play(book_);
        for (int i = 0; i < 10; ++i) {
            book_.on_timer(i);
        }
        book_.on_stop();
        return {book_.entries_count(), book_.announced_count()};
    }

    std::uint64_t unannounced() { return book_.counters().read(BookCount::series_unannounced); }

    using Entries = std::pair<std::uint64_t, std::uint64_t>;
};

TEST_F(AnnouncedTest, HasAnEntryAndIsNotListed) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    EXPECT_FALSE(listed(key_));
    EXPECT_EQ(book_.series_count(), 0U);
    EXPECT_EQ(entries(), Entries(1, 1));
}

TEST_F(AnnouncedTest, ItsFirstMessageFindsTheEntry) {
    const auto other = key_of("QQQ");
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.quote(key_, one_line, 1);
    EXPECT_TRUE(listed(key_));
    EXPECT_EQ(unannounced(), 0U);
    events_.quote(other, one_line, 2);
    EXPECT_TRUE(listed(other));
    EXPECT_EQ(unannounced(), 1U);
    EXPECT_EQ(entries(), Entries(2, 1));
    EXPECT_EQ(book_.series_count(), 2U);
}

TEST_F(AnnouncedTest, OfBothSessionsAreTwo) {
    const auto gth = key_of("SPY", 'A', 16, 27, 100'00000000, true);
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.series_map(gth, 201, 0, feed::flag_from_file);
    events_.quote(gth, 201, 1);
    EXPECT_TRUE(listed(gth));
    EXPECT_FALSE(listed(key_));
    EXPECT_EQ(entries(), Entries(2, 2));
}

TEST_F(AnnouncedTest, AgainIsOnce) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.series_map(key_, one_line, 1);
    events_.quote(key_, one_line, 2);
    events_.series_map(key_, one_line, 3);
    EXPECT_EQ(state().quotes, 1U);
    EXPECT_EQ(entries(), Entries(1, 1));
}

TEST_F(AnnouncedTest, OnlyTheSeriesOwnLineAnnounces) {
    events_.series_map(key_, 220, 1, 0, one_line);
    EXPECT_EQ(entries(), Entries(0, 0));
}

TEST_F(AnnouncedTest, FromBeforeTheDayChangesNothing) {
    events_.series_map(key_, one_line, 1, late_day);
    EXPECT_EQ(entries(), Entries(0, 0));
    EXPECT_EQ(book_.counters().read(BookCount::late_before_day), 1U);
}

TEST_F(AnnouncedTest, OutlivesOneStartOfDayAndGoesWithTheSecond) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.control(one_line, 0, feed::Forget::day);
    EXPECT_EQ(entries(), Entries(1, 1));
    events_.control(other_line, 0, feed::Forget::day);  // of another line
    EXPECT_EQ(entries(), Entries(1, 1));
    events_.control(one_line, 0, feed::Forget::day);
    EXPECT_EQ(entries(), Entries(0, 0));
}

TEST_F(AnnouncedTest, StartsOfDayBeforeTheSweepCountAsOne) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.control(one_line, 0, feed::Forget::day);  // inferred
    events_.control(one_line, 0, feed::Forget::day);  // received
    EXPECT_EQ(entries(), Entries(1, 1));
    events_.control(one_line, 0, feed::Forget::day);
    EXPECT_EQ(entries(), Entries(0, 0));
}

TEST_F(AnnouncedTest, AnnouncedEachDayItStays) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    for (int day = 0; day < 5; ++day) {
        events_.control(one_line, 0, feed::Forget::day);
        events_.series_map(key_, one_line, 1);
        EXPECT_EQ(entries(), Entries(1, 1)) << day;
        EXPECT_FALSE(listed(key_));
    }
}

TEST_F(AnnouncedTest, HeardItIsForgottenAndItsEntryStays) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.trade(key_, one_line, 1, 'I', 5, 5);
    events_.quote(key_, one_line, 2);
    EXPECT_TRUE(listed(key_));
    events_.control(one_line, 0, feed::Forget::day);
    EXPECT_FALSE(listed(key_));
    EXPECT_EQ(entries(), Entries(1, 1));
    EXPECT_FALSE(listed(key_));
    events_.quote(key_, one_line, 1);
    EXPECT_EQ(state().trades, 0U);
    EXPECT_EQ(state().quotes, 1U);
    EXPECT_EQ(unannounced(), 0U);
    // The second start of day ends the announcement, whether the sweep or a message finds it.
    events_.control(one_line, 0, feed::Forget::day);
    events_.quote(key_, one_line, 1);
    EXPECT_EQ(state().quotes, 1U);
    EXPECT_EQ(entries(), Entries(1, 0));
    EXPECT_EQ(unannounced(), 1U);
    events_.control(one_line, 0, feed::Forget::day);
    EXPECT_EQ(entries(), Entries(0, 0));
}

TEST_F(AnnouncedTest, ManyDaysLeaveNothingBehind) {
    for (unsigned day = 0; day < 20; ++day) {
        events_.control(one_line, 0, feed::Forget::day);
        for (unsigned i = 0; i < 300; ++i) {
            const auto key = key_of("IBM", 'A', 1 + day, 27, i);
            events_.series_map(key, one_line, i + 1);
            if (i % 2 == 0) {
                events_.trade(key, one_line, i + 1, 'I', 1, 1);
            }
        }
        const Entries found = entries();
        EXPECT_LE(found.first, 600U);
        EXPECT_EQ(found.first, found.second);
        EXPECT_EQ(book_.series_count(), 150U);
    }
    EXPECT_EQ(book_.counters().read(BookCount::series_refused), 0U);
}

TEST_F(AnnouncedTest, LineEventsBeforeItsFirstMessageDoNotTouchIt) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.gap(one_line, 1, 5);
    events_.quote(key_, one_line, 6);
    EXPECT_EQ(state().bid_state, SideState::fresh);
}

TEST_F(AnnouncedTest, HeardOnAnotherLineItHasNotMoved) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.quote(key_, other_line, 3, {'F', 102}, late_only);
    EXPECT_EQ(state().line, other_line);
    EXPECT_EQ(state().bid->price.value, 102);
    EXPECT_EQ(book_.counters().read(BookCount::series_moved), 0U);
}

TEST_F(AnnouncedTest, ASummaryDoesNotMakeItHeard) {
    events_.series_map(key_, one_line, 0, feed::flag_from_file);
    events_.end_of_day(key_, other_line, 1);
    EXPECT_FALSE(listed(key_));
    for (const unsigned left : {1U, 0U}) {
        events_.control(one_line, 0, feed::Forget::day);
        EXPECT_EQ(entries(), Entries(left, left));
    }
}

TEST_F(AnnouncedTest, WhatFindsNoRoomIsCounted) {
    for (unsigned i = 0; i < 1010; ++i) {
        events_.series_map(key_of("IBM", 'A', 1, 27, i), one_line, 0, feed::flag_from_file);
    }
    events_.series_map({}, one_line, 0, feed::flag_from_file);
    EXPECT_EQ(entries(), Entries(1000, 1000));
    EXPECT_EQ(book_.counters().read(BookCount::series_refused), 11U);
}

// ---------------------------------------------------------------- busiest

TEST_F(BookTest, PublishesTheBusiest) {
    const auto hot = key_of("SPY", 'A', 1, 27, 1);
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        events_.quote(i % 3 == 0 ? hot : key_of("MSFT", 'A', 1, 27, i % 700), one_line, i + 1);
        if (i % 100 == 99) {
            events_.play(book_);
        }
    }
    book_.on_timer(1'000'000'000);
    bool found = false;
    for (const RankedSeries& series : book_.busiest()) {
        const auto state = book_.find(series.key);
        EXPECT_EQ(series.quotes, state->quotes);
        EXPECT_EQ(series.bid_e8, state->bid->price.e8());
        found = found || series.key == hot;
    }
    EXPECT_TRUE(found);

    // What a flush removed is not shown.
    events_.control(one_line, 0, feed::Forget::quotes);
    events_.play(book_);
    book_.on_timer(1'500'000'000);
    ASSERT_FALSE(book_.busiest().empty());
    for (const RankedSeries& series : book_.busiest()) {
        EXPECT_FALSE(series.bid_e8.has_value());
    }

    // After a start of day a series is no longer busy.
    events_.control(one_line, 0, feed::Forget::day);
    events_.play(book_);
    book_.on_timer(2'000'000'000);
    EXPECT_TRUE(book_.busiest().empty());
}

}  // namespace
}  // namespace pinstrike::actors::test
