// path: cold
//
// Records of intervals: the best at their end, and bars.
#include "actors/market/market_time.h"
#include "config/time_units.h"
#include "tests/actors/market/market_fixture.h"

#include <gtest/gtest.h>

#include <array>

namespace pinstrike::actors::gateway::test {
namespace {

using feed::dbn::IntervalRecord;
using feed::dbn::RecordType;
using feed::dbn::TradeRecord;
using feed::dbn::undefined_price;
using feed::dbn::undefined_time;

// --- intervals ---

TEST_F(MarketTest, the_best_and_last_trade_come_at_the_end_of_their_interval) {
    follow(Schema::cbbo_1s);
    follow(Schema::cbbo_1m);
    apply(usual_quote());
    const pinstrike_record trade = events.trade(key, 117, 5, 'X');
    apply(trade);
    market.advance(hour_begin_ns + second_ns - 1);
    EXPECT_TRUE(client.got.empty());
    market.advance(hour_begin_ns + second_ns);
    const auto records = client.of<IntervalRecord>(Schema::cbbo_1s);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].header.type, RecordType::cbbo_1s);
    EXPECT_EQ(records[0].header.publisher, 30U);
    EXPECT_EQ(records[0].header.event_ns, static_cast<std::uint64_t>(trade.exchange_ns));
    EXPECT_EQ(records[0].receive_ns, static_cast<std::uint64_t>(hour_begin_ns + second_ns));
    EXPECT_EQ(records[0].price, 1'170'000'000);
    EXPECT_EQ(records[0].size, 5U);
    EXPECT_EQ(records[0].side, 'N');
    EXPECT_EQ(records[0].flags, usual_flags);
    expect_usual_level(records[0].level);
    ASSERT_EQ(client.ends.size(), 1U);
    EXPECT_EQ(client.ends[0], (std::pair{Schema::cbbo_1s, hour_begin_ns + second_ns}));
    market.advance(hour_begin_ns + minute_ns);
    const auto minutes = client.of<IntervalRecord>(Schema::cbbo_1m);
    ASSERT_EQ(minutes.size(), 1U);
    EXPECT_EQ(minutes[0].header.type, RecordType::cbbo_1m);
    EXPECT_EQ(minutes[0].receive_ns, static_cast<std::uint64_t>(hour_begin_ns + minute_ns));
    EXPECT_EQ(client.ends.back(), (std::pair{Schema::cbbo_1m, hour_begin_ns + minute_ns}));
}

TEST_F(MarketTest, a_series_that_did_not_change_in_an_interval_gives_nothing) {
    follow(Schema::cbbo_1s);
    apply(usual_quote());
    market.advance(hour_begin_ns + second_ns);
    EXPECT_EQ(client.got.size(), 1U);
    events.now_ns = hour_begin_ns + second_ns;
    apply(usual_quote());  // the same values
    market.advance(hour_begin_ns + 2 * second_ns);
    EXPECT_EQ(client.got.size(), 1U);
    EXPECT_EQ(client.ends.size(), 2U);
    apply(events.quote(key, best_of(110, 31, 'C'), best_of(125, 40, 'Z')));
    apply(events.trade(key, 117, 5));
    market.advance(hour_begin_ns + 3 * second_ns);
    EXPECT_EQ(client.got.size(), 2U);
}

TEST_F(MarketTest, series_maps_of_a_file_have_no_time_and_end_no_interval) {
    follow(Schema::cbbo_1s);
    pinstrike_record map = events.event_of(PINSTRIKE_SERIES_MAP, key, ' ', 'A');
    map.receive_ns = map.exchange_ns = 0;
    apply(map);
    apply(usual_quote());
    EXPECT_TRUE(client.ends.empty());
}

TEST_F(MarketTest, an_interval_has_a_flush_of_a_series_without_a_quote_in_it) {
    follow(Schema::cbbo_1s);
    apply(usual_quote());
    market.advance(hour_begin_ns + second_ns);
    events.now_ns = hour_begin_ns + second_ns;
    apply(events.control(1));
    market.advance(hour_begin_ns + 2 * second_ns);
    const auto records = client.of<IntervalRecord>(Schema::cbbo_1s);
    ASSERT_EQ(records.size(), 2U);
    expect_usual_level(records[0].level);
    expect_no_level(records[1].level);
}

TEST_F(MarketTest, an_interval_without_a_trade_so_far_has_no_time_of_one) {
    follow(Schema::cbbo_1s);
    apply(usual_quote());
    market.advance(hour_begin_ns + second_ns);
    const auto records = client.of<IntervalRecord>(Schema::cbbo_1s);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].header.event_ns, undefined_time);
    EXPECT_EQ(records[0].price, undefined_price);
    EXPECT_EQ(records[0].size, 0U);
}

