// path: cold
//
// The state that a session asks for, and the ends of intervals.
#include "config/time_units.h"
#include "tests/actors/gateway/session_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pinstrike::actors::gateway::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using SessionStateTest = SessionTest;

TEST_F(SessionStateTest, a_snapshot_comes_before_the_first_live_record_of_its_series) {
    for (const InstrumentId id : {1U, 2U}) {
        quote(id, id == 1 ? "AAPL" : "SPY");
    }
    scene.start("schema=cmbp-1|symbols=ALL_SYMBOLS|snapshot=1|id=0");
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("system 1: ")));
    quote(2, "SPY");
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 2: "), "cmbp-1 2, snapshot", "cmbp-1 2"));
    scene.step();
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 1: "), "cmbp-1 1, snapshot"));
    quote(1);
    EXPECT_THAT(scene.read(), ElementsAre("cmbp-1 1"));
}

TEST_F(SessionStateTest, a_start_for_definitions_lists_the_series_and_says_when_it_ends) {
    quote(1);
    quote(2, "SPY");
    quote(3, "SPY");
    scene.start("schema=definition|stype_in=parent|symbols=SPY.OPT|start=0|id=0");
    scene.read();
    scene.step();
    EXPECT_THAT(scene.read(),
                ElementsAre(StartsWith("map 2: "), "definition 2", StartsWith("map 3: "),
                            "definition 3", "system 3: Finished definition replay"));
    scene.step();
    EXPECT_THAT(scene.read(), IsEmpty());
}

TEST_F(SessionStateTest, a_start_for_statistics_has_the_open_interest) {
    pinstrike_record interest = events.event_of(PINSTRIKE_OPEN_INTEREST, key_of(1), 'N', ' ');
    interest.of.open_interest.contracts = 12;
    apply(interest);
    quote(2, "SPY");
    scene.start("schema=statistics|symbols=ALL_SYMBOLS|start=1795791600000000000|id=0");
    scene.read();
    scene.step();
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 1: "), "statistics 1",
                                          "system 3: Finished statistics replay"));
}

TEST_F(SessionStateTest, state_is_sent_in_steps_at_the_pace_of_the_client) {
    for (InstrumentId id = 1; id <= 1000; ++id) {
        ASSERT_TRUE(host.the_market.apply(events.quote(
            key_of(id, "AAPL", 'C', id * std::int64_t{100'000'000}), no_best(), no_best())));
    }
    scene.start("schema=definition|symbols=ALL_SYMBOLS|start=0|id=0");
    scene.read();
    scene.step();
    const std::size_t once = scene.session.output().queue().records_appended();
    scene.step();  // the queue is not current
    EXPECT_EQ(scene.session.output().queue().records_appended(), once);
    std::size_t definitions = 0;
    for (int i = 0; i < 5; ++i) {
        for (const std::string& text : scene.read()) {
            definitions += text.starts_with("definition ") ? 1 : 0;
        }
        scene.step();
    }
    EXPECT_EQ(definitions, 1000U);
}

TEST_F(SessionStateTest, definitions_of_many_new_series_wait_for_the_client) {
    host.the_config.queue_bytes = std::size_t{512} << 10;
    scene.start("schema=definition|symbols=ALL_SYMBOLS|id=0");
    scene.read();
    for (InstrumentId id = 1; id <= 5000; ++id) {
        apply(events.quote(key_of(id, "AAPL", 'C', id * std::int64_t{100'000'000}), no_best(),
                           no_best()));
    }
    std::size_t definitions = 0;
    for (int i = 0; i < 20; ++i) {
        scene.step();
        EXPECT_LE(scene.session.output().queue().bytes(), host.the_config.queue_bytes);
        for (const std::string& text : scene.read()) {
            definitions += text.starts_with("definition ") ? 1 : 0;
        }
    }
    EXPECT_EQ(definitions, 5000U);
    EXPECT_EQ(scene.session.phase(), Session::Phase::started);
}

TEST_F(SessionStateTest, a_replay_waits_for_the_state_of_the_feed) {
    FakeHost early{false};
    SessionScene first{early};
    first.start("schema=definition|symbols=ALL_SYMBOLS|start=0|id=0");
    first.read();
    first.step();
    EXPECT_THAT(first.read(), IsEmpty());
    ASSERT_TRUE(early.the_market.apply(events.quote(key_of(1), no_best(), no_best())));
    ASSERT_TRUE(early.the_market.take_state({}));
    first.session.send_states(nullptr);
    first.step();
    EXPECT_THAT(first.read(), ElementsAre(StartsWith("map 1: "), "definition 1",
                                          "system 3: Finished definition replay"));
}

