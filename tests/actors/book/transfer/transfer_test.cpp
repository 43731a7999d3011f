// path: cold
//
// Transfers state between two books. The book that joins late must become equal to the book that
// got all messages.
#include "actors/book/book.h"
#include "actors/book/book_json.h"
#include "tests/actors/book/events.h"
#include "tests/actors/book/session.h"
#include "tests/actors/book/transfer/instance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {
namespace {

using feed::Forget;

/// Applies the same events to both books.
void play(Events events, Book& one, Book& other) {
    Events copy = events;
    events.play(one);
    copy.play(other);
}

TEST(BookTransfer, WhatCameBeforeIsTakenAndWhatCameSinceStays) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1, {.bid = 100, .offer = 110});
    before.trade(spy, 1, 2, 'I', 105, 7);
    before.open_interest(spy, 1, 3, 99);
    before.quote(qqq, 1, 4);
    before.play(giver.book);
    Events since;
    since.trade(spy, 1, 5, 'I', 106, 2);
    since.quote(spy, 1, 6, {.indicator = 'E', .bid = 101});  // the bid alone
    play(since, giver.book, taker.book);
    const auto given = giver.give();
    ASSERT_EQ(given.size(), 3U);
    Events later;
    later.trade(spy, 1, 7, 'I', 107, 1);
    play(later, giver.book, taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 2U);
    EXPECT_EQ(said_of(taker.book, spy), said_of(giver.book, spy));
    EXPECT_EQ(said_of(taker.book, qqq), said_of(giver.book, qqq));
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 2U);  // repeated: no effect
    EXPECT_EQ(said_of(taker.book, spy), said_of(giver.book, spy));
}

/// New series move entries in the table during the walk. Returns how many series the walk missed.
unsigned missing_of_a_walk(std::uint16_t year) {
    constexpr unsigned before = 2000;
    constexpr unsigned capacity = 8000;
    constexpr unsigned each_step = 120;
    const auto key = [year](unsigned i) {
        return key_of("SPY", 'A', 16, year, (i + 1) * 50'000'000LL);
    };
    Instance giver(false, 4096, capacity);
    std::uint32_t sequence = 0;
    const auto quote = [&](unsigned first, unsigned end) {
        Events events;
        for (unsigned i = first; i < end; ++i) {
            events.quote(key(i), 1, ++sequence);
        }
        events.play(giver.book);
    };
    quote(0, before);
    unsigned known = before;
    std::map<std::int64_t, unsigned> times;
    for (const StateRecord& record : giver.give([&] {
             const unsigned more = std::min(each_step, capacity - known);
             quote(known, known + more);
             known += more;
         })) {
        ++times[record.key.strike_e8];
    }
    EXPECT_EQ(known, capacity) << "too few came while the table was walked";
    unsigned missing = 0;
    for (unsigned i = 0; i < before; ++i) {
        missing += times[key(i).strike_e8] == 0 ? 1 : 0;
    }
    return missing;
}

TEST(BookTransfer, WhatIsEnteredMeanwhileHidesNothing) {
    for (std::uint16_t year = 27; year < 67; ++year) {
        ASSERT_EQ(missing_of_a_walk(year), 0U) << year;
    }
}

TEST(BookTransfer, AMissingMessageBetweenStateAndBookRefusesTheState) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    before.play(giver.book);
    const auto given = giver.give();
    Events later;
    later.quote(qqq, 1, 3);
    later.play(taker.book);  // neither book has number 2
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::behind], 1U);
    EXPECT_FALSE(taker.book.find(spy));
}

TEST(BookTransfer, AMessageWithoutANumberMovesNoPlace) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    before.play(giver.book);
    Events since;
    since.series_map(qqq, 1, 0, feed::flag_unnumbered);
    since.quote(spy, 1, 2);
    since.series_map(qqq, 1, 0, feed::flag_unnumbered);
    play(since, giver.book, taker.book);
    const auto given = giver.give();
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 1U);
    EXPECT_EQ(said_of(taker.book, spy), said_of(giver.book, spy));
}

