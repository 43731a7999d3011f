// path: cold
//
// State transfer without sockets: frames, and both sides of a connection.
#include "actors/peer/state_frames.h"
#include "config/time_units.h"
#include "tests/actors/book/events.h"
#include "tests/actors/peer/sessions.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <vector>

namespace pinstrike::actors::peer::test {
namespace {

using actors::test::key_of;
using Kind = StateRecord::Kind;

StateRecord traded() {
    return state_of_series();
}

Bytes body_of(const StateFrame& frame) {
    FrameWriter writer;
    put(writer, frame);
    const auto bytes = writer.waiting().subspan(header_bytes);
    return {bytes.begin(), bytes.end()};
}

std::optional<StateFrame> parsed(FrameType type, std::span<const std::byte> body) {
    return parse_state({type, body});
}

TEST(StateFrames, CarryWhatTheyAreGiven) {
    for (const StateRecord& record : {quoted(), traded()}) {
        const auto frame = parsed(FrameType::state_series, body_of({9, record}));
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->id, 9U);
        EXPECT_EQ(frame->record.place, record.place);
        EXPECT_EQ(frame->record.key, record.key);
        EXPECT_EQ(frame->record.quotes, 3U);
        EXPECT_EQ(std::memcmp(&frame->record.bid, &record.bid, sizeof record.bid), 0);
        EXPECT_EQ(std::memcmp(&frame->record.offer, &record.offer, sizeof record.offer), 0);
        EXPECT_EQ(frame->record.has_trades, record.has_trades);
        EXPECT_EQ(std::memcmp(&frame->record.trades, &record.trades, sizeof record.trades), 0);
    }
    StateRecord lost;
    lost.kind = Kind::lost;
    lost.line = 3;
    lost.place = {1, 2, 3};
    const auto frame = parsed(FrameType::state_lost, body_of({9, lost}));
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->record.kind, Kind::lost);
    const auto place = parsed(FrameType::state_place, body_of({9, placed(4)}));
    ASSERT_TRUE(place);
    EXPECT_EQ(place->record.kind, Kind::place);
    EXPECT_EQ(place->record.line, 4U);
    EXPECT_EQ(place->record.place, placed(4).place);
    EXPECT_EQ(place->record.books, 3U);
    StateRecord of_none = placed(4);
    of_none.books = 0;
    EXPECT_FALSE(parsed(FrameType::state_place, body_of({9, of_none})));
    EXPECT_EQ(frame->record.line, lost.line);
    EXPECT_EQ(frame->record.place, lost.place);
}

TEST(StateFrames, AreNoLongerAndNoShorterThanDocumented) {
    EXPECT_EQ(body_of({1, quoted()}).size(), 85U);
    EXPECT_EQ(body_of({1, traded()}).size(), 141U);
    const Bytes whole = body_of({1, traded()});
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        EXPECT_FALSE(parsed(FrameType::state_series, std::span{whole}.first(cut))) << cut;
    }
    Bytes longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(parsed(FrameType::state_series, longer));
}

TEST(StateFrames, WhatNoBookSaysIsImpossible) {
    const auto bad = [](auto change) {
        StateRecord record = traded();
        change(record);
        const auto frame = parsed(FrameType::state_series, body_of({1, record}));
        return frame && !is_possible(frame->record);
    };
    EXPECT_FALSE(bad([](StateRecord& /*good*/) {}));
    EXPECT_TRUE(bad([](StateRecord& r) { r.key = {}; }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.key = key_of("SPY", 'Z'); }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.key = key_of("SPY", 'A', 0); }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.key = key_of("S\n"); }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.key.strike_e8 = -1; }));
    EXPECT_TRUE(bad([](StateRecord& r) { raise(r.bid, side_late); }));
    EXPECT_TRUE(bad([](StateRecord& r) { lower(r.bid, side_known); }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.bid.said &= ~std::uint32_t{0xFF00}; }));  // no code
    EXPECT_TRUE(bad([](StateRecord& r) { r.offer.value = 1; }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.trades.flags |= covered_here; }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.trades.last_code = 'J'; }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.trades.last_type = '\n'; }));
    EXPECT_TRUE(bad([](StateRecord& r) {
        r.has_trades = false;
        r.quotes = 0;
    }));
    EXPECT_TRUE(bad([](StateRecord& r) { r.trades = {}; }));
}

