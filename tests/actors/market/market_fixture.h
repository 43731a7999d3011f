// path: cold
//
// A market with one client that follows all series, and the series of most tests.
#pragma once

#include "tests/actors/market/market_scene.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>

namespace pinstrike::actors::gateway::test {

inline constexpr std::uint8_t usual_flags = 194;
inline constexpr std::uint8_t stale_flags = 198;
inline constexpr std::uint8_t snapshot_flags = 226;

class MarketTest : public testing::Test {
  protected:
    void follow(Schema schema) { market.interests().add_all(client, schema); }

    void apply(const pinstrike_record& record) { ASSERT_TRUE(market.apply(record)); }

    /// A bid of 1.10 for 30 by CBOE, an offer of 1.25 for 40 by BATS.
    pinstrike_record usual_quote() {
        return events.quote(key, best_of(110, 30, 'C'), best_of(125, 40, 'Z'));
    }

    [[nodiscard]] std::uint64_t count(MarketCount which) { return market.counters().read(which); }

    /// The state of the series in a schema that has one record of it.
    template <class Record>
    Record state_of(Schema schema) {
        Record record;
        std::size_t given = 0;
        market.give_state(schema, key.id, events.now_ns, [&](std::span<const std::byte> bytes) {
            EXPECT_EQ(bytes.size(), sizeof(Record));
            std::memcpy(&record, bytes.data(), sizeof record);
            ++given;
        });
        EXPECT_EQ(given, 1U);
        return record;
    }

    const pinstrike_key key = key_of(9);
    Market market;
    Recorder client;
    FeedScene events;
};

inline void expect_usual_level(const feed::dbn::ConsolidatedLevel& level) {
    EXPECT_EQ(level.bid_price, 1'100'000'000);
    EXPECT_EQ(level.ask_price, 1'250'000'000);
    EXPECT_EQ(level.bid_size, 30U);
    EXPECT_EQ(level.ask_size, 40U);
    EXPECT_EQ(level.bid_publisher, 22U);
    EXPECT_EQ(level.ask_publisher, 36U);
}

inline void expect_no_level(const feed::dbn::ConsolidatedLevel& level) {
    EXPECT_EQ(level.bid_price, feed::dbn::undefined_price);
    EXPECT_EQ(level.ask_price, feed::dbn::undefined_price);
    EXPECT_EQ(level.bid_size, 0U);
    EXPECT_EQ(level.ask_size, 0U);
    EXPECT_EQ(level.bid_publisher, 0U);
    EXPECT_EQ(level.ask_publisher, 0U);
}

}  // namespace pinstrike::actors::gateway::test