TEST(BookTransfer, WhatCoversMoreThanWasHeardWaits) {
    Instance giver(false);
    Instance taker(true);
    Events both;
    both.quote(qqq, 1, 1);
    play(both, giver.book, taker.book);
    Events more;
    more.trade(spy, 1, 2, 'I', 105, 7);
    Events same = more;
    more.play(giver.book);
    const auto given = giver.give();
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::ahead], 2U);
    same.play(taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 2U);
    EXPECT_EQ(said_of(taker.book, spy), said_of(giver.book, spy));
}

TEST(BookTransfer, AMarkSaysThatNothingWasForThisCore) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    before.play(giver.book);
    Events mark;
    mark.add(feed::EventKind::line_mark, 1, 500);
    play(mark, giver.book, taker.book);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::taken], 1U);
    EXPECT_EQ(taker.book.find(spy)->bid_state, SideState::fresh);
}

TEST(BookTransfer, AMarkIsOfTheNumberingThatItsStampSays) {
    Instance giver(false);
    Events reset;
    reset.control(1, 0, Forget::quotes);
    reset.quote(spy, 1, 1);
    reset.stamp(7);
    Events same = reset;
    same.play(giver.book);
    const auto given = giver.give();
    constexpr std::int64_t no_stamp = 0;
    for (const std::int64_t stamp_ns : {std::int64_t{5}, no_stamp}) {
        Instance taker(true);
        Events mark;  // late: the reset is behind it in the queue
        feed::Event& old = mark.add(feed::EventKind::line_mark, 1, 1);
        old.header.ts_exchange_ns = stamp_ns;
        old.header.ts_receive_ns = 9;
        mark.play(taker.book);
        EXPECT_EQ(taker.take(given).verdicts[StateVerdict::other_reset], 1U);
        Events waiting = reset;
        waiting.play(taker.book);
        EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 1U);
    }
}

TEST(BookTransfer, AGapSaysNotInWhichNumberingALineBegins) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.control(1, 0, Forget::quotes);
    before.quote(spy, 1, 1);
    before.quote(qqq, 1, 2);
    before.stamp(7);
    before.play(giver.book);
    const auto given = giver.give();
    Events gap;
    gap.gap(1, 2, 2);
    gap.play(taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::unheard], 2U);
    Events mark;
    mark.add(feed::EventKind::line_mark, 1, 2).header.ts_exchange_ns = 7;
    mark.play(taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 2U);
}

TEST(BookTransfer, AResetReportedBehindWhatFollowsItTakesNothingBack) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    before.play(giver.book);
    Events both;
    both.trade(spy, 1, 2, 'I', 105, 7);
    both.trade(spy, 1, 3, 'I', 105, 7);
    both.control(1, 1, Forget::nothing);
    play(both, giver.book, taker.book);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::taken], 1U);
    EXPECT_EQ(said_of(taker.book, spy), said_of(giver.book, spy));
}

/// The peer had received nothing behind the reset, so its state covers no message behind it. The
/// taker replays all of them (simulated seed 55500258).
TEST(BookTransfer, AStateWhosePlaceIsAResetCoversNothingBehindIt) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.trade(spy, 1, 500, 'I', 105, 7);
    before.quote(qqq, 1, 501);
    before.play(giver.book);
    Events reset;
    reset.control(1, 0, Forget::quotes);
    reset.stamp(7);
    play(reset, giver.book, taker.book);
    const auto given = giver.give();
    Events behind;
    behind.quote(spy, 1, 1);
    behind.trade(spy, 1, 2, 'I', 106, 2);
    behind.quote(qqq, 1, 3);
    behind.stamp(8);
    play(behind, giver.book, taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 2U);
    EXPECT_EQ(said_of(taker.book, spy), said_of(giver.book, spy));
    EXPECT_EQ(said_of(taker.book, qqq), said_of(giver.book, qqq));
    EXPECT_EQ(taker.book.find(spy)->volume, 9U);
    EXPECT_EQ(taker.book.find(spy)->bid_state, SideState::fresh);
}

