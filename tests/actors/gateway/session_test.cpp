// path: cold
//
// Sessions as their clients see them.
#include "actors/gateway/session.h"

#include "actors/gateway/limits.h"
#include "config/time_units.h"
#include "tests/actors/gateway/session_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

using Texts = std::vector<std::string>;

const std::string all_trades = "schema=trades|stype_in=raw_symbol|symbols=ALL_SYMBOLS|id=0";

// --- login ---

TEST_F(SessionTest, the_greeting_is_two_lines_with_a_new_challenge) {
    const std::string greeting = scene.read_text();
    EXPECT_THAT(greeting, MatchesRegex("lsg_version=[^|\n]+\ncram=[A-Za-z0-9]{32}\n"));
    SessionScene other{host};
    EXPECT_EQ(other.session.output().queue().next().size(), greeting.size());  // in one write
    EXPECT_NE(other.read_text(), greeting);
}

TEST_F(SessionTest, the_right_key_opens_the_session) {
    EXPECT_EQ(scene.log_in(), "success=1|session_id=17\n");
    EXPECT_EQ(scene.session.phase(), Session::Phase::subscribing);
    ASSERT_NE(scene.session.subscriptions(), nullptr);
    EXPECT_EQ(scene.session.key().user, "first");
    EXPECT_EQ(scene.session.origin().number, 17U);
    EXPECT_EQ(scene.session.origin().address, "192.0.2.1");
}

TEST_F(SessionTest, a_wrong_key_ends_it) {
    EXPECT_EQ(scene.log_in("db-00000000000000000000000000000"),
              "success=0|error=CRAM authentication failed\n");
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
    EXPECT_EQ(scene.session.ending(), SessionEnding::login);
    EXPECT_EQ(scene.session.subscriptions(), nullptr);
    scene.say(all_trades);
    scene.say("start_session=0");
    EXPECT_EQ(scene.read_text(), "");
}

TEST_F(SessionTest, an_answer_to_another_challenge_is_refused) {
    SessionScene other{host};
    const std::string greeting = other.read_text();
    scene.read_text();
    scene.say("auth=" + answer_of(greeting.substr(greeting.find("cram=") + 5, 32), first_key));
    EXPECT_THAT(scene.read_text(), StartsWith("success=0|error="));
}

TEST_F(SessionTest, a_wrong_login_line_is_refused_with_its_key) {
    EXPECT_THAT(scene.log_in(first_key, "|ts_out=2"), StartsWith("success=0|error=ts_out: "));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, texts_of_clients_cannot_add_pairs_or_lines_to_an_answer) {
    scene.read_text();
    scene.say("auth=x|heartbeat_interval_s=a\tb\x01 c=d");
    const std::string answer = scene.read_text();
    EXPECT_THAT(answer, StartsWith("success=0|error=heartbeat_interval_s: "));
    EXPECT_EQ(std::count(answer.begin(), answer.end(), '|'), 1);
    EXPECT_EQ(answer.find('\n'), answer.size() - 1);
}

TEST_F(SessionTest, a_user_has_at_most_the_sessions_of_its_key) {
    host.sessions["limited"] = 1;
    EXPECT_THAT(scene.log_in(limited_key),
                StartsWith("success=0|error=User has reached their open connection limit"));
    EXPECT_EQ(scene.session.ending(), SessionEnding::limit);
    SessionScene other{host};
    EXPECT_THAT(other.log_in(first_key), StartsWith("success=1|"));
    host.sessions["limited"] = 0;
    SessionScene third{host};
    EXPECT_THAT(third.log_in(limited_key), StartsWith("success=1|"));
}