/// A source of the records that the test put into it.
struct Giver final : StateGiver {
    std::optional<PeerRefusal> begin() override {
        begun = !refusal;
        return refusal;
    }

    Next next(StateRecord& into) override {
        if (records.empty()) {
            return ends ? Next::end : Next::nothing_yet;
        }
        into = records.front();
        records.pop_front();
        return Next::record;
    }

    void leave() override { ++left; }

    std::optional<PeerRefusal> refusal;
    std::deque<StateRecord> records;
    bool ends = true;
    bool begun = false;
    int left = 0;
};

struct Taker final : StateTaker {
    void record(const StateRecord& record) override { records.push_back(record); }

    void impossible() override { ++impossible_count; }

    void ended(StateOutcome outcome) override { outcomes.push_back(outcome); }

    std::vector<StateRecord> records;
    int impossible_count = 0;
    std::vector<StateOutcome> outcomes;
};

struct StateSession : testing::Test {
    void SetUp() override {
        peers.server.set_state_giver(&giver);
        peers.talk();
        ASSERT_TRUE(peers.client.open());
    }

    void ask(const std::vector<std::uint16_t>& lines = {}) {
        ASSERT_TRUE(peers.client.request_state(lines, taker));
        peers.talk();
    }

    Giver giver;
    Taker taker;
    Peers peers;
};

TEST_F(StateSession, BringsPlacesEverySeriesAndAnEnd) {
    StateRecord lost;
    lost.kind = Kind::lost;
    lost.line = 1;
    giver.records = {placed(1), quoted(), traded(), lost};
    ask();
    peers.pass(1000);
    ASSERT_EQ(taker.records.size(), 4U);
    EXPECT_EQ(taker.records[0].kind, Kind::place);
    EXPECT_EQ(taker.records[0].place, placed(1).place);
    EXPECT_EQ(taker.records[0].books, 3U);
    EXPECT_EQ(taker.outcomes, std::vector{StateOutcome::whole});
    EXPECT_EQ(giver.left, 1);
    EXPECT_EQ(peers.server_counters.counts.read(ServerCount::state_series), 2U);
    EXPECT_EQ(peers.server_counters.counts.read(ServerCount::state_served), 1U);
    ask();  // again
    peers.pass(1000);
    EXPECT_EQ(taker.outcomes.size(), 2U);
}

TEST_F(StateSession, BringsOnlyTheLinesAskedFor) {
    StateRecord other = quoted();
    other.line = 2;
    giver.records = {quoted(), other};
    ask({2});
    peers.pass(1000);
    ASSERT_EQ(taker.records.size(), 1U);
    EXPECT_EQ(taker.records[0].line, 2U);
}

TEST_F(StateSession, SaysWhyThereIsNone) {
    giver.refusal = PeerRefusal::no_state;
    ask();
    giver.refusal = PeerRefusal::over_budget;
    ask();
    peers.server.set_state_giver(nullptr);
    ask();
    EXPECT_EQ(taker.outcomes,
              (std::vector{StateOutcome::has_none, StateOutcome::broken, StateOutcome::has_none}));
    EXPECT_TRUE(peers.client.open());
}

TEST_F(StateSession, OneRequestAtATime) {
    giver.ends = false;
    ask();
    EXPECT_FALSE(peers.client.request_state({}, taker));
    FrameWriter second;
    put(second, StateRequest{77, {}});
    peers.server.receive(second.waiting(), peers.now_ns);
    EXPECT_EQ(peers.server_counters.refusals.read(PeerRefusal::over_budget), 1U);
}