TEST(BookTransfer, AStartOfDayReportedBehindALaterResetIsNoPlace) {
    constexpr std::uint32_t number = 4'294'967'197;  // 0 is behind it
    Instance giver(false);
    Instance taker(true);
    Events reset;
    reset.control(1, number, Forget::nothing);
    reset.stamp(7);
    Events start;
    start.control(1, 0, Forget::nothing);
    start.stamp(1);
    play(reset, giver.book, taker.book);
    play(start, giver.book, taker.book);
    Events more;
    more.trade(spy, 1, number + 1, 'I', 105, 7);
    more.stamp(8);
    Events same = more;
    more.play(giver.book);
    const auto given = giver.give();
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::ahead], 1U);
    same.play(taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 1U);
    EXPECT_EQ(said_of(taker.book, spy), said_of(giver.book, spy));
}

TEST(BookTransfer, StatesOfDifferentNumberingsDoNotJoin) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    play(before, giver.book, taker.book);
    const auto given = giver.give();
    Events reset;
    reset.control(1, 0, Forget::quotes);
    reset.quote(qqq, 1, 1);
    reset.stamp(7);
    play(reset, giver.book, taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::other_reset], 1U);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::taken], 2U);
}

// The giver has the numbers up to 445 of a numbering that a reset has ended. It missed the reset,
// which came before the taker's first message, and the numbers look as if they joined.
TEST(BookTransfer, APlaceFromBeforeAResetThatTheGiverMissedDoesNotJoin) {
    Instance giver(false);
    Instance taker(true);
    Events old;
    old.quote(spy, 1, 445);
    old.stamp(7);
    old.play(giver.book);
    Events since;
    since.quote(qqq, 1, 37);
    since.quote(qqq, 1, 500);
    since.stamp(9);
    Events same = since;
    same.play(taker.book);
    const auto round = taker.take(giver.give());
    EXPECT_EQ(round.verdicts, (std::map<StateVerdict, unsigned>{{StateVerdict::behind, 1U}}));
    EXPECT_EQ(round.apart.at(1), StateVerdict::behind);
    EXPECT_EQ(said_of(taker.book, spy), "unknown");
}

// Only a message that both have proves that they are in one numbering.
TEST(BookTransfer, WithoutAResetThePlaceMustIncludeTheFirstMessageHeard) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 36);
    before.stamp(7);
    before.play(giver.book);
    Events since;
    since.quote(qqq, 1, 37);
    since.stamp(9);
    Events same = since;
    same.play(taker.book);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::behind], 1U);
    same = since;
    same.play(giver.book);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::taken], 2U);
}

TEST(BookTransfer, PlacesOfLinesGoBeforeTheSeriesAndJoinOrNot) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    before.add(feed::EventKind::line_mark, 7, 4);  // no series of it is known
    before.play(giver.book);
    Events behind;
    behind.add(feed::EventKind::line_mark, 1, 1);
    behind.add(feed::EventKind::line_mark, 7, 5);
    behind.play(taker.book);
    const auto given = giver.give();
    ASSERT_EQ(given.size(), 3U);
    EXPECT_EQ(given[0].kind, Kind::place);
    EXPECT_EQ(given[1].kind, Kind::place);
    EXPECT_EQ(given[1].line, 7U);
    EXPECT_EQ(given[1].place.sequence, 4U);
    EXPECT_EQ(given[2].kind, Kind::series);
    auto round = taker.take(given);
    EXPECT_EQ(round.apart, (std::map<std::uint16_t, StateVerdict>{{7, StateVerdict::behind}}));
    Events reached;
    reached.add(feed::EventKind::line_mark, 7, 5);
    reached.play(giver.book);
    EXPECT_TRUE(taker.take(giver.give()).apart.empty());
}

TEST(BookTransfer, APartialLineHasNoPlaceUntilItsStartOfDay) {
    Instance giver(false);
    Events before;
    before.quote(spy, 1, 8);
    before.play(giver.book);
    giver.process(Kind::partial, 1);
    auto given = giver.give();
    ASSERT_EQ(given.size(), 1U);
    EXPECT_EQ(given[0].kind, Kind::series);
    Events flush;
    flush.control(1, 9, Forget::quotes);
    flush.quote(spy, 1, 9);
    flush.play(giver.book);
    EXPECT_EQ(giver.give().size(), 1U);
    Events day;
    day.control(1, 10, Forget::day);
    day.quote(spy, 1, 1);
    day.play(giver.book);
    given = giver.give();
    ASSERT_EQ(given.size(), 2U);
    EXPECT_EQ(given[0].kind, Kind::place);
}

