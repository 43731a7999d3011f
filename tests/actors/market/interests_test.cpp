// path: cold
//
// Which clients get which records, and the state that they asked for.
#include "actors/market/interests.h"

#include "actors/gateway/state_jobs.h"
#include "actors/gateway/subscriptions.h"
#include "tests/actors/market/market_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using feed::dbn::SymbolType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string aapl_call = "AAPL  261218C00250000";

class InterestsTest : public testing::Test {
  protected:
    /// A series that became known.
    void add_series(InstrumentId id, const std::string& root, char right = 'C') {
        instruments.add(key_of(id, root, right));
        interests.on_new(id);
    }

    /// How often each client gets a record of the series.
    std::array<std::size_t, 2> deliver(Schema schema, InstrumentId id) {
        const std::array before{clients[0].got.size(), clients[1].got.size()};
        const std::array<std::byte, 4> record{};
        const Instrument& at = *instruments.find(id);
        interests.deliver(schema, id, at, record);
        const std::array<std::size_t, 2> got{clients[0].got.size() - before[0],
                                             clients[1].got.size() - before[1]};
        EXPECT_EQ(interests.wants(schema, at), got[0] + got[1] != 0);
        return got;
    }

    using Counts = std::array<std::size_t, 2>;

    Instruments instruments;
    Interests interests{instruments};
    std::array<Recorder, 2> clients;
};

TEST_F(InterestsTest, a_record_goes_once_to_each_client_that_wants_it) {
    add_series(1, "AAPL");
    add_series(2, "SPY");
    EXPECT_EQ(deliver(Schema::trades, 1), (Counts{0, 0}));
    interests.add(clients[0], Schema::trades, 1);
    EXPECT_EQ(deliver(Schema::trades, 1), (Counts{1, 0}));
    EXPECT_EQ(deliver(Schema::trades, 2), (Counts{0, 0}));
    EXPECT_EQ(deliver(Schema::cmbp_1, 1), (Counts{0, 0}));
    interests.add_all(clients[0], Schema::trades);
    interests.add_all(clients[0], Schema::trades);
    interests.add_root(clients[0], Schema::trades, "AAPL");
    interests.add(clients[1], Schema::trades, 1);
    EXPECT_EQ(deliver(Schema::trades, 1), (Counts{1, 1}));
    EXPECT_EQ(deliver(Schema::trades, 2), (Counts{1, 0}));
    EXPECT_EQ(clients[0].got.back().id, 2U);
    EXPECT_EQ(clients[0].got.back().schema, Schema::trades);
}

TEST_F(InterestsTest, roots_and_symbols_apply_to_later_series) {
    interests.add_root(clients[0], Schema::trades, "AAPL");
    interests.add_symbol(clients[1], Schema::cmbp_1, aapl_call);
    EXPECT_TRUE(interests.wants_any(Schema::trades));
    EXPECT_FALSE(interests.wants_any(Schema::tcbbo));
    add_series(5, "AAPL");
    add_series(6, "AAPL", 'P');
    add_series(7, "AAPLX");
    EXPECT_EQ(deliver(Schema::trades, 5), (Counts{1, 0}));
    EXPECT_EQ(deliver(Schema::trades, 6), (Counts{1, 0}));
    EXPECT_EQ(deliver(Schema::trades, 7), (Counts{0, 0}));
    EXPECT_EQ(deliver(Schema::cmbp_1, 5), (Counts{0, 1}));
    EXPECT_EQ(deliver(Schema::cmbp_1, 6), (Counts{0, 0}));
}

TEST_F(InterestsTest, subscriptions_end_by_schema) {
    add_series(1, "AAPL");
    add_series(2, "SPY");
    for (Recorder& client : clients) {
        interests.add_root(client, Schema::trades, "AAPL");
        interests.add(client, Schema::tcbbo, 1);
        interests.add(client, Schema::trades, 2);
    }
    interests.remove_root(clients[1], Schema::trades, "AAPL");
    interests.remove_schema(clients[1], Schema::trades);
    EXPECT_EQ(deliver(Schema::trades, 1), (Counts{1, 0}));
    EXPECT_EQ(deliver(Schema::trades, 2), (Counts{1, 0}));
    EXPECT_EQ(deliver(Schema::tcbbo, 1), (Counts{1, 1}));
    add_series(3, "AAPL", 'P');
    EXPECT_EQ(deliver(Schema::trades, 3), (Counts{1, 0}));
}

