// path: cold
//
// A book gets state from the recording of its own feed.
#include "tests/actors/book/transfer/instance.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinstrike::actors::test {
namespace {

/// Books of a feed that recorded its packets: the state of one was written, and the other gets the
/// packets behind it.
struct RecordedState : testing::Test {
    void record(const feed::SeriesKey& key, std::uint32_t sequence) {
        Instance giver(false);
        Events before;
        before.quote(key, 1, sequence);
        before.stamp(7);
        before.play(giver.book);
        for (StateRecord& each : giver.give()) {
            each.recorded = true;
            if (each.kind == Kind::series) {
                given.push_back(each);
            }
        }
    }

    /// The book gets a message, and a mark that the first of its line was `origin`; 0: no mark.
    void hear(std::uint32_t sequence, std::uint32_t origin) {
        Events since;
        since.quote(qqq, 1, sequence);
        if (origin != 0) {
            since.add(feed::EventKind::line_mark, 1, sequence).body.line_mark.first = origin;
        }
        since.stamp(9);
        since.play(book.book);
    }

    StateVerdict verdict(bool forced = false) {
        return book.take(given, forced).verdicts.begin()->first;
    }

    [[nodiscard]] SideState bid() const { return book.book.find(spy)->bid_state; }

    std::vector<StateRecord> given;
    Instance book{true, 4};
};

TEST_F(RecordedState, JoinsTheNextMessageOfTheLine) {
    record(spy, 36);
    hear(37, 37);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(bid(), SideState::fresh);
}

TEST_F(RecordedState, IsStaleBehindMessagesThatWereNotRecorded) {
    record(spy, 36);
    hear(38, 38);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(bid(), SideState::stale);
}

TEST_F(RecordedState, JoinsIfOtherCoresGotTheMessagesBetween) {
    record(spy, 36);
    hear(50, 37);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(bid(), SideState::fresh);
}

TEST_F(RecordedState, MayCoverTheFirstMessagesOfTheLine) {
    record(spy, 36);
    hear(50, 20);
    EXPECT_EQ(verdict(), StateVerdict::taken);
    EXPECT_EQ(bid(), SideState::fresh);
}

TEST_F(RecordedState, WaitsUntilTheFirstMessageOfTheLineIsKnown) {
    record(spy, 36);
    EXPECT_EQ(verdict(), StateVerdict::unheard);
    hear(37, 0);
    EXPECT_EQ(verdict(), StateVerdict::unheard);
    hear(38, 37);
    EXPECT_EQ(verdict(), StateVerdict::taken);
}

TEST_F(RecordedState, IsRefusedIfTheJournalLacksMessagesBehindIt) {
    record(spy, 36);
    for (std::uint32_t sequence = 37; sequence < 42; ++sequence) {
        hear(sequence, 37);
    }
    EXPECT_EQ(verdict(), StateVerdict::behind);
    EXPECT_FALSE(book.book.find(spy));
}

TEST_F(RecordedState, OfAQuietLineIsTakenAtLast) {
    record(spy, 36);
    EXPECT_EQ(verdict(true), StateVerdict::taken);
    EXPECT_EQ(bid(), SideState::fresh);
    hear(50, 0);  // other cores may have got the messages between
    EXPECT_EQ(bid(), SideState::fresh);
    hear(51, 37);
    EXPECT_EQ(bid(), SideState::fresh);
}

TEST_F(RecordedState, OfAQuietLineIsStaleOnceALossIsKnown) {
    record(spy, 36);
    EXPECT_EQ(verdict(true), StateVerdict::taken);
    hear(50, 0);
    hear(51, 38);
    EXPECT_EQ(bid(), SideState::stale);
}

}  // namespace
}  // namespace pinstrike::actors::test