TEST_F(SessionStateTest, a_replay_goes_on_when_values_are_sent_again) {
    quote(1);
    quote(2);
    scene.start("schema=definition|symbols=ALL_SYMBOLS|start=0|id=0");
    scene.read();
    scene.session.send_states(nullptr);
    scene.step();
    EXPECT_EQ(scene.read().back(), "system 3: Finished definition replay");
}

TEST_F(SessionStateTest, an_unsubscription_ends_the_state_that_is_to_come) {
    quote(1);
    quote(2, "SPY");
    scene.start("schema=cmbp-1|stype_in=parent|symbols=AAPL.OPT,SPY.OPT|snapshot=1|id=0");
    scene.read();
    scene.say("unsubscribe|schema=cmbp-1|stype_in=parent|symbols=AAPL.OPT");
    scene.read();
    scene.step();
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 2: "), "cmbp-1 2, snapshot"));
}

TEST_F(SessionStateTest, state_counts_for_the_rate_of_the_key) {
    host.client_keys[0].records_per_second = 10;
    for (InstrumentId id = 1; id <= 20; ++id) {
        apply(events.quote(key_of(id, "AAPL", 'C', id * std::int64_t{100'000'000}), no_best(),
                           no_best()));
    }
    scene.start("schema=cmbp-1|symbols=ALL_SYMBOLS|snapshot=1|id=0");
    scene.read();
    for (int second = 0; second < 4; ++second) {
        for (int i = 0; i < 5; ++i) {
            scene.step();
        }
        EXPECT_EQ(scene.read().size(), 10U) << second;  // of five series, with their mappings
        scene.step(second_ns);
    }
    EXPECT_THAT(scene.read(), IsEmpty());
}

TEST_F(SessionStateTest, the_lowest_rate_has_state_too) {
    host.client_keys[0].records_per_second = 1;
    quote(1);
    quote(2);
    scene.start("schema=definition|symbols=ALL_SYMBOLS|start=0|id=0");
    scene.read();
    scene.step();
    scene.step();
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 1: "), "definition 1"));
    scene.step(second_ns);
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 2: "), "definition 2",
                                          "system 3: Finished definition replay"));
}

TEST_F(SessionStateTest, after_records_were_skipped_the_values_of_their_series_follow) {
    host.client_keys[0].records_per_second = 4;
    scene.start("schema=cmbp-1|symbols=ALL_SYMBOLS|id=0");
    scene.read();
    for (const InstrumentId id : {1U, 2U, 3U, 3U}) {
        quote(id);
    }
    EXPECT_EQ(scene.read().size(), 4U);  // of two series, with their mappings
    scene.step(second_ns);
    EXPECT_THAT(scene.read(), ElementsAre(HasSubstr(": 2 records skipped"), StartsWith("map 3: "),
                                          "cmbp-1 3, snapshot"));
}

TEST_F(SessionStateTest, values_are_sent_again_after_the_feed_was_read_anew) {
    quote(1);
    scene.start("schema=cmbp-1|stype_in=parent|symbols=AAPL.OPT|id=0");
    scene.say("schema=trades|stype_in=parent|symbols=AAPL.OPT|id=1");
    scene.read();
    scene.session.send_states(nullptr);
    scene.step();
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 1: "), "cmbp-1 1, snapshot"));
}

TEST_F(SessionStateTest, values_are_sent_again_of_the_series_of_one_core) {
    for (InstrumentId id = 1; id <= 3; ++id) {
        quote(id);
        host.the_market.instruments().find(id)->core = id == 2 ? 1 : 0;
    }
    scene.start("schema=cmbp-1|symbols=ALL_SYMBOLS|id=0");
    SessionScene other{host};
    other.start("schema=mbp-1|stype_in=parent|symbols=AAPL.OPT|id=0");
    scene.read();
    other.read();
    host.the_market.begin_state(1);
    const CoreSeries of_core = host.the_market.end_state(1);
    EXPECT_THAT(of_core.ids, ElementsAre(2U));
    scene.session.send_states(&of_core);
    other.session.send_states(&of_core);
    scene.step();
    other.step();
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("map 2: "), "cmbp-1 2, snapshot"));
    EXPECT_THAT(other.read(), ElementsAre(StartsWith("map 2: "), "mbp-1 2, snapshot"));
}

TEST_F(SessionStateTest, the_end_of_an_interval_follows_its_records_with_its_time) {
    scene.start("schema=cbbo-1s|symbols=ALL_SYMBOLS|id=0");
    scene.read();
    quote(1);
    host.the_market.advance(hour_begin_ns + second_ns);
    const auto records = scene.read_records();
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[1].text(), "cbbo-1s 1");
    EXPECT_EQ(records[2].text(), "system 4: End of interval for cbbo-1s");
    EXPECT_EQ(records[2].as<feed::dbn::RecordHeader>().event_ns,
              static_cast<std::uint64_t>(hour_begin_ns + second_ns));
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
