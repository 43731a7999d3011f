// path: cold
//
// A book takes the state that the feed recorded before its start. It must become equal to a book
// that got all messages but those between.
#include "tests/actors/book/session.h"
#include "tests/actors/book/transfer/instance.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::actors::test {
namespace {

using feed::Forget;

std::vector<StateRecord> earlier_state_of(Instance& before) {
    std::vector<StateRecord> earlier;
    for (StateRecord& record : before.give()) {
        if (record.kind == Kind::series) {
            record.kind = Kind::earlier;
            record.recorded = true;
            earlier.push_back(record);
        }
    }
    return earlier;
}

/// The state up to number 10 of line 1, with an offer, an open and a last trade of SPY. The book
/// that started later gets messages from `first` on.
struct EarlierState : testing::Test {
    EarlierState() {
        Events events;
        events.trade(spy, 1, 7, 'I', 105, 7);
        events.open_interest(spy, 1, 8, 99);
        events.quote(spy, 1, 9, {.bid = 100, .offer = 110});
        events.trade(spy, 1, 10, 'I', 101, 3);
        events.stamp(7);
        events.play(before.book);
        given = earlier_state_of(before);
    }

    /// The first message of the line is known to be `first`, and `more` follows it.
    template <class More>
    void hear(std::uint32_t first, More&& more) {
        Events events;
        more(events);
        events.add(feed::EventKind::line_mark, 1, first + 5).body.line_mark.first = first;
        events.stamp(9);
        events.play(book.book);
    }

    void hear(std::uint32_t first) {
        hear(first, [&](Events& events) { events.quote(qqq, 1, first); });
    }

    StateVerdict verdict(bool forced = false) {
        return book.take(given, forced).verdicts.begin()->first;
    }

    [[nodiscard]] SeriesState state() const { return *book.book.find(spy); }