TEST(BookTransfer, StaleGoesAlongAndSoDoesALossReportedLate) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    before.gap(1, 2, 2);
    before.quote(qqq, 1, 3);
    before.play(giver.book);
    Events both;
    both.add(feed::EventKind::line_mark, 1, 3);
    play(both, giver.book, taker.book);
    const auto given = giver.give();
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 2U);
    EXPECT_EQ(taker.book.find(spy)->bid_state, SideState::stale);
    EXPECT_EQ(taker.book.find(qqq)->bid_state, SideState::fresh);
    giver.process(Kind::give);
    giver.pass();
    Events refused;
    refused.gap(1, 3, 3, feed::GapCause::ring_full);
    refused.play(giver.book);
    std::vector<StateRecord> again = giver.give();
    EXPECT_TRUE(std::any_of(again.begin(), again.end(), [](const StateRecord& record) {
        return record.kind == Kind::lost && record.place.sequence == 3;
    }));
    taker.take(again);
    EXPECT_EQ(taker.book.find(qqq)->bid_state, SideState::stale);
}

TEST(BookTransfer, OfALineThatIsNotHeardItIsTakenAtLastAndStale) {
    Instance giver(false);
    Instance taker(true);
    Events before;
    before.quote(spy, 1, 1);
    before.trade(spy, 1, 2, 'I', 105, 7);
    before.play(giver.book);
    const auto given = giver.give();
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::unheard], 1U);
    EXPECT_FALSE(taker.book.find(spy));
    EXPECT_EQ(taker.take(given, true).verdicts[StateVerdict::taken], 1U);
    EXPECT_EQ(taker.book.find(spy)->bid_state, SideState::stale);
    EXPECT_EQ(taker.book.find(spy)->volume, 7U);
    Events covered;
    covered.trade(spy, 1, 2, 'I', 105, 7);
    covered.play(taker.book);  // already counted, so the bid is unknown
    EXPECT_EQ(taker.book.find(spy)->volume, 7U);
    EXPECT_EQ(taker.book.find(spy)->bid_state, SideState::unknown);
}

TEST(BookTransfer, ALateMessageThatTheStateHadInItCountsOnce) {
    Instance giver(false);
    Instance taker(true);
    Events first;
    first.quote(qqq, 1, 1);
    play(first, giver.book, taker.book);
    Events heard;
    heard.trade(spy, 1, 2, 'I', 105, 7);
    heard.quote(spy, 1, 3);
    heard.play(giver.book);
    Events lost;
    lost.gap(1, 2, 3);
    lost.play(taker.book);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::taken], 2U);
    Events late;
    late.trade(spy, 1, 2, 'I', 105, 7, feed::flag_late);
    late.quote(spy, 1, 3, {}, feed::flag_late);
    late.play(taker.book);
    EXPECT_EQ(taker.book.find(spy)->volume, 7U);
    EXPECT_EQ(taker.book.find(spy)->quotes, 1U);
}

/// The numbers that the state covers are of the first numbering, those of the late messages are of
/// a later one. One series has a message in each numbering, the other only in the first.
TEST(BookTransfer, CoversNothingOfALaterNumbering) {
    Instance giver(false);
    Instance taker(true);
    Events first;
    first.trade(spy, 1, 100, 'I', 105, 7);
    first.trade(qqq, 1, 101, 'I', 105, 7);
    play(first, giver.book, taker.book);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::taken], 2U);
    Events second;
    second.control(1, 1, feed::Forget::quotes);
    second.quote(spy, 1, 2);
    second.gap(1, 3, 4);
    second.control(1, 1, feed::Forget::quotes);
    for (const auto& series : {spy, qqq}) {
        second.quote(series, 1, 3, {}, feed::flag_late | feed::flag_before_flush);
        second.trade(series, 1, 4, 'I', 105, 7, feed::flag_late | feed::flag_before_flush);
    }
    second.play(taker.book);
    EXPECT_EQ(taker.book.find(spy)->quotes, 2U);
    EXPECT_EQ(taker.book.find(spy)->volume, 14U);
    EXPECT_EQ(taker.book.find(qqq)->quotes, 1U);
    EXPECT_EQ(taker.book.find(qqq)->volume, 14U);
}

