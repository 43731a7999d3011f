// path: cold
//
// The transfer of state without sockets: the rings to the books, the rounds, and the transfer
// between two books.
#include "actors/peer/state_transfer.h"

#include "actors/book/book.h"
#include "actors/book/book_json.h"
#include "actors/peer/limits.h"
#include "config/time_units.h"
#include "tests/actors/book/events.h"
#include "tests/actors/peer/sessions.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::peer::test {
namespace {

using actors::test::Events;
using actors::test::key_of;
using Kind = StateRecord::Kind;

// --- the rings to the books ---

/// The exchange, and the books' ends of its rings.
struct Rings : testing::Test {
    /// A core of which `with_book` is false has no rings.
    void make(const std::vector<bool>& with_book) {
        std::vector<std::optional<StateRings>> rings;
        for (const bool there : with_book) {
            auto [near, far] = StateRings::make();
            books.push_back(std::move(near));
            rings.push_back(there ? std::optional{std::move(far)} : std::nullopt);
        }
        exchange = std::make_unique<StateExchange>(Sharding::series, std::move(rings));
    }

    void say(std::size_t core, Kind kind, std::uint16_t line = 0) {
        StateRecord record;
        record.kind = kind;
        record.line = line;
        ASSERT_TRUE(books[core].out.try_push({&record, 1}));
    }

    std::vector<StateRings> books;
    std::unique_ptr<StateExchange> exchange;
};

TEST_F(Rings, ReadsTheCoresInTurn) {
    make({true, false, true, true});
    for (const std::size_t core : {0U, 2U, 3U}) {
        for (int i = 0; i < 3; ++i) {
            say(core, Kind::series, static_cast<std::uint16_t>(core));
        }
        say(core, Kind::end);
    }
    ASSERT_FALSE(exchange->begin());
    std::vector<std::uint16_t> read;
    StateRecord record;
    while (exchange->next(record) == StateGiver::Next::record) {
        read.push_back(record.line);
    }
    EXPECT_EQ(read, (std::vector<std::uint16_t>{0, 2, 3, 0, 2, 3, 0, 2, 3}));
    EXPECT_EQ(exchange->next(record), StateGiver::Next::end);
}

TEST_F(Rings, LeavesOutAnswersOfATransferThatRanOutOfTime) {
    make({true});
    for (const Kind kind : {Kind::refused, Kind::apart, Kind::round, Kind::series, Kind::place,
                            Kind::lost, Kind::end}) {
        say(0, kind);
    }
    ASSERT_FALSE(exchange->begin());
    std::vector<Kind> read;
    StateRecord record;
    while (exchange->next(record) == StateGiver::Next::record) {
        read.push_back(record.kind);
    }
    EXPECT_EQ(read, (std::vector{Kind::series, Kind::place, Kind::lost}));
}

/// A transfer over the rings, of which the test is the peer and the books.
struct TransferOverRings : Rings, StateSource {
    void begin(const std::vector<bool>& with_book) {
        make(with_book);
        transfer =
            std::make_unique<StateTransfer>(*exchange, std::vector<std::uint16_t>{1}, 8 * second_ns,
                                            [](const PeerEvent& /*event*/) {});
        transfer->step(start_ns, {this});
        ASSERT_EQ(requests, 1);
    }

    /// Ends the round and answers for the books.
    void end_round() {
        transfer->ended(StateOutcome::whole);
        for (StateRings& book : books) {
            StateRecord round;
            round.kind = Kind::round;
            ASSERT_TRUE(book.out.try_push({&round, 1}));
        }
        transfer->step(start_ns + 1, {this});
    }

    std::string_view peer() const override { return "b"; }

    bool request_state(const std::vector<std::uint16_t>& /*lines*/) override {
        ++requests;
        return true;
    }

    int requests = 0;
    std::unique_ptr<StateTransfer> transfer;
};

TEST_F(TransferOverRings, APeerCannotFillTheMemoryWithPlacesAndLosses) {
    begin({true});
    StateRecord place = placed(1);
    place.books = 1;
    for (std::size_t i = 0; i < posted_records_max; ++i) {
        transfer->record(place);
    }
    for (const Kind kind : {Kind::place, Kind::lost}) {
        place.kind = kind;
        EXPECT_EQ(exchange->post(place), StateExchange::Posted::full);
    }
    transfer->record(place);
    end_round();
    EXPECT_FALSE(transfer->over()) << "the line is requested again";
}

TEST_F(TransferOverRings, SeriesOfACoreWithoutABookAreForeign) {
    begin({true, false});
    StateRecord series = quoted();
    while (core_of(series.key, Sharding::series, 2) != 1) {
        series.key.strike_e8 += 50'000'000;
    }
    StateRecord place = placed(1);
    place.books = 1;
    transfer->record(place);
    transfer->record(series);
    end_round();
    EXPECT_EQ(transfer->counts().read(StateCount::foreign), 1U);
    EXPECT_EQ(transfer->counts().read(StateCount::crowded), 0U);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 1U);
}