    Instance before{false};
    Instance book{false};
    std::vector<StateRecord> given;
};

TEST_F(EarlierState, IsFreshIfNoMessageIsMissing) {
    hear(11);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(said_of(book.book, spy), said_of(before.book, spy));
}

TEST_F(EarlierState, IsStaleBehindMissingMessages) {
    hear(12);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(state().bid_state, SideState::stale);
    EXPECT_EQ(state().volume, 10U);
    EXPECT_EQ(state().open_interest, 99U);
}

TEST_F(EarlierState, YieldsToWhatWasStatedSince) {
    hear(12, [](Events& events) {
        events.quote(spy, 1, 12, {.indicator = 'E', .bid = 103});  // the bid alone
        events.trade(spy, 1, 13, 'I', 102, 2);
    });
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(state().bid->price.value, 103);
    EXPECT_EQ(state().bid_state, SideState::fresh);
    EXPECT_EQ(state().offer->price.value, 110);
    EXPECT_EQ(state().offer_state, SideState::stale);
    EXPECT_EQ(state().quotes, 2U);
    EXPECT_EQ(state().trades, 3U);
    EXPECT_EQ(state().volume, 12U);
    EXPECT_EQ(state().open->value, 105);
    EXPECT_EQ(state().last->price.value, 102);
    EXPECT_EQ(state().high->value, 105);
    EXPECT_EQ(state().low->value, 101);
}

TEST_F(EarlierState, IsTakenOnce) {
    hear(11);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(verdict(), StateVerdict::repeated);
    EXPECT_EQ(state().volume, 10U);
}

TEST_F(EarlierState, IsNotAddedToThatOfAPeer) {
    Instance taker(true);
    Events both;
    both.quote(qqq, 1, 11);
    Events same = both;
    both.play(before.book);
    same.play(taker.book);
    EXPECT_EQ(taker.take(before.give()).verdicts[StateVerdict::taken], 2U);
    EXPECT_EQ(taker.take(given).verdicts[StateVerdict::unheard], 1U);
    EXPECT_EQ(taker.take(given, true).verdicts[StateVerdict::repeated], 1U);
    EXPECT_EQ(said_of(taker.book, spy), said_of(before.book, spy));
}

TEST_F(EarlierState, OfTheDayBeforeIsRefused) {
    hear(12, [](Events& events) {
        events.control(1, 12, Forget::day);
        events.stamp(9);
    });
    EXPECT_EQ(verdict(), StateVerdict::other_reset);
    EXPECT_FALSE(book.book.find(spy));
}

TEST_F(EarlierState, HasNoQuotesBehindAFlush) {
    hear(12, [](Events& events) {
        events.control(1, 12, Forget::quotes);
        events.stamp(9);
    });
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(state().bid_state, SideState::unknown);
    EXPECT_EQ(state().volume, 10U);
}

TEST_F(EarlierState, HasNoQuotesIfTheNumbersBeganAnew) {
    hear(4);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(state().bid_state, SideState::unknown);
    EXPECT_EQ(state().volume, 10U);
}

TEST_F(EarlierState, WaitsForTheFirstMessageOfTheLine) {
    Events events;
    events.quote(qqq, 1, 20);
    events.play(book.book);
    EXPECT_EQ(verdict(), StateVerdict::unheard);
    EXPECT_FALSE(book.book.find(spy));
    hear(11);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(state().bid_state, SideState::fresh);
}

TEST_F(EarlierState, IsTakenAtLastIfThatMessageStaysUnknown) {
    Events events;
    events.quote(qqq, 1, 20);
    events.play(book.book);
    EXPECT_EQ(verdict(true), StateVerdict::taken);
    EXPECT_EQ(state().bid_state, SideState::stale);
}

TEST_F(EarlierState, OfAQuietLineIsStaleOnceAGapIsKnown) {
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(state().bid_state, SideState::fresh);
    hear(12);
    EXPECT_EQ(state().bid_state, SideState::stale);
    EXPECT_EQ(state().volume, 10U);
}

TEST_F(EarlierState, OfAQuietLineLosesItsQuotesIfTheNumbersBeganAnew) {
    EXPECT_EQ(verdict(), StateVerdict::taken);
    hear(4);
    EXPECT_EQ(state().bid_state, SideState::unknown);
    EXPECT_EQ(state().volume, 10U);
}

/// The next snapshot must have it, because the feed may be killed again.
TEST_F(EarlierState, OfAQuietLineIsGivenOn) {
    EXPECT_EQ(verdict(), StateVerdict::taken);
    const auto again = earlier_state_of(book);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].place.sequence, 10U);
    Instance third(false);
    EXPECT_EQ(third.take(again).verdicts[StateVerdict::taken], 1U);
    EXPECT_EQ(said_of(third.book, spy), said_of(before.book, spy));
}

TEST_F(EarlierState, IsCancelledByWhatCameSince) {
    hear(12, [](Events& events) { events.trade(spy, 1, 12, 'A', 101, 4); });
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(state().volume, 6U);
    EXPECT_EQ(state().trades, 2U);
}

TEST_F(EarlierState, DoesNotFitIntoAFullBook) {
    Instance small(false, 4096, 1);
    Events events;
    for (unsigned i = 0; i < 64; ++i) {
        events.quote(key_of("QQQ", 'A', 16, 27, (i + 1) * 50'000'000LL), 1, 11 + i);
    }
    events.add(feed::EventKind::line_mark, 1, 80).body.line_mark.first = 11;
    events.play(small.book);
    EXPECT_EQ(small.take(given).verdicts[StateVerdict::no_room], 1U);
}

// --- random sessions ---

/// The lines on which each series had messages since the start, and before.
class LinesOfSeries {
  public:
    void note(EventBatch batch) {
        for (const feed::Event& event : batch) {
            if (feed::has_series(event.header.kind) &&
                event.header.kind != feed::EventKind::series_map) {
                of(event.body.series).insert(event.header.line);
            }
        }
    }