TEST_F(InterestsTest, a_client_that_leaves_gets_nothing_and_others_go_on) {
    add_series(1, "AAPL");
    for (Recorder& client : clients) {
        interests.add_all(client, Schema::cmbp_1);
        interests.add_root(client, Schema::trades, "AAPL");
        interests.add_symbol(client, Schema::tcbbo, aapl_call);
        interests.add(client, Schema::tcbbo, 1);
    }
    interests.remove_root(clients[0], Schema::trades, "AAPL");
    interests.remove_symbol(clients[0], Schema::tcbbo, aapl_call);
    interests.remove(clients[0]);
    for (const Schema schema : {Schema::cmbp_1, Schema::trades, Schema::tcbbo}) {
        EXPECT_EQ(deliver(schema, 1), (Counts{0, 1}));
    }
    add_series(2, "AAPL", 'P');
    EXPECT_EQ(deliver(Schema::trades, 2), (Counts{0, 1}));
    interests.end_interval(Schema::cbbo_1s, 5);
    EXPECT_TRUE(clients[0].ends.empty());
    EXPECT_EQ(clients[1].ends.size(), 1U);
    interests.remove(clients[1]);
    EXPECT_EQ(deliver(Schema::trades, 1), (Counts{0, 0}));
    interests.add(clients[0], Schema::trades, 2);  // a list of interests is used again
    EXPECT_EQ(deliver(Schema::trades, 2), (Counts{1, 0}));
    EXPECT_EQ(deliver(Schema::trades, 1), (Counts{0, 0}));
}

TEST_F(InterestsTest, subscriptions_to_roots_and_symbols_outlive_the_series) {
    add_series(1, "AAPL");
    interests.add_root(clients[0], Schema::trades, "AAPL");
    interests.add(clients[1], Schema::trades, 1);
    instruments.clear();
    interests.clear_series();
    add_series(1, "AAPL");
    EXPECT_EQ(deliver(Schema::trades, 1), (Counts{1, 0}));
}

// --- subscriptions ---

class SubscriptionsTest : public testing::Test {
  protected:
    void SetUp() override {
        for (const auto& [id, root] : {std::pair{1U, "AAPL"}, {2U, "SPY"}, {4U, "SPXW"}}) {
            market.instruments().add(key_of(id, root));
        }
        market.instruments().add(key_of(3, "AAPL", 'P'));
        pinstrike_key gth = key_of(5, "SPXW");
        gth.gth = 1;
        market.instruments().add(gth);
    }

    static SymbolList list_of(SymbolType type, std::vector<std::string> symbols) {
        return {type, false, std::move(symbols)};
    }

    static SymbolList everything() { return {SymbolType::raw_symbol, true, {"ALL_SYMBOLS"}}; }

    /// Those of the known series that the client follows.
    std::vector<InstrumentId> followed(Schema schema) {
        std::vector<InstrumentId> ids;
        for (InstrumentId id = 1; id < market.instruments().end(); ++id) {
            if (market.interests().wants(schema, *market.instruments().find(id))) {
                ids.push_back(id);
            }
        }
        return ids;
    }

    Market market;
    Recorder client;
    ClientKey key;
    std::vector<std::string> served;
    Subscriptions subscriptions{client, market, key, served};
};