TEST_F(SessionTest, a_login_takes_10_seconds_at_most) {
    scene.read_text();
    scene.step(login_ns_max);
    EXPECT_EQ(scene.read_text(), "");
    scene.step(1);
    EXPECT_THAT(scene.read_text(), StartsWith("success=0|error="));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, lines_come_in_any_pieces_and_with_either_line_end) {
    scene.log_in();
    for (const char letter : all_trades + "\r\nstart_session\r\n") {
        scene.session.read(std::string{letter}, scene.now_ns);
    }
    EXPECT_EQ(scene.read_metadata().size(), feed::dbn::metadata_bytes);
    EXPECT_THAT(scene.read(),
                ElementsAre("system 1: Subscription request 0 for trades data succeeded"));
}

// --- start ---

TEST_F(SessionTest, acknowledgements_wait_for_the_start_and_follow_the_metadata) {
    scene.log_in();
    scene.say("schema=cmbp-1|symbols=AAPL  261218C00250000|id=4|is_last=1");
    scene.say("schema=trades|stype_in=parent|symbols=AAPL.OPT|id=5|is_last=0");
    scene.say("schema=trades|stype_in=parent|symbols=SPY.OPT|id=5|is_last=1");
    scene.step(second_ns);
    EXPECT_EQ(scene.read_text(), "");
    scene.say("start_session");
    const auto metadata = feed::dbn::live_metadata("OPRA.PILLAR", scene.now_ns, false);
    EXPECT_EQ(scene.read_metadata(), std::vector(metadata.begin(), metadata.end()));
    const auto records = scene.read_records();
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].text(), "system 1: Subscription request 4 for cmbp-1 data succeeded");
    EXPECT_EQ(records[1].text(), "system 1: Subscription request 5 for trades data succeeded");
    const auto header = records[0].as<feed::dbn::RecordHeader>();
    EXPECT_EQ(header.publisher, 0U);
    EXPECT_EQ(header.instrument, 0U);
    EXPECT_EQ(header.event_ns, static_cast<std::uint64_t>(scene.now_ns));
    EXPECT_EQ(header.length, 80U);
}

TEST_F(SessionTest, records_come_only_after_the_start) {
    scene.log_in();
    scene.say(all_trades);
    trade(1);
    EXPECT_EQ(scene.read_text(), "");
    scene.say("start_session=0");
    scene.read_metadata();
    scene.read();
    trade(1);
    EXPECT_THAT(
        scene.read(),
        ElementsAre("map 1: raw_symbol AAPL  261218C00250000, AAPL  261218C00250000", "trade 1"));
}

TEST_F(SessionTest, a_subscription_after_the_start_applies_at_once) {
    scene.start();
    trade(1);
    EXPECT_THAT(scene.read(), IsEmpty());
    scene.say("schema=trades|stype_in=parent|symbols=AAPL.OPT|id=3");
    trade(1);
    trade(2, "SPY");
    EXPECT_THAT(scene.read(),
                ElementsAre("system 1: Subscription request 3 for trades data succeeded",
                            "map 1: parent AAPL.OPT, AAPL  261218C00250000", "trade 1"));
}

TEST_F(SessionTest, a_fatal_error_before_the_start_is_held_until_the_client_reads) {
    scene.log_in();
    scene.say(all_trades);
    scene.say("schema=nonsense|symbols=ALL_SYMBOLS");
    scene.step(start_ns_max - 1);
    EXPECT_EQ(scene.read_text(), "");
    EXPECT_EQ(scene.session.phase(), Session::Phase::subscribing);
    scene.say("start_session=0");
    EXPECT_EQ(scene.read_metadata().size(), feed::dbn::metadata_bytes);
    const Texts texts = scene.read();
    ASSERT_EQ(texts.size(), 2U);
    EXPECT_THAT(texts[1], StartsWith("error 5: schema: found \"nonsense\", expected one of "));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
    EXPECT_EQ(scene.session.ending(), SessionEnding::request);
    const SessionCounters& counters = scene.session.output().counters();
    EXPECT_EQ(counters.read(SessionCount::refusals), 1U);
    EXPECT_EQ(counters.read(SessionCount::subscriptions), 1U);
}