    std::set<std::uint16_t>& of(const feed::SeriesKey& key) { return lines_[said(key)]; }

  private:
    static std::string said(const feed::SeriesKey& key) {
        return std::to_string(key.name) + " " + std::to_string(key.strike_e8);
    }

    std::map<std::string, std::set<std::uint16_t>> lines_;
};

/// A series whose only message left no value, such as a cancel, is not given.
bool says_nothing(const Book& book, const feed::SeriesKey& key) {
    const auto state = book.find(key);
    return !state || (state->quotes == 0 && state->trades == 0 && !state->open_interest);
}

struct Compared {
    unsigned equal = 0;
    unsigned moved = 0;  ///< on several lines, so not compared
    unsigned different = 0;
};

/// One book gets all messages before the stop, the gaps, and all messages since. The other gets the
/// state before the stop somewhere among the messages since.
Compared compare(std::uint64_t seed, bool late) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Session session(seed);
    Instance before(false);
    Instance whole(false);
    const auto play = [&](Instance& other, LinesOfSeries* lines, unsigned steps) {
        Events events;
        for (unsigned step = 0; step < steps; ++step) {
            session.step(events, late);
        }
        if (lines != nullptr) {
            lines->note(events.batch());
        }
        Events same = events;
        events.play(whole.book);
        same.play(other.book);
    };
    play(before, nullptr, 300 + session.below(1000));
    Events marks;
    session.mark(marks);
    marks.play(before.book);
    const auto given = earlier_state_of(before);
    LinesOfSeries lines;
    for (const StateRecord& record : given) {
        lines.of(record.key).insert(record.line);
    }
    Events gaps;
    session.stop(gaps);
    gaps.play(whole.book);
    Instance started(false);
    std::array<std::uint32_t, Session::lines_count> firsts{};
    for (std::uint16_t line = 1; line <= Session::lines_count; ++line) {
        firsts[line - 1U] = session.sequence(line) + 1;
    }
    play(started, &lines, session.below(300));
    Events first_marks;
    for (std::uint16_t line = 1; line <= Session::lines_count; ++line) {
        first_marks.add(feed::EventKind::line_mark, line, session.sequence(line))
            .body.line_mark.first = firsts[line - 1U];
    }
    first_marks.stamp(1'000'000);
    first_marks.play(started.book);
    started.take(given);
    Compared result;
    for (unsigned round = 0; round < 4; ++round) {
        for (unsigned index = 0; index < Session::series_count; ++index) {
            const feed::SeriesKey key = session.key(index);
            if (lines.of(key).size() > 1) {
                ++result.moved;
            } else if (said_of(started.book, key) == said_of(whole.book, key) ||
                       (says_nothing(started.book, key) && says_nothing(whole.book, key))) {
                ++result.equal;
            } else {
                ++result.different;
                EXPECT_TRUE(late) << "round " << round << "\nfound    "
                                  << said_of(started.book, key) << "\nexpected "
                                  << said_of(whole.book, key);
            }
        }
        play(started, &lines, session.below(200));
    }
    return result;
}

TEST(EarlierStateSessions, EqualWhoMissedTheMessagesBetween) {
    Compared sum;
    for (std::uint64_t seed = 1; seed <= 500 && !testing::Test::HasFailure(); ++seed) {
        const Compared one = compare(seed, false);
        sum.equal += one.equal;
        sum.moved += one.moved;
    }
    EXPECT_GT(sum.equal, sum.moved);
}

/// The other book knows of more missing numbers, so what a late quote stated stays stale there for
/// longer; and a trade from before a flush that comes late does not set its last price.
TEST(EarlierStateSessions, NearlyEqualThemIfMessagesComeLate) {
    Compared sum;
    for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
        const Compared one = compare(seed, true);
        sum.equal += one.equal;
        sum.different += one.different;
    }
    EXPECT_LT(sum.different, sum.equal / 50);
}

}  // namespace
}  // namespace pinstrike::actors::test