TEST_F(SubscriptionsTest, of_a_parent_are_all_series_of_the_root) {
    const auto selection =
        subscriptions.add(Schema::trades, list_of(SymbolType::parent, {"AAPL.OPT"}));
    EXPECT_FALSE(selection.everything);
    EXPECT_THAT(selection.ids, ElementsAre(1U, 3U));
    EXPECT_THAT(followed(Schema::trades), ElementsAre(1U, 3U));
    EXPECT_THAT(followed(Schema::tcbbo), IsEmpty());
    EXPECT_TRUE(subscriptions.has(Schema::trades));
    EXPECT_FALSE(subscriptions.has(Schema::tcbbo));
}

TEST_F(SubscriptionsTest, of_a_raw_symbol_are_the_series_of_both_sessions) {
    const auto selection = subscriptions.add(
        Schema::trades,
        list_of(SymbolType::raw_symbol, {"SPXW  261218C00250000", "AAPL  261218P00250000",
                                         "SPXW  261218C00250000", "QQQ   261218C00250000"}));
    EXPECT_THAT(selection.ids, ElementsAre(3U, 4U, 5U));
    EXPECT_THAT(followed(Schema::trades), ElementsAre(3U, 4U, 5U));
}

TEST_F(SubscriptionsTest, of_an_id_are_that_series) {
    const auto selection =
        subscriptions.add(Schema::trades, list_of(SymbolType::instrument_id, {"2", "99", "x"}));
    EXPECT_THAT(selection.ids, ElementsAre(2U));
    EXPECT_THAT(followed(Schema::trades), ElementsAre(2U));
}

TEST_F(SubscriptionsTest, of_all_symbols_are_all_series) {
    const auto selection = subscriptions.add(Schema::trades, everything());
    EXPECT_TRUE(selection.everything);
    EXPECT_EQ(followed(Schema::trades).size(), 5U);
    EXPECT_TRUE(subscriptions.all_of(Schema::trades).everything);
    EXPECT_EQ(subscriptions.underlyings_count(), std::nullopt);
}

TEST_F(SubscriptionsTest, of_all_symbols_are_the_underlyings_of_a_limited_key) {
    key.underlyings = {"SPY", "SPXW"};
    const auto selection = subscriptions.add(Schema::trades, everything());
    EXPECT_FALSE(selection.everything);
    EXPECT_THAT(selection.ids, ElementsAre(2U, 4U, 5U));
    EXPECT_THAT(followed(Schema::trades), ElementsAre(2U, 4U, 5U));
    EXPECT_EQ(subscriptions.underlyings_count(), 2U);
}

TEST_F(SubscriptionsTest, object_to_roots_that_are_not_served_and_to_long_symbols) {
    served = {"SPY"};
    EXPECT_EQ(subscriptions.objection_to("SPY.OPT", SymbolType::parent), "");
    EXPECT_THAT(subscriptions.objection_to("AAPL.OPT", SymbolType::parent),
                HasSubstr("the gateway does not serve AAPL"));
    EXPECT_THAT(subscriptions.objection_to(std::string(71, '1'), SymbolType::instrument_id),
                HasSubstr("expected at most 70 characters"));
    subscriptions.add(Schema::trades, everything());
    EXPECT_EQ(subscriptions.underlyings_count(), 1U);
}

TEST_F(SubscriptionsTest, that_are_refused_leave_no_schema) {
    subscriptions.add(Schema::tcbbo, list_of(SymbolType::parent, {"SPY"}));
    EXPECT_EQ(subscriptions.schemas_text(), "");
    EXPECT_EQ(subscriptions.underlyings_count(), 0U);
}

