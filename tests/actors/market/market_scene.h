// path: cold
//
// A market with its clients, and the events of a feed, for tests.
#pragma once

#include "actors/market/interests.h"
#include "actors/market/market.h"
#include "actors/publish/pinstrike.h"
#include "config/time_units.h"
#include "feed/dbn/records.h"
#include "feed/dbn/schema.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway::test {

using feed::dbn::Schema;

inline constexpr std::int64_t minute_ns = 60 * second_ns;
/// 2026-11-27 15:00:00 UTC.
inline constexpr std::int64_t hour_begin_ns = 1'795'791'600 * second_ns;

/// A client that keeps what it gets.
class Recorder final : public RecordReceiver {
  public:
    struct Got {
        Schema schema;
        InstrumentId id;
        std::vector<std::byte> bytes;
    };

    void receive(Schema schema, InstrumentId id, std::span<const std::byte> record) override {
        got.push_back({schema, id, {record.begin(), record.end()}});
    }

    void interval_ended(Schema schema, std::int64_t end_ns) override {
        ends.emplace_back(schema, end_ns);
    }

    /// The records of a schema, which all have the type.
    template <class Record>
    [[nodiscard]] std::vector<Record> of(Schema schema) const {
        std::vector<Record> records;
        for (const Got& one : got) {
            if (one.schema != schema) {
                continue;
            }
            EXPECT_EQ(one.bytes.size(), sizeof(Record));
            std::memcpy(&records.emplace_back(), one.bytes.data(), sizeof(Record));
            EXPECT_EQ(records.back().header.length * std::size_t{4}, sizeof(Record));
            EXPECT_EQ(records.back().header.instrument, one.id);
        }
        return records;
    }

    std::vector<Got> got;
    std::vector<std::pair<Schema, std::int64_t>> ends;
};

inline pinstrike_key key_of(InstrumentId id, const std::string& root = "AAPL", char right = 'C',
                            std::int64_t strike_e8 = 250'00'000'000) {
    pinstrike_key key{};
    root.copy(key.root, sizeof key.root);
    key.right = right;
    key.expiration = 20261218;
    key.id = id;
    key.strike_e8 = strike_e8;
    return key;
}

/// One side of the best, with two decimals.
inline pinstrike_best best_of(std::int32_t price, std::uint32_t size, char participant,
                              pinstrike_side_state state = PINSTRIKE_SIDE_FRESH) {
    return {.price = price,
            .size = size,
            .decimals = 2,
            .participant = participant,
            .present = 1,
            .state = static_cast<std::uint8_t>(state),
            .sequence = 1};
}

inline pinstrike_best no_best() {
    pinstrike_best best{};
    best.participant = ' ';
    best.state = PINSTRIKE_SIDE_FRESH;
    return best;
}

/// Makes events, each received 1 ms after the one before and 0.2 ms after its exchange time.
class FeedScene {
  public:
    static constexpr std::int64_t way_ns = 200'000;

    pinstrike_record event(pinstrike_kind kind) {
        pinstrike_record record{};
        now_ns += 1'000'000;
        stamp += PINSTRIKE_STAMP_PLACE;
        record.kind = static_cast<std::uint8_t>(kind);
        record.line = 7;
        record.sequence = ++sequence;
        record.stamp = stamp;
        record.exchange_ns = now_ns - way_ns;
        record.receive_ns = now_ns;
        return record;
    }

    pinstrike_record event_of(pinstrike_kind kind, const pinstrike_key& key, char participant,
                              char type) {
        pinstrike_record record = event(kind);
        record.has_key = 1;
        record.key = key;
        record.participant = participant;
        record.type = type;
        record.decimals = 2;
        return record;
    }

    /// A quote that states both sides of the best.
    pinstrike_record quote(const pinstrike_key& key, pinstrike_best bid, pinstrike_best offer,
                           char indicator = 'F') {
        pinstrike_record record = event_of(PINSTRIKE_QUOTE, key, 'C', ' ');
        record.indicator = indicator;
        record.has_best = 1;
        record.bid = bid;
        record.offer = offer;
        record.of.quote = {
            .bid = 110, .bid_size = 3, .offer = 120, .offer_size = 4};  // the venue's own
        return record;
    }

    pinstrike_record trade(const pinstrike_key& key, std::int32_t price, std::uint32_t size,
                           char participant = 'C', char type = ' ') {
        pinstrike_record record = event_of(PINSTRIKE_TRADE, key, participant, type);
        record.of.trade = {.price = price, .size = size, .reference = 0};
        return record;
    }

    pinstrike_record control(std::uint8_t forgets) {
        pinstrike_record record = event(PINSTRIKE_CONTROL);
        record.of.control.forgets = forgets;
        return record;
    }

    std::int64_t now_ns = hour_begin_ns;
    std::uint64_t stamp = 0;
    std::uint64_t sequence = 0;
};

}  // namespace pinstrike::actors::gateway::test