// --- the transfer between two books ---

/// A book on a core of its own, and its state exchange.
struct Instance {
    explicit Instance(bool takes) {
        auto [near, far] = StateRings::make();
        book.join_transfer({.takes = takes, .journal_messages = 4096}, std::move(near));
        book.on_start({});
        std::vector<std::optional<StateRings>> rings;
        rings.emplace_back(std::move(far));
        exchange = std::make_unique<StateExchange>(Sharding::series, std::move(rings));
    }

    void step(std::int64_t now_ns) {
        exchange->step();
        book.on_timer(now_ns);
    }

    Book book{BookConfig{.series_capacity = 1000}, 1};
    std::unique_ptr<StateExchange> exchange;
};

/// An instance that sends state and one that receives it, with a connection between them.
struct StateOfPeers : testing::Test, StateSource {
    void SetUp() override {
        peers.server.set_state_giver(giver.exchange.get());
        transfer = std::make_unique<StateTransfer>(
            *taker.exchange, std::vector<std::uint16_t>{1, 2}, 8 * second_ns,
            [this](const PeerEvent& event) { peer_events.push_back(event); });
        peers.talk();
    }

    std::string_view peer() const override { return "b"; }

    bool request_state(const std::vector<std::uint16_t>& lines) override {
        asked.push_back(lines);
        return connected && peers.client.request_state(lines, *transfer);
    }

    void pass(std::int64_t ns) {
        for (const std::int64_t until_ns = peers.now_ns + ns; peers.now_ns < until_ns;) {
            peers.pass(5'000'000);
            if (!stuck) {
                giver.step(peers.now_ns);
            }
            taker.step(peers.now_ns);
            transfer->step(thread_began_ns + peers.now_ns, sources);
        }
    }

    /// A message of the line that concerns no series.
    static void hear(Instance& instance, std::uint16_t line, std::uint32_t number) {
        Events events;
        events.add(feed::EventKind::line_mark, line, number);
        events.play(instance.book);
    }

    void both_hear(std::uint16_t line, std::uint32_t number) {
        hear(giver, line, number);
        hear(taker, line, number);
    }

    static void quote(Instance& instance, const char* symbol, std::uint16_t line,
                      std::uint32_t number) {
        Events events;
        events.quote(key_of(symbol), line, number);
        events.play(instance.book);
    }

    /// The transfer and the connection use clocks of different threads.
    static constexpr std::int64_t thread_began_ns = 1'790'000'000 * second_ns;

    std::vector<StateSource*> sources{this};
    Instance giver{false};
    Instance taker{true};
    bool connected = true;
    bool stuck = false;  ///< the sending instance's core does not run
    std::vector<std::vector<std::uint16_t>> asked;
    std::vector<PeerEvent> peer_events;
    Peers peers;
    std::unique_ptr<StateTransfer> transfer;
};

TEST_F(StateOfPeers, IsTakenAndReported) {
    Events before;
    before.quote(key_of("SPY"), 1, 1);
    before.trade(key_of("QQQ"), 1, 2, 'I', 105, 7);
    before.play(giver.book);
    both_hear(1, 2);
    both_hear(2, 9);
    pass(second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 1U);
    EXPECT_EQ(transfer->counts().read(StateCount::taken), 2U);
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_EQ(peer_events[0].kind, PeerEvent::Kind::state_taken);
    for (const char* symbol : {"SPY", "QQQ"}) {
        EXPECT_EQ(series_json(*taker.book.find(key_of(symbol))),
                  series_json(*giver.book.find(key_of(symbol))));
    }
}

/// A cancel of a report that nobody here received leaves no value, and no side of a series that
/// only traded is known, also after the series changed its line.
TEST_F(StateOfPeers, SeriesWithoutAValueOrASideAreNoReasonToEndIt) {
    Events before;
    before.trade(key_of("IWM"), 1, 1, 'A', 105, 7);
    before.trade(key_of("QQQ"), 2, 1, 'I', 105, 7);
    before.trade(key_of("QQQ"), 1, 2, 'I', 106, 7);
    before.play(giver.book);
    both_hear(1, 2);
    both_hear(2, 1);
    pass(second_ns);
    EXPECT_TRUE(peers.client.open());
    EXPECT_EQ(transfer->whole().read(), 1U);
    EXPECT_EQ(transfer->counts().read(StateCount::impossible), 0U);
    EXPECT_EQ(series_json(*taker.book.find(key_of("QQQ"))),
              series_json(*giver.book.find(key_of("QQQ"))));
    EXPECT_FALSE(taker.book.find(key_of("IWM")));
}