TEST_F(MarketTest, an_event_of_the_next_interval_closes_the_one_before) {
    follow(Schema::cbbo_1s);
    apply(usual_quote());
    events.now_ns = hour_begin_ns + second_ns;
    apply(events.quote(key, best_of(1, 1, 'A'), best_of(2, 2, 'B')));
    const auto records = client.of<IntervalRecord>(Schema::cbbo_1s);
    ASSERT_EQ(records.size(), 1U);
    expect_usual_level(records[0].level);
}

TEST_F(MarketTest, trades_that_set_no_last_change_no_interval) {
    follow(Schema::cbbo_1s);
    follow(Schema::ohlcv_1s);
    follow(Schema::trades);
    for (const char type : {'B', 'F', 'u', 'v'}) {
        apply(events.trade(key, 117, 5, 'X', type));
    }
    market.advance(hour_begin_ns + 2 * second_ns);
    EXPECT_EQ(client.got.size(), 4U);
    EXPECT_EQ(client.of<TradeRecord>(Schema::trades).size(), 4U);
}

TEST_F(MarketTest, a_late_trade_is_the_last_one_only_if_no_newer_one_came) {
    follow(Schema::cbbo_1s);
    follow(Schema::trades);
    pinstrike_record late = events.trade(key, 101, 1);
    late.flags = PINSTRIKE_IS_LATE;
    const pinstrike_record trade = events.trade(key, 117, 5);
    apply(trade);
    apply(late);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, 1'170'000'000);
    pinstrike_record newer = events.trade(key, 120, 2);
    newer.flags = PINSTRIKE_IS_LATE;
    apply(newer);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, 1'200'000'000);
    pinstrike_record yesterday = events.trade(key, 90, 2);
    yesterday.flags = PINSTRIKE_IS_LATE | PINSTRIKE_BEFORE_DAY;
    apply(yesterday);
    EXPECT_EQ(state_of<IntervalRecord>(Schema::cbbo_1s).price, 1'200'000'000);
    EXPECT_EQ(client.of<TradeRecord>(Schema::trades).size(), 4U);
}

TEST_F(MarketTest, what_a_state_changed_comes_at_the_end_of_the_interval) {
    follow(Schema::cbbo_1s);
    apply(usual_quote());
    market.advance(hour_begin_ns + second_ns);
    ASSERT_EQ(client.got.size(), 1U);
    pinstrike_value value{};
    value.key = key;
    value.bid = best_of(105, 10, 'C');
    value.offer = best_of(125, 40, 'Z');
    market.begin_state(0);
    ASSERT_TRUE(market.take_state({&value, 1}));
    market.end_state(0);
    market.advance(hour_begin_ns + 2 * second_ns);
    ASSERT_EQ(client.got.size(), 2U);
    EXPECT_EQ(client.of<IntervalRecord>(Schema::cbbo_1s)[1].level.bid_price, 1'050'000'000);
    market.begin_state(0);
    ASSERT_TRUE(market.take_state({&value, 1}));  // the same
    market.end_state(0);
    market.advance(hour_begin_ns + 3 * second_ns);
    EXPECT_EQ(client.got.size(), 2U);
    market.begin_state(0);
    market.end_state(0);  // the series is not in it
    market.advance(hour_begin_ns + 4 * second_ns);
    ASSERT_EQ(client.got.size(), 3U);
    expect_no_level(client.of<IntervalRecord>(Schema::cbbo_1s)[2].level);
}

TEST_F(MarketTest, the_state_of_another_start_is_no_change) {
    follow(Schema::cbbo_1s);
    apply(usual_quote());
    market.advance(hour_begin_ns + second_ns);
    market.forget_values();
    pinstrike_value value{};
    value.key = key;
    value.bid = best_of(110, 30, 'C');
    value.offer = best_of(125, 40, 'Z');
    ASSERT_TRUE(market.take_state({&value, 1}));
    market.advance(hour_begin_ns + 2 * second_ns);
    EXPECT_EQ(client.got.size(), 1U);
}

// --- times ---

TEST_F(MarketTest, a_clock_that_is_set_back_holds_up_no_interval) {
    follow(Schema::cbbo_1s);
    follow(Schema::ohlcv_1s);
    MarketTime time{market};
    const auto read = [&](const pinstrike_record& record) {
        time.note(record, events.now_ns);
        apply(record);
    };
    read(usual_quote());
    read(events.trade(key, 117, 5));
    events.now_ns -= 60 * second_ns;
    read(events.quote(key, best_of(1, 1, 'A'), best_of(2, 2, 'B')));
    read(events.trade(key, 118, 6));
    time.advance(events.now_ns + 2 * second_ns);
    const auto records = client.of<IntervalRecord>(Schema::cbbo_1s);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[1].price, 1'180'000'000);
    EXPECT_EQ(client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s).size(), 2U);
    EXPECT_EQ(count(MarketCount::late_trades), 0U);
}

TEST_F(MarketTest, one_time_in_the_future_holds_up_no_interval) {
    follow(Schema::cbbo_1s);
    MarketTime time{market};
    pinstrike_record wrong = usual_quote();
    wrong.receive_ns += 24 * 60 * minute_ns;
    time.note(wrong, events.now_ns);
    apply(wrong);
    client.got.clear();
    const pinstrike_record next = events.quote(key, best_of(1, 1, 'A'), best_of(2, 2, 'B'));
    time.note(next, events.now_ns);
    apply(next);
    client.got.clear();
    apply(events.quote(key, best_of(3, 1, 'A'), best_of(4, 2, 'B')));
    time.advance(events.now_ns + 2 * second_ns);
    ASSERT_EQ(client.got.size(), 1U);
    EXPECT_EQ(client.of<IntervalRecord>(Schema::cbbo_1s)[0].level.bid_price, 30'000'000);
}

// --- bars ---

TEST_F(MarketTest, a_late_trade_is_the_open_or_the_close_only_by_its_time) {
    follow(Schema::ohlcv_1s);
    const pinstrike_record first = events.trade(key, 105, 1);
    const pinstrike_record second = events.trade(key, 117, 5);
    pinstrike_record late = events.trade(key, 101, 1);
    late.flags = PINSTRIKE_IS_LATE;
    const pinstrike_record newest = events.trade(key, 120, 2);
    apply(second);
    apply(newest);
    apply(late);
    apply(first);
    market.advance(hour_begin_ns + 2 * second_ns);
    const auto bars = client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s);
    ASSERT_EQ(bars.size(), 1U);
    EXPECT_EQ(bars[0].open, 1'050'000'000);
    EXPECT_EQ(bars[0].close, 1'200'000'000);
    EXPECT_EQ(bars[0].low, 1'010'000'000);
    EXPECT_EQ(bars[0].volume, 9U);
}

TEST_F(MarketTest, bars_are_of_one_venue_and_interval) {
    follow(Schema::ohlcv_1s);
    follow(Schema::ohlcv_1m);
    follow(Schema::ohlcv_1h);
    for (const std::int32_t price : {117, 130, 101, 120}) {
        apply(events.trade(key, price, 5, 'X'));
    }
    apply(events.trade(key, 99, 2, 'A'));
    market.advance(hour_begin_ns + second_ns + 49'999'999);
    EXPECT_TRUE(client.got.empty());
    market.advance(hour_begin_ns + second_ns + 50'000'000);
    const auto bars = client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s);
    ASSERT_EQ(bars.size(), 2U);
    EXPECT_EQ(bars[0].header.publisher, 20U);
    EXPECT_EQ(bars[0].volume, 2U);
    EXPECT_EQ(bars[1].header.type, RecordType::ohlcv_1s);
    EXPECT_EQ(bars[1].header.publisher, 35U);
    EXPECT_EQ(bars[1].header.event_ns, static_cast<std::uint64_t>(hour_begin_ns));
    EXPECT_EQ(bars[1].open, 1'170'000'000);
    EXPECT_EQ(bars[1].high, 1'300'000'000);
    EXPECT_EQ(bars[1].low, 1'010'000'000);
    EXPECT_EQ(bars[1].close, 1'200'000'000);
    EXPECT_EQ(bars[1].volume, 20U);
    ASSERT_EQ(client.ends.size(), 1U);
    EXPECT_EQ(client.ends[0], (std::pair{Schema::ohlcv_1s, hour_begin_ns + second_ns}));
    EXPECT_TRUE(client.of<feed::dbn::BarRecord>(Schema::ohlcv_1m).empty());
    market.advance(hour_begin_ns + 60 * minute_ns + 50'000'000);
    const auto minutes = client.of<feed::dbn::BarRecord>(Schema::ohlcv_1m);
    const auto hours = client.of<feed::dbn::BarRecord>(Schema::ohlcv_1h);
    ASSERT_EQ(minutes.size(), 2U);
    ASSERT_EQ(hours.size(), 2U);
    EXPECT_EQ(minutes[1].header.type, RecordType::ohlcv_1m);
    EXPECT_EQ(hours[1].header.type, RecordType::ohlcv_1h);
    EXPECT_EQ(hours[1].volume, 20U);
}

TEST_F(MarketTest, a_bar_is_of_the_exchange_time) {
    follow(Schema::ohlcv_1s);
    events.now_ns = hour_begin_ns + second_ns - 1'000'000;
    apply(events.trade(key, 117, 5));  // received in the next second
    market.advance(hour_begin_ns + second_ns + 50'000'000);
    const auto bars = client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s);
    ASSERT_EQ(bars.size(), 1U);
    EXPECT_EQ(bars[0].header.event_ns, static_cast<std::uint64_t>(hour_begin_ns));
}

TEST_F(MarketTest, a_trade_after_the_end_of_its_bar_is_counted_and_in_no_bar) {
    follow(Schema::ohlcv_1s);
    apply(events.trade(key, 117, 5));
    events.now_ns = hour_begin_ns + 2 * second_ns;
    pinstrike_record late = events.trade(key, 118, 6);
    late.exchange_ns = hour_begin_ns + 500'000'000;
    apply(late);
    EXPECT_EQ(count(MarketCount::late_trades), 1U);
    market.advance(hour_begin_ns + 4 * second_ns);
    const auto bars = client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s);
    ASSERT_EQ(bars.size(), 1U);
    EXPECT_EQ(bars[0].volume, 5U);
}

TEST_F(MarketTest, times_can_begin_anew_and_open_intervals_end_then) {
    follow(Schema::cbbo_1s);
    follow(Schema::ohlcv_1s);
    apply(usual_quote());
    apply(events.trade(key, 117, 5, 'X'));
    market.restart_time();
    EXPECT_EQ(client.of<IntervalRecord>(Schema::cbbo_1s).size(), 1U);
    EXPECT_EQ(client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s).size(), 1U);
    events.now_ns -= 24 * 60 * minute_ns;
    apply(events.quote(key, best_of(1, 1, 'A'), best_of(2, 2, 'B')));
    apply(events.trade(key, 118, 6, 'X'));
    market.advance(events.now_ns + 2 * second_ns);
    const auto records = client.of<IntervalRecord>(Schema::cbbo_1s);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_LT(records[1].receive_ns, records[0].receive_ns);
    EXPECT_EQ(records[1].price, 1'180'000'000);
    EXPECT_EQ(client.of<feed::dbn::BarRecord>(Schema::ohlcv_1s).size(), 2U);
    EXPECT_EQ(count(MarketCount::late_trades), 0U);
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