TEST_F(SubscriptionsTest, object_to_symbols_that_are_none_or_not_allowed) {
    key.underlyings = {"SPY"};
    const std::vector<std::pair<std::string, SymbolType>> good{
        {"SPY.OPT", SymbolType::parent},
        {"SPY   261218C00250000", SymbolType::raw_symbol},
        {"SPY   261218C0.0005", SymbolType::raw_symbol},
        {"2", SymbolType::instrument_id}};
    for (const auto& [symbol, type] : good) {
        EXPECT_EQ(subscriptions.objection_to(symbol, type), "");
    }
    const std::vector<std::pair<std::string, SymbolType>> wrong{
        {"SPY", SymbolType::parent},
        {".OPT", SymbolType::parent},
        {"SPY.FUT", SymbolType::parent},
        {"TOOLONG.OPT", SymbolType::parent},
        {"", SymbolType::parent},
        {"SPY", SymbolType::raw_symbol},
        {"SPY.OPT", SymbolType::raw_symbol},
        {"", SymbolType::raw_symbol},
        {"99", SymbolType::instrument_id},
        {"0", SymbolType::instrument_id},
        {"2x", SymbolType::instrument_id},
        {"", SymbolType::instrument_id},
        {"-2", SymbolType::instrument_id},
        {"AAPL.OPT", SymbolType::parent},
        {aapl_call, SymbolType::raw_symbol},
        {"1", SymbolType::instrument_id},
        {"4294967298", SymbolType::instrument_id}};
    for (const auto& [symbol, type] : wrong) {
        EXPECT_THAT(subscriptions.objection_to(symbol, type),
                    StartsWith("Failed to resolve symbol"))
            << symbol;
        EXPECT_THAT(subscriptions.add(Schema::trades, list_of(type, {symbol})).ids, IsEmpty());
    }
    EXPECT_THAT(followed(Schema::trades), IsEmpty());
}

TEST_F(SubscriptionsTest, name_a_series_by_the_most_exact_of_their_symbols) {
    using Name = std::pair<SymbolType, std::string>;
    subscriptions.add(Schema::trades, everything());
    EXPECT_EQ(subscriptions.in_symbol_of(1), (Name{SymbolType::raw_symbol, aapl_call}));
    subscriptions.add(Schema::trades, list_of(SymbolType::parent, {"AAPL.OPT"}));
    EXPECT_EQ(subscriptions.in_symbol_of(1), (Name{SymbolType::parent, "AAPL.OPT"}));
    subscriptions.add(Schema::tcbbo, list_of(SymbolType::instrument_id, {"1"}));
    EXPECT_EQ(subscriptions.in_symbol_of(1), (Name{SymbolType::instrument_id, "1"}));
    EXPECT_EQ(subscriptions.in_symbol_of(3), (Name{SymbolType::parent, "AAPL.OPT"}));
    subscriptions.add(Schema::cmbp_1, list_of(SymbolType::raw_symbol, {aapl_call}));
    EXPECT_EQ(subscriptions.in_symbol_of(1), (Name{SymbolType::raw_symbol, aapl_call}));
}

TEST_F(SubscriptionsTest, end_by_the_symbols_with_which_they_began) {
    subscriptions.add(Schema::trades, list_of(SymbolType::parent, {"AAPL.OPT", "SPXW.OPT"}));
    subscriptions.add(Schema::trades, list_of(SymbolType::instrument_id, {"2"}));
    subscriptions.add(Schema::tcbbo, list_of(SymbolType::raw_symbol, {aapl_call}));
    subscriptions.remove(Schema::trades, list_of(SymbolType::parent, {"AAPL.OPT", "QQQ.OPT"}));
    EXPECT_THAT(followed(Schema::trades), ElementsAre(2U, 4U, 5U));
    EXPECT_THAT(subscriptions.all_of(Schema::trades).ids, ElementsAre(2U, 4U, 5U));
    subscriptions.remove(Schema::trades, list_of(SymbolType::instrument_id, {"2", "x"}));
    EXPECT_THAT(followed(Schema::trades), ElementsAre(4U, 5U));
    subscriptions.remove(Schema::tcbbo, list_of(SymbolType::raw_symbol, {aapl_call, "none"}));
    EXPECT_THAT(followed(Schema::tcbbo), IsEmpty());
    EXPECT_FALSE(subscriptions.has(Schema::tcbbo));
    subscriptions.remove(Schema::trades, everything());
    EXPECT_THAT(followed(Schema::trades), IsEmpty());
    EXPECT_FALSE(subscriptions.has(Schema::trades));
    EXPECT_EQ(subscriptions.schemas_text(), "tcbbo trades");  // all so far
    EXPECT_EQ(subscriptions.underlyings_count(), 3U);
}