/// The codec does not check that a symbol is text.
TEST_F(StateOfPeers, ASeriesWhoseSymbolIsNotTextIsLeftOutAndReported) {
    quote(giver, "S\n", 1, 1);
    quote(giver, "QQQ", 1, 2);
    both_hear(1, 2);
    both_hear(2, 1);
    pass(second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_TRUE(peers.client.open());
    EXPECT_EQ(transfer->counts().read(StateCount::impossible), 1U);
    EXPECT_TRUE(taker.book.find(key_of("QQQ")));
    EXPECT_EQ(transfer->whole().read(), 0U);
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_EQ(peer_events[0].kind, PeerEvent::Kind::state_missing);
}

TEST_F(StateOfPeers, OnlyTheLinesThatDidNotJoinAreAskedAgain) {
    quote(giver, "SPY", 1, 1);
    quote(giver, "QQQ", 2, 1);
    both_hear(1, 1);
    hear(taker, 2, 3);
    pass(second_ns);
    EXPECT_FALSE(transfer->over());
    EXPECT_GT(transfer->counts().read(StateCount::behind), 0U);
    EXPECT_EQ(asked.front(), std::vector<std::uint16_t>{});
    EXPECT_EQ(asked.back(), std::vector<std::uint16_t>{2});
    hear(giver, 2, 3);
    pass(3 * second_ns);
    EXPECT_EQ(transfer->whole().read(), 1U);
}

/// The peer has no series of the line yet, and its position is before this instance's first
/// message: only the peer will receive the messages between the two.
TEST_F(StateOfPeers, ALineWithoutSeriesHoldsUpTheEndUntilItJoins) {
    both_hear(1, 1);
    hear(giver, 2, 1);
    hear(taker, 2, 2);
    pass(second_ns);
    EXPECT_FALSE(transfer->over());
    EXPECT_EQ(asked.back(), std::vector<std::uint16_t>{2});
    quote(giver, "SPY", 2, 2);
    pass(3 * second_ns);
    EXPECT_EQ(transfer->whole().read(), 1U);
    EXPECT_EQ(taker.book.find(key_of("SPY"))->bid_state, SideState::fresh);
}

TEST_F(StateOfPeers, ALineThatThePeerHasNotHeardHoldsUpTheEnd) {
    both_hear(1, 1);
    hear(taker, 2, 2);
    pass(second_ns);
    EXPECT_FALSE(transfer->over());
    quote(giver, "SPY", 2, 2);
    pass(3 * second_ns);
    EXPECT_EQ(transfer->whole().read(), 1U);
    EXPECT_TRUE(taker.book.find(key_of("SPY")));
}

/// Lines without any message have no state, and the transfer ends without it.
TEST_F(StateOfPeers, LinesThatNobodyHearsEndItInTimeAndWhole) {
    pass(5 * second_ns);
    EXPECT_FALSE(transfer->over());
    pass(4 * second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 1U);
}

/// What the peer still receives on the line, and this instance missed, would be unknown here.
TEST_F(StateOfPeers, ALineThatOnlyThisInstanceHearsIsMissingAtTheEnd) {
    both_hear(1, 1);
    hear(taker, 2, 2);
    pass(9 * second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 0U);
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_EQ(peer_events[0].kind, PeerEvent::Kind::state_missing);
    EXPECT_NE(peer_events[0].text.find("1 of 2 lines did not join"), std::string::npos)
        << peer_events[0].text;
}

TEST_F(StateOfPeers, ALineThatIsNotHeardIsTakenAtLast) {
    quote(giver, "SPY", 1, 1);
    pass(5 * second_ns);
    EXPECT_FALSE(taker.book.find(key_of("SPY")));
    pass(5 * second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(taker.book.find(key_of("SPY"))->bid_state, SideState::stale);
}

/// A peer that cannot be asked.
struct OtherPeer final : StateSource {
    std::string_view peer() const override { return "c"; }

    bool request_state(const std::vector<std::uint16_t>& /*lines*/) override {
        ++asked;
        return false;
    }

    int asked = 0;
};

/// It takes what there is, but does not call it all, and asks others too.
TEST_F(StateOfPeers, AStateThatIsPartialAtThePeerIsPartialHere) {
    giver.exchange->post_to_all(Kind::partial, 1);
    quote(giver, "SPY", 1, 1);
    both_hear(1, 1);
    both_hear(2, 1);
    OtherPeer other;
    sources.push_back(&other);
    pass(second_ns);
    EXPECT_TRUE(taker.book.find(key_of("SPY")));
    EXPECT_FALSE(transfer->over());
    EXPECT_EQ(asked.back(), std::vector<std::uint16_t>{1});
    EXPECT_GT(other.asked, 0);
    pass(9 * second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 0U);
}

TEST_F(StateOfPeers, APartialStateOfALineThatIsNotHeardIsPartialToo) {
    giver.exchange->post_to_all(Kind::partial, 1);
    quote(giver, "SPY", 1, 1);
    pass(10 * second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_TRUE(taker.book.find(key_of("SPY")));
    EXPECT_EQ(transfer->whole().read(), 0U);
}

TEST_F(StateOfPeers, AnInstanceWhoseTransferFailedHasNoPlacesForPeers) {
    connected = false;
    quote(taker, "SPY", 1, 1);
    pass(9 * second_ns);
    ASSERT_TRUE(transfer->over());
    ASSERT_FALSE(taker.exchange->begin());
    pass(second_ns);
    StateRecord record;
    ASSERT_EQ(taker.exchange->next(record), StateGiver::Next::record);
    EXPECT_EQ(record.kind, Kind::series);
    EXPECT_EQ(taker.exchange->next(record), StateGiver::Next::end);
}

TEST_F(StateOfPeers, ABookThatIsFullIsNotWhole) {
    quote(giver, "SPY", 1, 1);
    constexpr std::uint32_t more = 4000;  // than the book has room for
    Events since;
    for (std::uint32_t i = 2; i <= more; ++i) {
        since.quote(key_of("QQQ", 'A', 16, 27, i * 50'000'000LL), 1, i);
    }
    since.add(feed::EventKind::line_mark, 2, 1);
    since.play(taker.book);
    hear(giver, 1, more);
    hear(giver, 2, 1);
    pass(second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->counts().read(StateCount::no_room), 1U);
    EXPECT_EQ(transfer->whole().read(), 0U);
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_NE(peer_events[0].text.find("the book is full"), std::string::npos);
}

TEST_F(StateOfPeers, WhatWasTakenOfAnUnfinishedAnswerIsReported) {
    quote(giver, "SPY", 1, 1);
    both_hear(1, 1);
    pass(second_ns / 10);
    stuck = true;  // before the end of the walk
    pass(9 * second_ns);
    EXPECT_TRUE(transfer->over());
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_NE(peer_events[0].text.find("states of 1 series were taken"), std::string::npos)
        << peer_events[0].text;
}

/// A round takes three of the eight seconds, so the second one must be the last.
TEST_F(StateOfPeers, TheLastRoundBeginsInTimeToEnd) {
    quote(giver, "SPY", 1, 1);
    for (int round = 0; round < 2; ++round) {
        stuck = true;
        pass(3 * second_ns);
        stuck = false;
        pass(second_ns / 2);
    }
    EXPECT_EQ(asked.size(), 2U);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 1U);
    EXPECT_TRUE(taker.book.find(key_of("SPY")));
}

TEST_F(StateOfPeers, TwoThatWereStartedTogetherDoNotWaitForEachOther) {
    giver.exchange->set_taking(true);
    pass(4 * second_ns);
    EXPECT_TRUE(transfer->over());
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_EQ(peer_events[0].kind, PeerEvent::Kind::state_missing);
}

TEST_F(StateOfPeers, OneThatGivesNothingIsGivenUpAndAllEndsInTime) {
    stuck = true;
    pass(4 * second_ns);
    EXPECT_EQ(asked.size(), 1U);
    pass(2 * second_ns);
    EXPECT_GT(asked.size(), 1U) << "nothing for four seconds: somebody is asked again";
    EXPECT_FALSE(transfer->over());
    pass(3 * second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 0U);
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_EQ(peer_events[0].kind, PeerEvent::Kind::state_missing);
}

TEST_F(StateOfPeers, WithoutAPeerItEndsInTime) {
    connected = false;
    pass(7 * second_ns);
    EXPECT_FALSE(transfer->over());
    pass(2 * second_ns);
    EXPECT_TRUE(transfer->over());
    EXPECT_EQ(transfer->whole().read(), 0U);
    ASSERT_EQ(peer_events.size(), 1U);
    EXPECT_EQ(peer_events[0].kind, PeerEvent::Kind::state_missing);
}

TEST_F(StateOfPeers, AWalkThatNobodyWantsAnyMoreComesToItsEnd) {
    ASSERT_FALSE(giver.exchange->begin());
    EXPECT_EQ(giver.exchange->begin(), PeerRefusal::over_budget);
    giver.exchange->leave();
    EXPECT_EQ(giver.exchange->begin(), PeerRefusal::over_budget);
    for (int i = 0; i < 100; ++i) {
        giver.step(i * 1'000'000);
    }
    EXPECT_FALSE(giver.exchange->begin());
}

}  // namespace
}  // namespace pinstrike::actors::peer::test
