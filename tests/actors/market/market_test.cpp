// path: cold
//
// Events of a feed as records of DBN.
#include "actors/market/market.h"

#include "actors/market/instruments.h"
#include "config/time_units.h"
#include "feed/dbn/values.h"
#include "tests/actors/market/market_fixture.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace pinstrike::actors::gateway::test {
namespace {

using feed::dbn::ConsolidatedRecord;
using feed::dbn::DefinitionRecord;
using feed::dbn::IntervalRecord;
using feed::dbn::RecordType;
using feed::dbn::StatisticKind;
using feed::dbn::StatisticRecord;
using feed::dbn::TradeRecord;
using feed::dbn::undefined_price;
using feed::dbn::undefined_time;
using feed::dbn::VenueRecord;

// --- quotes ---

TEST_F(MarketTest, a_quote_that_states_the_best_is_a_cmbp_1_with_both_sides) {
    follow(Schema::cmbp_1);
    const pinstrike_record quote = usual_quote();
    apply(quote);
    const auto records = client.of<ConsolidatedRecord>(Schema::cmbp_1);
    ASSERT_EQ(records.size(), 1U);
    const ConsolidatedRecord& record = records[0];
    EXPECT_EQ(record.header.type, RecordType::cmbp_1);
    EXPECT_EQ(record.header.publisher, 30U);
    EXPECT_EQ(record.header.instrument, 9U);
    EXPECT_EQ(record.header.event_ns, static_cast<std::uint64_t>(quote.exchange_ns));
    EXPECT_EQ(record.receive_ns, static_cast<std::uint64_t>(quote.receive_ns));
    EXPECT_EQ(record.price, undefined_price);
    EXPECT_EQ(record.size, 0U);
    EXPECT_EQ(record.action, 'A');
    EXPECT_EQ(record.side, 'N');
    EXPECT_EQ(record.flags, usual_flags);
    EXPECT_EQ(record.ts_in_delta_ns, 0);
    expect_usual_level(record.level);
}

TEST_F(MarketTest, a_side_without_a_best_is_undefined) {
    follow(Schema::cmbp_1);
    apply(events.quote(key, no_best(), best_of(125, 40, 'Z'), 'J'));
    const auto records = client.of<ConsolidatedRecord>(Schema::cmbp_1);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].level.bid_price, undefined_price);
    EXPECT_EQ(records[0].level.bid_size, 0U);
    EXPECT_EQ(records[0].level.bid_publisher, 0U);
    EXPECT_EQ(records[0].level.ask_price, 1'250'000'000);
}

TEST_F(MarketTest, indicators_a_and_blank_state_no_best_and_give_no_cmbp_1) {
    follow(Schema::cmbp_1);
    for (const char indicator : {'A', ' '}) {
        apply(events.quote(key, best_of(110, 30, 'C'), best_of(125, 40, 'Z'), indicator));
    }
    EXPECT_TRUE(client.got.empty());
    for (char indicator = 'B'; indicator <= 'P'; ++indicator) {
        apply(events.quote(key, best_of(110, 30, 'C'), best_of(125, 40, 'Z'), indicator));
    }
    EXPECT_EQ(client.got.size(), 15U);
    EXPECT_EQ(count(MarketCount::quotes), 17U);
    EXPECT_EQ(count(MarketCount::read), 17U);
}

TEST_F(MarketTest, a_best_stated_before_lost_messages_is_marked) {
    follow(Schema::cmbp_1);
    apply(events.quote(key, best_of(110, 30, 'C', PINSTRIKE_SIDE_STALE), best_of(125, 40, 'Z')));
    apply(events.quote(key, best_of(110, 30, 'C'), best_of(125, 40, 'Z', PINSTRIKE_SIDE_STALE)));
    apply(usual_quote());
    const auto records = client.of<ConsolidatedRecord>(Schema::cmbp_1);
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].flags, stale_flags);
    EXPECT_EQ(records[1].flags, stale_flags);
    EXPECT_EQ(records[2].flags, usual_flags);
}

