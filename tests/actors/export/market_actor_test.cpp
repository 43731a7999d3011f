// path: cold
//
// The ids of series in an export, and the state that it begins with.
#include "actors/export/market_actor.h"

#include "feed/dbn/records.h"
#include "tests/actors/events.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

using test_events::quote_of;
using test_events::series_of;

class Records final : public MarketActor, private RecordReceiver {
  public:
    explicit Records(const std::optional<SnapshotBeginning>& beginning = {},
                     std::vector<std::string> underlyings = {})
        : MarketActor(std::move(underlyings), beginning) {
        market().interests().add_all(*this, feed::dbn::Schema::cmbp_1);
        on_start({});
    }

    [[nodiscard]] std::string_view name() const override { return "records"; }

    void get(const feed::Event& event) { on_events(EventBatch{{&event, 1}}); }

    std::vector<pinstrike_key> series;
    std::vector<feed::dbn::ConsolidatedRecord> records;

  private:
    void series_added(const pinstrike_key& key) override { series.push_back(key); }

    void receive(feed::dbn::Schema /*schema*/, InstrumentId /*id*/,
                 std::span<const std::byte> record) override {
        std::memcpy(static_cast<void*>(&records.emplace_back()), record.data(),
                    sizeof(feed::dbn::ConsolidatedRecord));
    }

    void interval_ended(feed::dbn::Schema /*schema*/, std::int64_t /*end_ns*/) override {}
};

/// A quote that states one side of the best.
feed::Event best_of(std::string_view symbol, std::uint32_t sequence, char indicator,
                    std::int64_t receive_ns = 1000) {
    feed::Event event = quote_of(series_of(symbol), sequence);
    event.header.indicator = indicator;
    event.header.code = 'I';
    event.header.participant = 'C';
    event.header.ts_receive_ns = event.header.ts_exchange_ns = receive_ns;
    return event;
}

feed::Event mapped(std::string_view symbol, std::uint32_t id) {
    feed::Event event{};
    event.header.kind = feed::EventKind::series_map;
    event.header.flags = feed::flag_from_file;
    event.header.line = 1;
    event.header.records = 1;
    event.body.series_map.series = series_of(symbol);
    event.body.series_map.mapped_line = 1;
    event.body.series_map.id = id;
    return event;
}

TEST(MarketActor, series_behind_the_highest_id_are_counted) {
    Records actor;
    actor.get(mapped("FIRST", instruments_max));
    actor.get(best_of("FIRST", 1, 'G'));
    EXPECT_EQ(actor.refused(), 0U);
    EXPECT_TRUE(actor.remarks().empty());
    ASSERT_EQ(actor.records.size(), 1U);
    EXPECT_EQ(actor.records[0].header.instrument, instruments_max);
    actor.get(best_of("OTHER", 2, 'G'));
    actor.get(best_of("OTHER", 3, 'G'));
    EXPECT_EQ(actor.refused(), 2U);
    EXPECT_EQ(actor.records.size(), 1U);
    ASSERT_EQ(actor.remarks().size(), 1U);
    EXPECT_EQ(actor.account_rows(),
              (std::vector<AccountRow>{{"series", 1}, {"series_refused", 2}}));
}

TEST(MarketActor, a_file_cannot_give_an_id_that_is_too_high) {
    Records actor;
    actor.get(mapped("FIRST", instruments_max + 1));
    EXPECT_EQ(actor.refused(), 1U);
    EXPECT_TRUE(actor.series.empty());
}

/// The best of both sides that the book got before: the records begin with it.
TEST(MarketActor, records_begin_with_the_state_of_the_book) {
    Records actor{SnapshotBeginning{{.series_capacity = 1000}, 5000}};
    actor.get(best_of("BOTH", 1, 'G', 4000));  // this quote is best bid and offer
    actor.get(best_of("ELSE", 2, 'G', 4999));
    EXPECT_TRUE(actor.records.empty());
    feed::Event later = best_of("BOTH", 3, 'B', 5000);
    later.body.quote.bid = 7;
    actor.get(later);
    ASSERT_EQ(actor.records.size(), 1U);
    EXPECT_EQ(actor.series.size(), 2U);
    EXPECT_EQ(actor.records[0].receive_ns, 5000U);
    const feed::dbn::ConsolidatedLevel before = [] {
        Records whole;
        whole.get(best_of("BOTH", 1, 'G', 4000));
        whole.get(best_of("ELSE", 2, 'G', 4999));
        feed::Event same = best_of("BOTH", 3, 'B', 5000);
        same.body.quote.bid = 7;
        whole.get(same);
        return whole.records.back().level;
    }();
    EXPECT_EQ(actor.records[0].level, before);
    EXPECT_NE(actor.records[0].level.ask_size, 0U);
    EXPECT_NE(actor.records[0].level.bid_size, 0U);
}

TEST(MarketActor, only_the_state_of_some_underlyings) {
    Records actor{SnapshotBeginning{{.series_capacity = 1000}, 5000}, {"ELSE"}};
    actor.get(best_of("BOTH", 1, 'G', 4000));
    actor.get(best_of("ELSE", 2, 'G', 4999));
    actor.get(best_of("ELSE", 3, 'G', 5000));
    ASSERT_EQ(actor.series.size(), 1U);
    EXPECT_EQ(std::string{actor.series[0].root}, "ELSE");
}

}  // namespace
}  // namespace pinstrike::actors