TEST_F(SessionTest, a_held_error_is_sent_without_a_start_after_a_time) {
    scene.log_in();
    scene.say("schema=nonsense|symbols=ALL_SYMBOLS");
    scene.step(start_ns_max);
    EXPECT_EQ(scene.read_metadata().size(), feed::dbn::metadata_bytes);
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("error 5: schema: ")));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, a_restart_ends_a_session_whose_error_waits_for_the_start) {
    scene.log_in();
    scene.say("schema=nonsense|symbols=ALL_SYMBOLS");
    scene.session.end(SessionEnding::shutdown, ErrorCode::internal, "Internal error: restart");
    scene.read_metadata();
    EXPECT_THAT(scene.read(), ElementsAre("error 6: Internal error: restart"));
    scene.step(start_ns_max);
    EXPECT_EQ(scene.read_text(), "");
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, a_restart_is_reported_to_clients_that_have_not_started) {
    scene.log_in();
    scene.session.end(SessionEnding::shutdown, ErrorCode::internal, "Internal error: restart");
    EXPECT_EQ(scene.read_metadata().size(), feed::dbn::metadata_bytes);
    EXPECT_THAT(scene.read(), ElementsAre("error 6: Internal error: restart"));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, a_feed_that_is_lost_is_reported_at_the_start) {
    host.problem = "Internal error: the feed day is dead";
    scene.start(all_trades);
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("system 1: "), "error 6: " + host.problem));
}

TEST_F(SessionTest, a_second_start_ends_the_session) {
    scene.start();
    scene.say("start_session=0");
    EXPECT_THAT(scene.read(), ElementsAre("error 5: found a second start_session"));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, a_start_time_is_refused_for_schemas_without_state) {
    for (const std::string schema : {"trades", "cmbp-1", "ohlcv-1s", "cbbo-1m"}) {
        SessionScene other{host};
        other.start();
        other.say("schema=" + schema + "|symbols=ALL_SYMBOLS|start=0");
        EXPECT_THAT(other.read(), ElementsAre(AllOf(StartsWith("error 5: start: "),
                                                    HasSubstr("schema " + schema))));
        EXPECT_EQ(other.session.phase(), Session::Phase::ended);
    }
}

TEST_F(SessionTest, a_start_time_is_nanoseconds_or_iso_8601) {
    for (const std::string start :
         {"0", "1795791600000000000", "2026-11-27T14:30:00", "2026-11-27T14:30:00Z",
          "2026-11-27T14:30:00.5", "2026-11-27T14:30:00.123456789Z"}) {
        SessionScene other{host};
        other.start();
        other.say("schema=definition|symbols=ALL_SYMBOLS|start=" + start);
        EXPECT_THAT(other.read(), ElementsAre(StartsWith("system 1: "))) << start;
    }
    for (const std::string start :
         {"", "soon", "-1", "2026-11-27", "2026-11-27T14:30:00+1", "1x", "2026-11-27T14:30:00Z1",
          "2026-11-27T14:30:00.x", "9999-11-27T14:30:00", "1960-11-27T14:30:00",
          "99999999999999999999"}) {
        SessionScene other{host};
        other.start();
        other.say("schema=definition|symbols=ALL_SYMBOLS|start=" + start);
        EXPECT_THAT(other.read(), ElementsAre(StartsWith("error 5: start: found "))) << start;
    }
}

TEST_F(SessionTest, a_key_has_a_number_of_subscription_lines) {
    scene.log_in(limited_key);
    scene.say("start_session=0");
    scene.read_metadata();
    const std::string line = "schema=trades|stype_in=parent|symbols=AAPL.OPT|id=1";
    for (int i = 0; i < 3; ++i) {
        scene.say(line);
    }
    EXPECT_EQ(scene.read().size(), 3U);
    scene.say(line);
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("error 5: the key's limit subscriptions")));
    EXPECT_EQ(scene.session.ending(), SessionEnding::limit);
}