TEST_F(MarketTest, mbp_1_has_the_quote_of_the_venue_and_the_best_beside_it) {
    follow(Schema::mbp_1);
    apply(usual_quote());
    const auto records = client.of<VenueRecord>(Schema::mbp_1);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].header.type, RecordType::mbp_1);
    EXPECT_EQ(records[0].header.publisher, 22U);
    EXPECT_EQ(records[0].level.bid_price, 1'100'000'000);
    EXPECT_EQ(records[0].level.ask_price, 1'200'000'000);
    EXPECT_EQ(records[0].level.bid_size, 3U);
    EXPECT_EQ(records[0].level.ask_size, 4U);
    EXPECT_EQ(records[0].sequence, 1U);
    EXPECT_EQ(records[0].action, 'A');
    EXPECT_EQ(records[1].header.publisher, 30U);
    EXPECT_EQ(records[1].level.ask_price, 1'250'000'000);
    EXPECT_EQ(records[1].level.bid_count, 0U);
}

TEST_F(MarketTest, a_side_of_size_0_is_no_quote_of_a_venue) {
    follow(Schema::mbp_1);
    pinstrike_record quote = usual_quote();
    quote.indicator = 'A';
    quote.of.quote.offer_size = 0;
    apply(quote);
    const auto records = client.of<VenueRecord>(Schema::mbp_1);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].level.ask_price, undefined_price);
    EXPECT_EQ(records[0].level.bid_price, 1'100'000'000);
}

// --- trades ---

TEST_F(MarketTest, a_trade_is_a_record_of_trades) {
    follow(Schema::trades);
    const pinstrike_record trade = events.trade(key, 117, 5, 'X');
    apply(trade);
    const auto records = client.of<TradeRecord>(Schema::trades);
    ASSERT_EQ(records.size(), 1U);
    const TradeRecord& record = records[0];
    EXPECT_EQ(record.header.type, RecordType::trade);
    EXPECT_EQ(record.header.publisher, 35U);
    EXPECT_EQ(record.header.event_ns, static_cast<std::uint64_t>(trade.exchange_ns));
    EXPECT_EQ(record.receive_ns, static_cast<std::uint64_t>(trade.receive_ns));
    EXPECT_EQ(record.price, 1'170'000'000);
    EXPECT_EQ(record.size, 5U);
    EXPECT_EQ(record.action, 'T');
    EXPECT_EQ(record.side, 'N');
    EXPECT_EQ(record.flags, usual_flags);
    EXPECT_EQ(record.depth, 0U);
    EXPECT_EQ(record.sequence, trade.sequence);
    EXPECT_EQ(count(MarketCount::trades), 1U);
}

TEST_F(MarketTest, a_trade_comes_with_the_best_just_before_it) {
    for (const Schema schema : {Schema::tcbbo, Schema::cmbp_1}) {
        follow(schema);
    }
    apply(events.trade(key, 116, 1, 'A'));
    apply(usual_quote());
    apply(events.trade(key, 117, 5, 'X'));
    apply(events.quote(key, best_of(1, 1, 'A'), best_of(2, 2, 'B')));
    const auto trades = client.of<ConsolidatedRecord>(Schema::tcbbo);
    ASSERT_EQ(trades.size(), 2U);
    EXPECT_EQ(trades[0].header.type, RecordType::tcbbo);
    EXPECT_EQ(trades[0].header.publisher, 20U);
    expect_no_level(trades[0].level);
    EXPECT_EQ(trades[1].price, 1'170'000'000);
    EXPECT_EQ(trades[1].size, 5U);
    EXPECT_EQ(trades[1].action, 'T');
    expect_usual_level(trades[1].level);
    const auto all = client.of<ConsolidatedRecord>(Schema::cmbp_1);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[2].header.type, RecordType::cmbp_1);
    EXPECT_EQ(all[2].header.publisher, 35U);
    EXPECT_EQ(all[2].action, 'T');
    EXPECT_EQ(all[2].price, 1'170'000'000);
    expect_usual_level(all[2].level);
    EXPECT_EQ(all[3].action, 'A');
    EXPECT_EQ(all[3].price, undefined_price);
}

TEST_F(MarketTest, tbbo_has_trades_alone_and_mbp_1_trades_too) {
    follow(Schema::tbbo);
    follow(Schema::mbp_1);
    apply(usual_quote());
    apply(events.trade(key, 117, 5, 'X'));
    const auto trades = client.of<VenueRecord>(Schema::tbbo);
    ASSERT_EQ(trades.size(), 1U);
    EXPECT_EQ(trades[0].header.type, RecordType::mbp_1);
    EXPECT_EQ(trades[0].header.publisher, 35U);
    EXPECT_EQ(trades[0].action, 'T');
    EXPECT_EQ(trades[0].price, 1'170'000'000);
    EXPECT_EQ(trades[0].level.ask_price, 1'250'000'000);
    EXPECT_EQ(client.of<VenueRecord>(Schema::mbp_1).size(), 3U);
}

TEST_F(MarketTest, cancels_are_left_out_and_counted) {
    for (const Schema schema : {Schema::trades, Schema::tcbbo, Schema::cmbp_1, Schema::tbbo,
                                Schema::ohlcv_1s, Schema::cbbo_1s}) {
        follow(schema);
    }
    for (const char type : {'A', 'C', 'E', 'G'}) {
        apply(events.trade(key, 117, 5, 'X', type));
    }
    market.advance(events.now_ns + 2 * second_ns);
    EXPECT_TRUE(client.got.empty());
    EXPECT_EQ(count(MarketCount::cancels), 4U);
    EXPECT_EQ(count(MarketCount::trades), 4U);
}

TEST_F(MarketTest, a_participant_without_a_publisher_has_0_and_is_counted) {
    follow(Schema::trades);
    apply(events.trade(key, 117, 5, 'F'));
    EXPECT_EQ(client.of<TradeRecord>(Schema::trades).at(0).header.publisher, 0U);
    EXPECT_EQ(count(MarketCount::unknown_participants), 1U);
    apply(events.trade(key, 117, 5, 'V'));
    EXPECT_EQ(client.of<TradeRecord>(Schema::trades).at(1).header.publisher, 109U);
    EXPECT_EQ(count(MarketCount::unknown_participants), 1U);
}

// --- statistics and definitions ---

TEST_F(MarketTest, open_interest_is_a_statistic_of_the_venue) {
    follow(Schema::statistics);
    pinstrike_record record = events.event_of(PINSTRIKE_OPEN_INTEREST, key, 'N', ' ');
    record.of.open_interest.contracts = 4'000'000'000;
    apply(record);
    const auto statistics = client.of<StatisticRecord>(Schema::statistics);
    ASSERT_EQ(statistics.size(), 1U);
    EXPECT_EQ(statistics[0].header.type, RecordType::statistics);
    EXPECT_EQ(statistics[0].header.publisher, 29U);
    EXPECT_EQ(statistics[0].header.event_ns, static_cast<std::uint64_t>(record.exchange_ns));
    EXPECT_EQ(statistics[0].receive_ns, static_cast<std::uint64_t>(record.receive_ns));
    EXPECT_EQ(statistics[0].reference_ns, undefined_time);
    EXPECT_EQ(statistics[0].price, undefined_price);
    EXPECT_EQ(statistics[0].quantity, 4'000'000'000);
    EXPECT_EQ(statistics[0].kind, StatisticKind::open_interest);
    EXPECT_EQ(statistics[0].channel, 7U);
    EXPECT_EQ(statistics[0].sequence, record.sequence);
    EXPECT_EQ(statistics[0].update_action, 1U);
    EXPECT_EQ(state_of<StatisticRecord>(Schema::statistics).quantity, 4'000'000'000);
}

TEST_F(MarketTest, an_end_of_day_summary_is_six_statistics) {
    follow(Schema::statistics);
    pinstrike_record record = events.event_of(PINSTRIKE_END_OF_DAY, key, 'N', ' ');
    record.of.end_of_day.volume = 1234;
    record.of.end_of_day.open = 101;
    record.of.end_of_day.low = 99;
    record.of.end_of_day.high = 140;
    record.of.end_of_day.last = 120;
    record.of.end_of_day.net_change = -15;
    apply(record);
    const auto statistics = client.of<StatisticRecord>(Schema::statistics);
    ASSERT_EQ(statistics.size(), 6U);
    const std::array kinds{1U, 4U, 5U, 11U, 12U};
    const std::array<std::int64_t, 5> prices{1'010'000'000, 990'000'000, 1'400'000'000,
                                             1'200'000'000, -150'000'000};
    for (std::size_t i = 0; i < prices.size(); ++i) {
        EXPECT_EQ(static_cast<unsigned>(statistics[i].kind), kinds[i]);
        EXPECT_EQ(statistics[i].price, prices[i]);
        EXPECT_EQ(statistics[i].quantity, undefined_price);
        EXPECT_EQ(statistics[i].header.publisher, 29U);
    }
    EXPECT_EQ(static_cast<unsigned>(statistics[5].kind), 6U);
    EXPECT_EQ(statistics[5].price, undefined_price);
    EXPECT_EQ(statistics[5].quantity, 1234);
}

TEST_F(MarketTest, a_new_series_gives_its_definition_before_its_first_record) {
    follow(Schema::definition);
    follow(Schema::cmbp_1);
    const pinstrike_record quote = usual_quote();
    apply(quote);
    apply(usual_quote());
    ASSERT_EQ(client.got.size(), 3U);
    EXPECT_EQ(client.got[0].schema, Schema::definition);
    const auto definitions = client.of<DefinitionRecord>(Schema::definition);
    ASSERT_EQ(definitions.size(), 1U);
    const DefinitionRecord& definition = definitions[0];
    EXPECT_EQ(definition.header.type, RecordType::definition);
    EXPECT_EQ(definition.header.publisher, 30U);
    EXPECT_EQ(definition.receive_ns, static_cast<std::uint64_t>(quote.receive_ns));
    EXPECT_EQ(definition.expiration_ns, 1'797'552'000'000'000'000U);  // 2026-12-18
    EXPECT_EQ(definition.strike_price, 250'000'000'000);
    EXPECT_EQ(definition.raw_instrument, 9U);
    EXPECT_EQ(definition.channel, 7U);
    EXPECT_EQ(definition.instrument_class, 'C');
    EXPECT_STREQ(definition.raw_symbol.data(), "AAPL  261218C00250000");
    EXPECT_STREQ(definition.group.data(), "popra-7");
    EXPECT_STREQ(definition.exchange.data(), "OPRA");
    EXPECT_STREQ(definition.asset.data(), "AAPL");
    EXPECT_STREQ(definition.underlying.data(), "AAPL");
}

// --- state ---

TEST_F(MarketTest, the_present_state_is_marked_as_a_snapshot) {
    apply(usual_quote());
    apply(events.trade(key, 117, 5));
    const auto best = state_of<ConsolidatedRecord>(Schema::cmbp_1);
    EXPECT_EQ(best.flags, snapshot_flags);
    EXPECT_EQ(best.header.event_ns, static_cast<std::uint64_t>(events.now_ns));
    EXPECT_EQ(best.price, undefined_price);
    expect_usual_level(best.level);
    EXPECT_EQ(state_of<VenueRecord>(Schema::mbp_1).flags, snapshot_flags);
    EXPECT_EQ(state_of<VenueRecord>(Schema::mbp_1).level.bid_price, 1'100'000'000);
    const auto interval = state_of<IntervalRecord>(Schema::cbbo_1m);
    EXPECT_EQ(interval.header.type, RecordType::cbbo_1m);
    EXPECT_EQ(interval.flags, snapshot_flags);
    EXPECT_EQ(interval.price, 1'170'000'000);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).header.type, RecordType::cbbo_1s);
}

TEST_F(MarketTest, schemas_of_trades_and_bars_and_unknown_series_have_no_state) {
    apply(usual_quote());
    const auto fail = [](std::span<const std::byte>) { ADD_FAILURE(); };
    for (const Schema schema :
         {Schema::trades, Schema::tcbbo, Schema::tbbo, Schema::ohlcv_1s, Schema::ohlcv_1h}) {
        market.give_state(schema, key.id, events.now_ns, fail);
    }
    market.give_state(Schema::statistics, key.id, events.now_ns, fail);  // nothing stated any
    market.give_state(Schema::cmbp_1, key.id + 1, events.now_ns, fail);
    market.give_state(Schema::cmbp_1, 0, events.now_ns, fail);
}

TEST_F(MarketTest, a_flush_of_quotes_clears_the_best_of_older_quotes_only) {
    apply(usual_quote());
    apply(events.trade(key, 117, 5));
    const pinstrike_key other = key_of(10, "SPY");
    pinstrike_record newer = events.quote(other, best_of(1, 1, 'A'), best_of(2, 2, 'B'));
    pinstrike_record flush = events.control(1);
    std::swap(newer.stamp, flush.stamp);  // the quote's place is behind the flush
    apply(flush);
    apply(newer);
    expect_no_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, 1'170'000'000);
    EXPECT_EQ(market.instruments().find(other.id)->best.bid_price, 10'000'000);
    market.give_state(Schema::cmbp_1, other.id, events.now_ns,
                      [](std::span<const std::byte> bytes) {
                          ConsolidatedRecord record;
                          std::memcpy(&record, bytes.data(), sizeof record);
                          EXPECT_EQ(record.level.bid_price, 10'000'000);
                      });
    apply(usual_quote());
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, a_flush_concerns_the_series_of_its_line_and_core) {
    apply(usual_quote());
    pinstrike_record of_line = events.control(1);
    of_line.line = 8;
    apply(of_line);
    pinstrike_record of_core = events.control(1);
    of_core.core = 1;
    apply(of_core);
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    apply(events.control(0));
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    apply(events.control(1));
    expect_no_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, a_message_of_another_line_does_not_move_a_series_if_it_is_late_or_a_series_map) {
    apply(usual_quote());  // of line 7
    pinstrike_record map = events.event_of(PINSTRIKE_SERIES_MAP, key, ' ', 'A');
    map.line = 220;
    map.of.series_map.line = 7;
    apply(map);
    pinstrike_record late = events.trade(key, 117, 5);
    late.line = 9;
    late.flags = PINSTRIKE_IS_LATE;
    apply(late);
    pinstrike_record elsewhere = events.control(1);
    elsewhere.line = 220;
    apply(elsewhere);
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    apply(events.control(1));
    expect_no_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, an_announced_series_is_on_the_line_that_its_map_names) {
    pinstrike_record map = events.event_of(PINSTRIKE_SERIES_MAP, key, ' ', 'A');
    map.line = 220;
    map.of.series_map.line = 7;
    apply(map);
    EXPECT_EQ(market.instruments().find(key.id)->line, 7U);
}

TEST_F(MarketTest, a_late_flush_removes_what_older_messages_stated) {
    pinstrike_record quote = usual_quote();
    quote.bid.sequence = 5;
    quote.offer.sequence = 9;
    apply(quote);
    pinstrike_record flush = events.control(1);
    flush.flags = PINSTRIKE_IS_LATE | PINSTRIKE_BEFORE_FLUSH;
    flush.sequence = 100;
    apply(flush);
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    flush = events.control(1);
    flush.flags = PINSTRIKE_IS_LATE;
    flush.sequence = 7;
    apply(flush);
    const auto level = state_of<ConsolidatedRecord>(Schema::cmbp_1).level;
    EXPECT_EQ(level.bid_price, undefined_price);
    EXPECT_EQ(level.bid_size, 0U);
    EXPECT_EQ(level.ask_price, 1'250'000'000);
    flush = events.control(1);
    flush.flags = PINSTRIKE_IS_LATE;
    flush.sequence = 9;
    apply(flush);
    expect_no_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, a_quote_that_waited_for_its_id_yields_to_newer_state_and_flushes) {
    follow(Schema::cmbp_1);
    const pinstrike_record waited = events.quote(key, best_of(1, 1, 'A'), best_of(2, 2, 'B'));
    apply(usual_quote());
    apply(waited);
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    EXPECT_EQ(client.of<ConsolidatedRecord>(Schema::cmbp_1).size(), 1U);

    pinstrike_record of_new = events.quote(key_of(10, "SPY"), best_of(1, 1, 'A'), no_best());
    apply(events.control(1));
    apply(of_new);
    EXPECT_EQ(market.instruments().find(10), nullptr);
    EXPECT_EQ(count(MarketCount::filtered), 2U);
}

TEST_F(MarketTest, a_trade_that_waited_for_its_id_is_sent_and_changes_no_newer_state) {
    follow(Schema::trades);
    const pinstrike_record waited = events.trade(key, 100, 1);
    pinstrike_record interest = events.event_of(PINSTRIKE_OPEN_INTEREST, key, 'N', ' ');
    interest.of.open_interest.contracts = 5;
    apply(events.trade(key, 117, 5));
    pinstrike_record newer = interest;
    newer.stamp = events.stamp;
    newer.of.open_interest.contracts = 12;
    apply(newer);
    apply(waited);
    apply(interest);
    EXPECT_EQ(client.of<TradeRecord>(Schema::trades).size(), 2U);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, 1'170'000'000);
    EXPECT_EQ(market.instruments().find(key.id)->open_interest, 12U);
}

TEST_F(MarketTest, a_late_flush_removes_sides_of_the_line_that_a_series_left) {
    pinstrike_record quote = usual_quote();
    quote.bid.sequence = quote.offer.sequence = 5'000'000;
    apply(quote);
    pinstrike_record moved = events.trade(key, 117, 5);
    moved.line = 8;
    apply(moved);
    pinstrike_record flush = events.control(1);
    flush.line = 8;
    flush.flags = PINSTRIKE_IS_LATE;
    flush.sequence = 7;
    apply(flush);
    expect_no_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, stamps_of_an_earlier_start_hold_back_no_quote) {
    events.stamp = 1000 * PINSTRIKE_STAMP_PLACE;
    apply(usual_quote());
    market.forget_values();
    events.stamp = 0;
    apply(usual_quote());
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, clients_get_a_record_without_sides_after_a_flush) {
    follow(Schema::cmbp_1);
    follow(Schema::mbp_1);
    follow(Schema::cbbo_1s);
    apply(usual_quote());
    apply(events.control(1));
    client.got.clear();
    market.advance(hour_begin_ns + second_ns - 1);
    EXPECT_TRUE(client.got.empty());
    market.advance(hour_begin_ns + second_ns);
    const auto best = client.of<ConsolidatedRecord>(Schema::cmbp_1);
    ASSERT_EQ(best.size(), 1U);
    expect_no_level(best[0].level);
    EXPECT_EQ(best[0].flags & feed::dbn::flag_snapshot, feed::dbn::flag_snapshot);
    EXPECT_EQ(client.of<VenueRecord>(Schema::mbp_1).size(), 1U);
    const auto interval = client.of<IntervalRecord>(Schema::cbbo_1s);
    ASSERT_EQ(interval.size(), 1U);
    expect_no_level(interval[0].level);
    apply(events.control(1));  // nothing is left to remove
    market.advance(hour_begin_ns + 2 * second_ns);
    EXPECT_EQ(client.got.size(), 3U);
}

TEST_F(MarketTest, the_record_without_sides_comes_before_the_next_record_of_the_series) {
    follow(Schema::cmbp_1);
    apply(usual_quote());
    apply(events.control(1));
    apply(usual_quote());
    const auto records = client.of<ConsolidatedRecord>(Schema::cmbp_1);
    ASSERT_EQ(records.size(), 3U);
    expect_no_level(records[1].level);
    expect_usual_level(records[2].level);
    market.advance(hour_begin_ns + second_ns);
    EXPECT_EQ(client.got.size(), 3U);
}

TEST_F(MarketTest, a_start_of_day_clears_last_trade_and_open_interest_too) {
    apply(usual_quote());
    apply(events.trade(key, 117, 5));
    pinstrike_record interest = events.event_of(PINSTRIKE_OPEN_INTEREST, key, 'N', ' ');
    interest.of.open_interest.contracts = 12;
    apply(interest);
    apply(events.control(2));
    const auto interval = state_of<IntervalRecord>(Schema::cbbo_1s);
    EXPECT_EQ(interval.price, undefined_price);
    EXPECT_EQ(interval.size, 0U);
    EXPECT_EQ(interval.header.event_ns, undefined_time);
    expect_no_level(interval.level);
    market.give_state(Schema::statistics, key.id, events.now_ns,
                      [](std::span<const std::byte>) { ADD_FAILURE(); });
}

TEST_F(MarketTest, a_flush_is_compared_with_stamps_that_wrapped) {
    events.stamp = 0 - 2 * PINSTRIKE_STAMP_PLACE;
    apply(usual_quote());      // the highest place
    apply(events.control(1));  // 0, which is newer
    EXPECT_EQ(events.stamp, 0U);
    apply(events.control(1));
    expect_no_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, a_trade_after_a_flush_has_no_best) {
    follow(Schema::tcbbo);
    apply(usual_quote());
    apply(events.control(1));
    apply(events.trade(key, 117, 5));
    const auto trades = client.of<ConsolidatedRecord>(Schema::tcbbo);
    ASSERT_EQ(trades.size(), 1U);
    expect_no_level(trades[0].level);
}

TEST_F(MarketTest, an_id_of_another_series_is_refused) {
    apply(usual_quote());
    pinstrike_key other = key;
    other.right = 'P';
    EXPECT_FALSE(market.apply(events.quote(other, best_of(1, 1, 'A'), best_of(2, 2, 'B'))));
    other = key;
    other.gth = 1;
    EXPECT_FALSE(market.apply(events.trade(other, 1, 1)));
    pinstrike_value value{};
    value.key = other;
    EXPECT_FALSE(market.take_state({&value, 1}));
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, an_event_without_an_id_is_counted) {
    follow(Schema::trades);
    apply(events.trade(key_of(0), 117, 5));
    apply(events.trade(key_of(instruments_max + 1), 117, 5));
    EXPECT_EQ(count(MarketCount::without_id), 2U);
    EXPECT_TRUE(client.got.empty());
    EXPECT_EQ(market.instruments().count(), 0U);
}

TEST_F(MarketTest, state_that_was_read_anew_is_the_state) {
    follow(Schema::definition);
    pinstrike_value value{};
    value.key = key;
    value.bid = best_of(110, 30, 'C');
    value.offer = best_of(125, 40, 'Z', PINSTRIKE_SIDE_STALE);
    value.last = {.value = 117, .decimals = 2, .present = 1, .reserved = {}};
    value.last_size = 5;
    value.open_interest = 77;
    value.has_open_interest = 1;
    value.line = 3;
    value.changed_ns = hour_begin_ns;
    ASSERT_TRUE(market.take_state({&value, 1}));
    EXPECT_EQ(client.of<DefinitionRecord>(Schema::definition).size(), 1U);
    EXPECT_EQ(client.of<DefinitionRecord>(Schema::definition)[0].channel, 3U);
    const auto best = state_of<ConsolidatedRecord>(Schema::cmbp_1);
    EXPECT_EQ(best.flags, snapshot_flags | 4);
    expect_usual_level(best.level);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, 1'170'000'000);
    EXPECT_EQ(state_of<StatisticRecord>(Schema::statistics).quantity, 77);
    value.last.present = 0;
    ASSERT_TRUE(market.take_state({&value, 1}));
    EXPECT_EQ(client.got.size(), 1U);  // the series is known
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, undefined_price);
}

TEST_F(MarketTest, a_series_that_is_not_in_the_state_of_its_core_has_no_values_any_more) {
    pinstrike_key other = key;
    other.id = key.id + 1;
    other.right = 'P';
    apply(usual_quote());
    apply(events.quote(other, best_of(110, 30, 'C'), best_of(125, 40, 'Z')));
    market.begin_state(1);  // of another core
    market.end_state(1);
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    market.begin_state(0);
    pinstrike_value value{};
    value.key = other;
    ASSERT_TRUE(market.take_state({&value, 1}));
    market.end_state(0);
    EXPECT_EQ(state_of<ConsolidatedRecord>(Schema::cmbp_1).level, feed::dbn::ConsolidatedLevel{});

    market.begin_state(0);
    apply(usual_quote());  // meanwhile
    value.key = key;
    value.old = PINSTRIKE_UNREADABLE;
    market.end_state(0);
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    market.begin_state(0);
    ASSERT_TRUE(market.take_state({&value, 1}));
    market.end_state(0);
    expect_usual_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
}

TEST_F(MarketTest, a_last_trade_of_the_state_has_a_time_only_if_it_is_the_same) {
    apply(events.trade(key, 117, 5));
    const auto before = state_of<IntervalRecord>(Schema::cbbo_1s);
    EXPECT_NE(before.header.event_ns, undefined_time);
    pinstrike_value value{};
    value.key = key;
    value.last = {.value = 117, .decimals = 2, .present = 1, .reserved = {}};
    value.last_size = 5;
    ASSERT_TRUE(market.take_state({&value, 1}));
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).header.event_ns, before.header.event_ns);
    value.last_size = 6;
    ASSERT_TRUE(market.take_state({&value, 1}));
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).header.event_ns, undefined_time);
}

TEST_F(MarketTest, each_event_read_is_of_one_kind_for_the_account) {
    apply(usual_quote());
    EXPECT_EQ(count(MarketCount::filtered), 1U);
    follow(Schema::trades);
    apply(usual_quote());
    apply(events.trade(key, 117, 5));
    EXPECT_EQ(count(MarketCount::served), 2U);
    apply(events.event(PINSTRIKE_CONTROL));
    apply(events.event(PINSTRIKE_GAP));
    EXPECT_EQ(count(MarketCount::of_lines), 2U);
    market.interests().remove(client);
    market.interests().add(client, Schema::trades, key.id);
    apply(usual_quote());
    EXPECT_EQ(count(MarketCount::served), 3U);
    EXPECT_EQ(count(MarketCount::read), 6U);
}

TEST_F(MarketTest, unreadable_state_and_state_without_an_id_are_passed_over) {
    pinstrike_value value{};
    value.key = key;
    value.old = PINSTRIKE_UNREADABLE;
    ASSERT_TRUE(market.take_state({&value, 1}));
    value.old = PINSTRIKE_CURRENT;
    value.key.id = 0;
    ASSERT_TRUE(market.take_state({&value, 1}));
    value.key.id = instruments_max + 1;
    ASSERT_TRUE(market.take_state({&value, 1}));
    EXPECT_EQ(market.instruments().count(), 0U);
}

TEST_F(MarketTest, values_can_be_forgotten_while_series_and_subscriptions_stay) {
    follow(Schema::cmbp_1);
    apply(usual_quote());
    apply(events.trade(key, 117, 5));
    market.forget_values();
    expect_no_level(state_of<ConsolidatedRecord>(Schema::cmbp_1).level);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, undefined_price);
    apply(usual_quote());
    EXPECT_EQ(client.got.size(), 3U);
}

TEST_F(MarketTest, cleared_series_leave_nothing_for_series_of_the_same_ids) {
    for (const Schema schema : {Schema::ohlcv_1h, Schema::ohlcv_1s, Schema::cbbo_1m}) {
        follow(schema);
    }
    apply(events.trade(key, 117, 5));
    market.clear();
    EXPECT_EQ(market.instruments().count(), 0U);
    const pinstrike_key other = key_of(key.id, "SPY");
    apply(events.trade(other, 200, 1));
    market.advance(hour_begin_ns + 60 * minute_ns + 50'000'000);
    const auto hours = client.of<feed::dbn::BarRecord>(Schema::ohlcv_1h);
    ASSERT_EQ(hours.size(), 1U);
    EXPECT_EQ(hours[0].open, 2'000'000'000);
    EXPECT_EQ(hours[0].low, 2'000'000'000);
    EXPECT_EQ(hours[0].volume, 1U);
    EXPECT_EQ(client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s).size(), 1U);
    EXPECT_EQ(client.of<IntervalRecord>(Schema::cbbo_1m).size(), 1U);
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