TEST_F(StateSession, EndsWhenNothingMoreComes) {
    giver.ends = false;
    giver.records = {quoted()};
    ask();
    peers.pass(second_ns);
    EXPECT_EQ(taker.records.size(), 1U);
    peers.pass(3 * second_ns);
    EXPECT_TRUE(taker.outcomes.empty());
    peers.pass(2 * second_ns);
    EXPECT_EQ(taker.outcomes, std::vector{StateOutcome::broken});
    giver.records = {quoted()};
    peers.pass(1000);  // the answer to a request that was cancelled
    EXPECT_EQ(taker.records.size(), 1U);
}

TEST_F(StateSession, EndsWithItsConnection) {
    giver.ends = false;
    ask();
    peers.client.close(SessionEnd::closed, peers.answers);
    EXPECT_EQ(taker.outcomes, std::vector{StateOutcome::broken});
    peers.server.close(SessionEnd::closed);
    EXPECT_EQ(giver.left, 1);
}

TEST_F(StateSession, DoesNotSendMoreThanIsRead) {
    giver.ends = false;
    ask();
    for (int i = 0; i < 20'000; ++i) {
        giver.records.push_back(traded());
    }
    peers.server.step(peers.now_ns);
    const SessionLimits limits;
    EXPECT_GE(peers.server.output().size(), limits.state_queue_bytes_max);
    EXPECT_LT(peers.server.output().size(), limits.state_queue_bytes_max + 1000);
    EXPECT_FALSE(giver.records.empty());
}

TEST_F(StateSession, ARequestForALineOutlivesAWalkOverOthers) {
    giver.ends = false;
    ask({2});
    for (int i = 0; i < 10; ++i) {
        giver.records = {quoted()};  // of line 1
        peers.pass(second_ns);
    }
    EXPECT_TRUE(taker.records.empty());
    EXPECT_TRUE(taker.outcomes.empty());
    peers.pass(5 * second_ns);  // the walk stands still
    EXPECT_EQ(taker.outcomes, std::vector{StateOutcome::broken});
}

TEST_F(StateSession, AStepLooksAtABoundedNumberOfRecords) {
    giver.ends = false;
    ask({2});
    giver.records.resize(10'000);
    peers.server.step(peers.now_ns);
    EXPECT_EQ(giver.records.size(), 10'000U - 8192U);
}

/// Otherwise each round for a few lines would take as long as a round for all lines.
TEST(StateBudget, SeriesThatWereNotRequestedDoNotCount) {
    SessionLimits limits;
    limits.state_series_per_second = 10;
    Giver giver;
    Taker taker;
    Peers peers(identity_of(1), identity_of(2), limits);
    peers.server.set_state_giver(&giver);
    peers.talk();
    giver.records.resize(100, quoted());
    StateRecord wanted = quoted();
    wanted.line = 2;
    giver.records.resize(120, wanted);
    ASSERT_TRUE(peers.client.request_state({2}, taker));
    peers.talk();
    peers.pass(1000);
    EXPECT_EQ(taker.records.size(), 10U);
    peers.pass(second_ns);
    EXPECT_EQ(taker.records.size(), 20U);
}

TEST_F(StateSession, AnImpossibleSeriesIsDroppedAlone) {
    StateRecord lie = quoted();
    lie.key = {};
    giver.records = {lie, quoted()};
    ask();
    peers.pass(1000);
    EXPECT_TRUE(peers.client.open());
    EXPECT_EQ(taker.impossible_count, 1);
    EXPECT_EQ(taker.records.size(), 1U);
    EXPECT_EQ(taker.outcomes, std::vector{StateOutcome::whole});
}

TEST_F(StateSession, AMalformedRequestEndsTheConnection) {
    FrameWriter writer;
    put(writer, StateRequest{0, {1}});
    peers.server.receive(writer.waiting(), peers.now_ns);
    EXPECT_TRUE(peers.server.ended());
}

}  // namespace
}  // namespace pinstrike::actors::peer::test