TEST_F(SessionTest, symbols_are_counted_before_the_start_too) {
    scene.log_in();
    std::string symbols;
    for (unsigned i = 0; i < symbols_max; ++i) {
        symbols += fmt::format("{}R{:03}.OPT", symbols.empty() ? "" : ",", i % 1000);
    }
    for (std::size_t i = 0; i <= session_symbols_max / symbols_max + 1; ++i) {
        scene.say("schema=trades|stype_in=parent|symbols=" + symbols + "|is_last=0");
    }
    scene.say("start_session=0");
    scene.read_metadata();
    EXPECT_THAT(scene.read(), ElementsAre(StartsWith("error 5: a session may name 50000 symbols")));
    EXPECT_EQ(scene.session.ending(), SessionEnding::limit);
    SessionScene other{host};
    other.log_in();
    for (std::size_t i = 0; i <= session_symbols_max / symbols_max + 1; ++i) {
        other.say("unsubscribe|schema=trades|stype_in=parent|symbols=" + symbols);
    }
    EXPECT_EQ(other.session.phase(), Session::Phase::subscribing);
    other.step(start_ns_max);
    EXPECT_EQ(other.session.ending(), SessionEnding::limit);
}

TEST_F(SessionTest, a_call_reads_some_lines_and_the_next_steps_read_the_others) {
    scene.start();
    std::string lines;
    for (unsigned i = 0; i < 2 * lines_each_step + 1; ++i) {
        lines += all_trades + "\n";
    }
    scene.session.read(lines + "schema=tra", scene.now_ns);
    EXPECT_EQ(scene.read().size(), lines_each_step);
    EXPECT_TRUE(scene.session.has_lines());
    scene.step();
    EXPECT_EQ(scene.read().size(), lines_each_step);
    EXPECT_TRUE(scene.session.has_lines());
    scene.step();
    EXPECT_EQ(scene.read().size(), 1U);
    EXPECT_FALSE(scene.session.has_lines());
    scene.say("des|symbols=ALL_SYMBOLS|id=9");
    EXPECT_THAT(scene.read(), ElementsAre(HasSubstr("request 9 for trades")));
}

TEST_F(SessionTest, a_line_of_more_than_256_kib_ends_the_session) {
    scene.start();
    const std::string half(line_bytes_max / 2, 'x');
    scene.session.read(half, scene.now_ns);
    scene.session.read(half, scene.now_ns);
    EXPECT_EQ(scene.session.phase(), Session::Phase::started);
    scene.session.read("x", scene.now_ns);
    EXPECT_THAT(scene.read(), ElementsAre("error 5: found a line of more than 262144 bytes"));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, a_line_before_the_login_is_limited_too) {
    scene.read_text();
    scene.session.read(std::string(login_bytes_max, 'x'), scene.now_ns);
    EXPECT_EQ(scene.session.phase(), Session::Phase::login);
    scene.session.read("x", scene.now_ns);
    EXPECT_THAT(scene.read_text(), StartsWith("success=0|error="));
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
}

// --- symbols ---

TEST_F(SessionTest, a_symbol_that_cannot_be_resolved_does_not_end_the_session) {
    scene.start();
    scene.say("schema=trades|stype_in=parent|symbols=AAPL.OPT,AAPL,SPY.FUT|id=2");
    const Texts texts = scene.read();
    ASSERT_EQ(texts.size(), 3U);
    EXPECT_THAT(texts[0], StartsWith("error 4: Failed to resolve symbol \"AAPL\""));
    EXPECT_THAT(texts[1], StartsWith("error 4: Failed to resolve symbol \"SPY.FUT\""));
    EXPECT_THAT(texts[2], StartsWith("system 1: "));
    EXPECT_EQ(scene.session.phase(), Session::Phase::started);
    trade(1);
    EXPECT_EQ(scene.read().size(), 2U);
}