TEST(BookTransfer, ALateMessageOfTheNumberingThatTheStateCoversCountsOnce) {
    Instance giver(false);
    Instance taker(true);
    Events first;
    first.trade(spy, 1, 100, 'I', 105, 7);
    play(first, giver.book, taker.book);
    EXPECT_EQ(taker.take(giver.give()).verdicts[StateVerdict::taken], 1U);
    Events second;
    second.control(1, 1, feed::Forget::quotes);
    second.trade(spy, 1, 100, 'I', 105, 7, feed::flag_late | feed::flag_before_flush);
    second.trade(spy, 1, 101, 'I', 105, 7, feed::flag_late | feed::flag_before_flush);
    second.play(taker.book);
    EXPECT_EQ(taker.book.find(spy)->volume, 14U);
}

TEST(BookTransfer, WhatIsForgottenOfTheJournalMakesAHole) {
    Instance giver(false);
    Instance taker(true, 512);
    Events before;
    before.quote(spy, 1, 1);
    play(before, giver.book, taker.book);
    const auto given = giver.give();
    for (std::uint32_t number = 2; number < 514; ++number) {
        Events more;
        more.quote(qqq, 1, number);
        play(more, giver.book, taker.book);
    }
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::taken], 1U);  // only number 1 is gone
    Events more;
    more.quote(qqq, 1, 514);
    play(more, giver.book, taker.book);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::behind], 1U);
}

// --- random sessions ---

/// One instance gets all messages. The other joins late, sometimes takes state that was given a
/// while ago, and finally takes the whole state. Returns how many series could not be compared.
unsigned compare(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Session session(seed);
    Instance giver(false);
    Instance taker(true);
    std::vector<StateRecord> given;
    const unsigned joins = 5 + session.below(20);
    for (unsigned batch = 0; batch < 60; ++batch) {
        Events events;
        for (unsigned step = session.below(60); step != 0; --step) {
            session.step(events);
        }
        Events heard = events;
        events.play(giver.book);
        if (batch >= joins) {
            heard.play(taker.book);
        }
        if (batch >= joins && session.below(3) == 0) {
            if (!given.empty()) {
                taker.take(given);
            }
            given = giver.give();
        }
    }
    Events marks;  // as pollers do
    session.mark(marks);
    play(marks, giver.book, taker.book);
    const auto round = taker.take(giver.give());
    for (const auto& [verdict, count] : round.verdicts) {
        EXPECT_EQ(verdict, StateVerdict::taken) << count;
    }
    std::vector<feed::SeriesKey> compared;
    for (unsigned index = 0; index < Session::series_count; ++index) {
        // If the giver has forgotten a series, it does not know the line of the series. If an
        // instance got a late message on a line that the series had left as its first message of
        // the series, it forgets the series with that line.
        const feed::SeriesKey key = session.key(index);
        if (giver.book.find(key).has_value() == taker.book.find(key).has_value()) {
            compared.push_back(key);
        }
    }
    for (int more = 0; more < 5; ++more) {
        Events events;
        for (unsigned step = session.below(60); step != 0; --step) {
            session.step(events, false);
        }
        play(events, giver.book, taker.book);
    }
    for (const feed::SeriesKey& key : compared) {
        EXPECT_EQ(said_of(taker.book, key), said_of(giver.book, key));
    }
    return Session::series_count - static_cast<unsigned>(compared.size());
}

TEST(BookTransferSessions, EndEqualToWhoHeardEverything) {
    constexpr unsigned sessions = 2000;
    unsigned left_out = 0;
    for (std::uint64_t seed = 1; seed <= sessions && !testing::Test::HasFailure(); ++seed) {
        left_out += compare(seed);
    }
    EXPECT_LT(left_out, sessions * Session::series_count / 1000);
}

}  // namespace
}  // namespace pinstrike::actors::test