/// Two of a client's names may have the same series.
TEST_F(SubscriptionsTest, a_series_stays_while_another_name_has_it) {
    subscriptions.add(Schema::trades, list_of(SymbolType::parent, {"AAPL.OPT"}));
    subscriptions.add(Schema::trades, list_of(SymbolType::raw_symbol, {aapl_call}));
    subscriptions.add(Schema::trades, list_of(SymbolType::instrument_id, {"1"}));
    EXPECT_THAT(subscriptions.remove(Schema::trades, list_of(SymbolType::instrument_id, {"1"})).ids,
                IsEmpty());
    const auto gone =
        subscriptions.remove(Schema::trades, list_of(SymbolType::parent, {"AAPL.OPT"})).ids;
    EXPECT_THAT(gone, testing::Not(testing::Contains(1U)));
    EXPECT_FALSE(gone.empty());
    EXPECT_THAT(followed(Schema::trades), ElementsAre(1U));
    subscriptions.add(Schema::trades, everything());
    EXPECT_THAT(
        subscriptions.remove(Schema::trades, list_of(SymbolType::raw_symbol, {aapl_call})).ids,
        IsEmpty());
    EXPECT_TRUE(subscriptions.remove(Schema::trades, everything()).everything);
    EXPECT_THAT(followed(Schema::trades), IsEmpty());
}

TEST_F(SubscriptionsTest, end_with_their_object) {
    {
        Recorder other;
        Subscriptions gone{other, market, key, served};
        gone.add(Schema::trades, everything());
        gone.add(Schema::tcbbo, list_of(SymbolType::parent, {"AAPL.OPT"}));
        EXPECT_EQ(followed(Schema::trades).size(), 5U);
    }
    EXPECT_THAT(followed(Schema::trades), IsEmpty());
    EXPECT_THAT(followed(Schema::tcbbo), IsEmpty());
}

// --- state that was asked for ---

class StateJobsTest : public testing::Test {
  protected:
    std::optional<Schema> work(std::size_t series_max) {
        return jobs.work(series_max,
                         [this](Schema schema, InstrumentId id) { sent.emplace_back(schema, id); });
    }

    using Sent = std::pair<Schema, InstrumentId>;

    static constexpr InstrumentId end = 100;
    StateJobs jobs;
    std::vector<Sent> sent;
};

TEST_F(StateJobsTest, send_series_by_series_and_report_the_end_of_a_replay) {
    jobs.add(Schema::definition, {false, {3, 5, 9}}, end, true);
    EXPECT_TRUE(jobs.replays(Schema::definition));
    EXPECT_EQ(work(2), std::nullopt);
    EXPECT_THAT(sent, ElementsAre(Sent{Schema::definition, 3}, Sent{Schema::definition, 5}));
    EXPECT_EQ(work(2), Schema::definition);
    EXPECT_EQ(sent.back(), (Sent{Schema::definition, 9}));
    EXPECT_TRUE(jobs.empty());
    EXPECT_FALSE(jobs.replays(Schema::definition));
    EXPECT_EQ(work(2), std::nullopt);
    EXPECT_EQ(sent.size(), 3U);
}

TEST_F(StateJobsTest, schemas_take_turns) {
    jobs.add(Schema::definition, {false, {3, 5}}, end, false);
    jobs.add(Schema::cmbp_1, {false, {4, 6}}, end, false);
    for (int i = 0; i < 4; ++i) {
        work(1);
    }
    EXPECT_THAT(sent, ElementsAre(Sent{Schema::cmbp_1, 4}, Sent{Schema::definition, 3},
                                  Sent{Schema::cmbp_1, 6}, Sent{Schema::definition, 5}));
}