TEST_F(SessionTest, of_many_wrong_symbols_some_are_reported_and_the_number_of_the_others) {
    scene.start();
    std::string symbols = "X0";
    for (int i = 1; i < 100; ++i) {
        symbols += ",X" + std::to_string(i);
    }
    scene.say("schema=trades|stype_in=parent|symbols=" + symbols + "|is_last=0");
    const auto records = scene.read_records();
    ASSERT_EQ(records.size(), 16U);
    EXPECT_EQ(records[0].as<feed::dbn::ErrorRecord>().is_last, 0U);
    EXPECT_EQ(records[15].as<feed::dbn::ErrorRecord>().is_last, 1U);
    EXPECT_EQ(
        records[15].text(),
        "error 4: Failed to resolve symbol \"X15\": expected a root and .OPT, such as AAPL.OPT; "
        "and 84 more symbols of this line");
    EXPECT_EQ(scene.session.output().counters().read(SessionCount::refusals), 100U);
}

TEST_F(SessionTest, each_series_is_mapped_once_before_its_first_record) {
    scene.start("schema=trades|stype_in=parent|symbols=AAPL.OPT|id=0");
    scene.say("schema=cmbp-1|symbols=aapl  261218C00250000|id=1");
    scene.read();
    quote(1);
    trade(1);
    trade(1);
    EXPECT_THAT(scene.read(),
                ElementsAre("map 1: raw_symbol AAPL  261218C00250000, AAPL  261218C00250000",
                            "cmbp-1 1", "trade 1", "cmbp-1 1", "trade 1", "cmbp-1 1"));
    apply(events.trade(key_of(2, "AAPL", 'P'), 100, 1));
    EXPECT_THAT(scene.read(),
                ElementsAre("map 2: parent AAPL.OPT, AAPL  261218P00250000", "trade 2"));
}

TEST_F(SessionTest, an_unsubscription_is_acknowledged_and_ends_the_records) {
    scene.start(all_trades);
    trade(1);
    scene.read();
    scene.say("unsubscribe|schema=trades|stype_in=raw_symbol|symbols=ALL_SYMBOLS|is_last=1");
    EXPECT_THAT(scene.read(),
                ElementsAre("system 5: Unsubscription request for trades data succeeded"));
    trade(1);
    EXPECT_THAT(scene.read(), IsEmpty());
}

// --- ends ---

TEST_F(SessionTest, an_end_with_a_text_is_an_error_record) {
    scene.start(all_trades);
    scene.read();
    scene.session.end(SessionEnding::shutdown, ErrorCode::internal, "Internal error: a|b\nc");
    EXPECT_THAT(scene.read(), ElementsAre("error 6: Internal error: a b c"));
    EXPECT_EQ(scene.session.ending(), SessionEnding::shutdown);
    trade(1);
    scene.step(100 * second_ns);
    EXPECT_THAT(scene.read(), IsEmpty());
    scene.session.end(SessionEnding::slow, ErrorCode::internal, "again");
    EXPECT_THAT(scene.read(), IsEmpty());
    EXPECT_EQ(scene.session.ending(), SessionEnding::shutdown);
}

TEST_F(SessionTest, an_end_without_a_text_sends_nothing) {
    scene.start(all_trades);
    scene.read();
    scene.session.end(SessionEnding::shutdown, ErrorCode::internal, "");
    EXPECT_THAT(scene.read(), IsEmpty());
    EXPECT_EQ(scene.session.phase(), Session::Phase::ended);
    SessionScene early{host};
    early.log_in();
    early.session.end(SessionEnding::shutdown, ErrorCode::internal, "");
    EXPECT_EQ(early.read_text(), "");
    EXPECT_EQ(early.session.phase(), Session::Phase::ended);
}

TEST_F(SessionTest, an_end_without_a_text_drops_an_error_that_waits_for_the_start) {
    scene.log_in();
    scene.say("schema=nonsense|symbols=ALL_SYMBOLS");
    scene.session.end(SessionEnding::shutdown, ErrorCode::internal, "");
    scene.step(start_ns_max);
    EXPECT_EQ(scene.read_text(), "");
    EXPECT_EQ(scene.session.ending(), SessionEnding::shutdown);
}