TEST_F(StateJobsTest, a_replay_of_nothing_is_complete_and_two_are_two) {
    jobs.add(Schema::statistics, {false, {}}, end, true);
    jobs.add(Schema::statistics, {false, {}}, end, true);
    EXPECT_EQ(work(1), Schema::statistics);
    EXPECT_EQ(work(1), Schema::statistics);
    EXPECT_EQ(work(1), std::nullopt);
    EXPECT_TRUE(jobs.empty());
}

TEST_F(StateJobsTest, send_early_what_is_still_to_come_and_only_once) {
    jobs.add(Schema::cmbp_1, {false, {3, 5, 9}}, end, false);
    EXPECT_FALSE(jobs.take_early(Schema::cmbp_1, 4));
    EXPECT_FALSE(jobs.take_early(Schema::trades, 5));
    EXPECT_TRUE(jobs.take_early(Schema::cmbp_1, 5));
    EXPECT_FALSE(jobs.take_early(Schema::cmbp_1, 5));
    work(1);
    EXPECT_FALSE(jobs.take_early(Schema::cmbp_1, 3));
    work(100);
    EXPECT_THAT(sent, ElementsAre(Sent{Schema::cmbp_1, 3}, Sent{Schema::cmbp_1, 9}));
    EXPECT_FALSE(jobs.take_early(Schema::cmbp_1, 9));
}

TEST_F(StateJobsTest, of_everything_go_over_all_ids) {
    jobs.add(Schema::definition, {true, {}}, 5, true);
    EXPECT_EQ(work(2), std::nullopt);
    EXPECT_TRUE(jobs.take_early(Schema::definition, 4));
    EXPECT_FALSE(jobs.take_early(Schema::definition, 2));
    EXPECT_EQ(work(3), Schema::definition);
    EXPECT_THAT(sent, ElementsAre(Sent{Schema::definition, 1}, Sent{Schema::definition, 2},
                                  Sent{Schema::definition, 3}));
}

TEST_F(StateJobsTest, added_again_continue_where_they_are) {
    jobs.add(Schema::cmbp_1, {true, {}}, 6, false);
    work(3);
    jobs.add(Schema::cmbp_1, {true, {}}, 6, false);
    jobs.add(Schema::cmbp_1, 9);
    sent.clear();
    work(100);
    EXPECT_THAT(sent, ElementsAre(Sent{Schema::cmbp_1, 4}, Sent{Schema::cmbp_1, 5},
                                  Sent{Schema::cmbp_1, 9}, Sent{Schema::cmbp_1, 1},
                                  Sent{Schema::cmbp_1, 2}, Sent{Schema::cmbp_1, 3}));
}

TEST_F(StateJobsTest, leave_out_what_is_not_followed_any_more) {
    jobs.add(Schema::cmbp_1, {false, {3, 5, 9}}, end, false);
    jobs.add(Schema::mbp_1, 7);
    jobs.remove(Schema::cmbp_1, {false, {3, 9, 11, 4000}});
    work(100);
    work(100);
    EXPECT_THAT(sent, ElementsAre(Sent{Schema::cmbp_1, 5}, Sent{Schema::mbp_1, 7}));
    EXPECT_TRUE(jobs.empty());
    jobs.add(Schema::cmbp_1, {true, {}}, end, false);
    jobs.remove(Schema::cmbp_1, {true, {}});
    EXPECT_TRUE(jobs.empty());
}

TEST_F(StateJobsTest, all_series_count_once) {
    jobs.add(Schema::cmbp_1, 2);
    jobs.add(Schema::cmbp_1, {true, {}}, 4, false);
    jobs.add(Schema::cmbp_1, {true, {}}, 1, false);  // no series is known yet
    work(100);
    EXPECT_EQ(sent.size(), 3U);
    EXPECT_TRUE(jobs.empty());
}

TEST_F(StateJobsTest, can_be_dropped) {
    jobs.add(Schema::cmbp_1, {false, {3}}, end, true);
    jobs.clear();
    EXPECT_TRUE(jobs.empty());
    EXPECT_FALSE(jobs.take_early(Schema::cmbp_1, 3));
    work(1);
    EXPECT_TRUE(sent.empty());
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