TEST_F(SessionTest, a_report_goes_to_clients_that_have_started) {
    scene.log_in();
    scene.session.report(ErrorCode::skipped, "too early");
    EXPECT_EQ(scene.read_text(), "");
    scene.say("start_session=0");
    scene.read_metadata();
    scene.session.report(ErrorCode::skipped, "Slow client detected for a test");
    EXPECT_THAT(scene.read(), ElementsAre("error 7: Slow client detected for a test"));
    EXPECT_EQ(scene.session.phase(), Session::Phase::started);
}

TEST_F(SessionTest, a_client_that_stays_behind_by_more_than_its_queue_ends) {
    host.the_config.queue_bytes = std::size_t{100} << 10;
    scene.start(all_trades);
    scene.read();
    for (int i = 0; i < 3000; ++i) {
        trade(1);
    }
    scene.step(1);
    const Texts texts = scene.read();
    ASSERT_GT(texts.size(), 2000U);
    EXPECT_THAT(texts.back(), AllOf(StartsWith("error 6: Internal error: "), HasSubstr("102400")));
    EXPECT_EQ(scene.session.ending(), SessionEnding::slow);
}

TEST_F(SessionTest, a_session_that_is_destroyed_gets_no_records) {
    auto gone = std::make_unique<SessionScene>(host);
    gone->start(all_trades);
    EXPECT_TRUE(host.the_market.interests().wants(Schema::trades, Instrument{}));
    gone.reset();
    EXPECT_FALSE(host.the_market.interests().wants(Schema::trades, Instrument{}));
    trade(1);
}

// --- forms of the output ---

TEST_F(SessionTest, with_ts_out_each_record_ends_with_the_time_of_sending) {
    scene.log_in(first_key, "|ts_out=1");
    scene.say(all_trades);
    scene.say("start_session=0");
    const auto metadata = feed::dbn::live_metadata("OPRA.PILLAR", scene.now_ns, true);
    EXPECT_EQ(scene.read_metadata(), std::vector(metadata.begin(), metadata.end()));
    scene.step(5);
    trade(1);
    const auto records = scene.read_records();
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[0].bytes.size(), 328U);
    EXPECT_EQ(records[1].bytes.size(), 184U);
    EXPECT_EQ(records[2].bytes.size(), 56U);
    std::uint64_t sent_ns = 0;
    std::memcpy(&sent_ns, &records[2].bytes[48], sizeof sent_ns);
    EXPECT_EQ(sent_ns, static_cast<std::uint64_t>(scene.now_ns));
}

TEST_F(SessionTest, compression_begins_with_the_metadata_even_if_the_login_still_waits) {
    const std::string greeting = scene.read_text();
    scene.challenge = greeting.substr(greeting.find("cram=") + 5, challenge_bytes);
    scene.say("auth=" + answer_of(scene.challenge, first_key) + "|compression=zstd");
    const std::string answer = "success=1|session_id=17\n";
    auto sending = scene.session.output().queue().next();
    ASSERT_EQ(sending.size(), answer.size());
    scene.say(all_trades);
    scene.say("start_session=0");
    trade(1);
    scene.session.output().queue().sent(sending.size());
    Decompressor decompress;
    const auto bytes = decompress(drain(scene.session.output().queue(), 7));
    EXPECT_FALSE(decompress.failed());
    ASSERT_GT(bytes.size(), feed::dbn::metadata_bytes);
    const auto metadata = feed::dbn::live_metadata("OPRA.PILLAR", scene.now_ns, false);
    EXPECT_TRUE(std::equal(metadata.begin(), metadata.end(), bytes.begin()));
    const auto records = split_records({bytes.begin() + feed::dbn::metadata_bytes, bytes.end()});
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 3U);
    EXPECT_EQ(records->back().text(), "trade 1");
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
