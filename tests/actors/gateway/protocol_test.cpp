// path: cold
//
// Lines as the clients send them, and wrong ones.
#include "actors/gateway/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using feed::dbn::Schema;
using feed::dbn::SymbolType;
using testing::ElementsAre;
using testing::StartsWith;

constexpr const char* answer =
    "95cad725e086ab9340d3b45218de9ac388e82143fae83490b9800589bcee7617-89abc";

Request subscription_of(const std::string& line) {
    const Parsed<Request> parsed = parse_request(line);
    EXPECT_TRUE(parsed.value) << parsed.error;
    const Request request = parsed.value.value_or(Request{});
    EXPECT_EQ(request.kind, Request::Kind::subscribe) << line;
    return request;
}

std::string error_of(const std::string& line) {
    const Parsed<Request> parsed = parse_request(line);
    EXPECT_FALSE(parsed.value) << line;
    return parsed.error;
}

/// Lines of symbols: S1,S2 and so on.
std::string symbols_of(std::size_t count) {
    std::string text;
    for (std::size_t i = 1; i <= count; ++i) {
        text += (i == 1 ? "S" : ",S") + std::to_string(i);
    }
    return text;
}

// --- login ---

TEST(Login, of_the_python_client) {
    const auto parsed = parse_login(
        std::string{"auth="} + answer +
        "|dataset=OPRA.PILLAR|encoding=dbn|ts_out=0|compression=none|heartbeat_interval_s=45"
        "|slow_reader_behavior=warn|client=Python/3.11 Databento/0.88.0 Linux a=b");
    ASSERT_TRUE(parsed.value) << parsed.error;
    EXPECT_EQ(parsed.value->auth, answer);
    EXPECT_FALSE(parsed.value->ts_out);
    EXPECT_FALSE(parsed.value->zstd);
    EXPECT_EQ(parsed.value->heartbeat_seconds, 45U);
    EXPECT_EQ(parsed.value->slow_reader, SlowReader::warn);
    EXPECT_EQ(parsed.value->client, "Python/3.11 Databento/0.88.0 Linux a=b");
}

TEST(Login, of_the_rust_client) {
    const auto parsed = parse_login(std::string{"auth="} + answer +
                                    "|dataset=OPRA.PILLAR|encoding=dbn|compression=zstd|ts_out=1"
                                    "|client=Rust 0.64.0|pretty_px=1");
    ASSERT_TRUE(parsed.value) << parsed.error;
    EXPECT_TRUE(parsed.value->ts_out);
    EXPECT_TRUE(parsed.value->zstd);
    EXPECT_EQ(parsed.value->heartbeat_seconds, 30U);
    EXPECT_EQ(parsed.value->slow_reader, SlowReader::skip);
}

TEST(Login, of_the_cpp_client_has_another_order) {
    const auto parsed = parse_login(
        "details=x|client=C++ 0.65.0|heartbeat_interval_s=5|compression=none|encoding=dbn|ts_out=1"
        "|slow_reader_behavior=drop|dataset=OPRA.PILLAR|auth=" +
        std::string{answer});
    ASSERT_TRUE(parsed.value) << parsed.error;
    EXPECT_EQ(parsed.value->auth, answer);
    EXPECT_TRUE(parsed.value->ts_out);
    EXPECT_EQ(parsed.value->heartbeat_seconds, 5U);
    EXPECT_EQ(parsed.value->slow_reader, SlowReader::skip);
    EXPECT_EQ(parsed.value->client, "C++ 0.65.0");
}

TEST(Login, names_the_key_that_is_wrong) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"auth=a|dataset=GLBX.MDP3", "dataset: found \"GLBX.MDP3\", expected OPRA.PILLAR"},
        {"auth=a|encoding=json", "encoding: found \"json\", expected dbn"},
        {"auth=a|compression=gzip", "compression: found \"gzip\", expected none or zstd"},
        {"auth=a|ts_out=2", "ts_out: found \"2\", expected 0 or 1"},
        {"auth=a|ts_out", "ts_out: found \"\", expected 0 or 1"},
        {"auth=a|heartbeat_interval_s=4",
         "heartbeat_interval_s: found \"4\", expected a number from 5 to 1800"},
        {"auth=a|heartbeat_interval_s=1801",
         "heartbeat_interval_s: found \"1801\", expected a number from 5 to 1800"},
        {"auth=a|heartbeat_interval_s=30s",
         "heartbeat_interval_s: found \"30s\", expected a number from 5 to 1800"},
        {"auth=a|heartbeat_interval_s=-30",
         "heartbeat_interval_s: found \"-30\", expected a number from 5 to 1800"},
        {"auth=a|slow_reader_behavior=wait",
         "slow_reader_behavior: found \"wait\", expected skip or warn"},
        {"dataset=OPRA.PILLAR", "auth: found nothing, expected the answer to the challenge"},
        {"", "auth: found nothing, expected the answer to the challenge"},
    };
    for (const auto& [line, error] : wrong) {
        const auto parsed = parse_login(line);
        EXPECT_FALSE(parsed.value) << line;
        EXPECT_EQ(parsed.error, error);
    }
    EXPECT_TRUE(parse_login("auth=a|heartbeat_interval_s=1800").value);
}

// --- subscriptions ---

TEST(Subscribe, of_the_python_client) {
    const auto request = subscription_of(
        "schema=cmbp-1|stype_in=raw_symbol|symbols=AAPL  240119C00165250,AAPL  240119P00165250"
        "|snapshot=0|id=0|is_last=1");
    EXPECT_EQ(request.schema, Schema::cmbp_1);
    EXPECT_EQ(request.list.type, SymbolType::raw_symbol);
    EXPECT_FALSE(request.list.all);
    EXPECT_THAT(request.list.symbols,
                ElementsAre("AAPL  240119C00165250", "AAPL  240119P00165250"));
    EXPECT_FALSE(request.has_start);
    EXPECT_FALSE(request.snapshot);
    EXPECT_EQ(request.id, 0U);
    EXPECT_TRUE(request.is_last);
}

TEST(Subscribe, of_the_rust_client_has_another_order_and_lower_case) {
    const auto request = subscription_of(
        "symbols= spy.opt , SPXW.opt|stype_in=parent|id=4294967295|schema=trades|more=x|is_last=0"
        "|snapshot=1");
    EXPECT_EQ(request.schema, Schema::trades);
    EXPECT_EQ(request.list.type, SymbolType::parent);
    EXPECT_THAT(request.list.symbols, ElementsAre("SPY.OPT", "SPXW.OPT"));
    EXPECT_TRUE(request.snapshot);
    EXPECT_EQ(request.id, 4'294'967'295U);
    EXPECT_FALSE(request.is_last);
}

TEST(Subscribe, of_the_cpp_client_has_a_start_in_text_or_nanoseconds) {
    for (const std::string start : {"0", "1795791600000000000", "2026-11-27T15:00:00"}) {
        const auto request = subscription_of(
            "schema=definition|stype_in=instrument_id|symbols=7,8"
            "|start=" +
            start);
        EXPECT_TRUE(request.has_start);
        EXPECT_EQ(request.list.type, SymbolType::instrument_id);
        EXPECT_THAT(request.list.symbols, ElementsAre("7", "8"));
        EXPECT_EQ(request.id, 0U);
        EXPECT_TRUE(request.is_last);
    }
}

TEST(Subscribe, all_symbols_stands_alone_with_any_type) {
    for (const std::string type : {"raw_symbol", "instrument_id", "parent"}) {
        EXPECT_TRUE(
            subscription_of("schema=trades|stype_in=" + type + "|symbols=ALL_SYMBOLS").list.all);
        EXPECT_TRUE(
            subscription_of("schema=trades|stype_in=" + type + "|symbols=all_symbols").list.all);
        EXPECT_FALSE(
            subscription_of("schema=trades|stype_in=" + type + "|symbols=ALL_SYMBOLS,A").list.all);
    }
}

TEST(Subscribe, takes_each_schema) {
    for (std::size_t i = 0; i < feed::dbn::schemas_count; ++i) {
        const auto request = subscription_of("schema=" + std::string{feed::dbn::schema_names[i]} +
                                             "|symbols=ALL_SYMBOLS");
        EXPECT_EQ(static_cast<std::size_t>(request.schema), i);
    }
}

TEST(Subscribe, takes_2000_symbols_of_a_line_and_no_more) {
    EXPECT_EQ(subscription_of("schema=trades|symbols=" + symbols_of(500)).list.symbols.size(),
              500U);
    const auto most = subscription_of("schema=trades|symbols=" + symbols_of(2000));
    ASSERT_EQ(most.list.symbols.size(), 2000U);
    EXPECT_EQ(most.list.symbols.back(), "S2000");
    EXPECT_THAT(error_of("schema=trades|symbols=" + symbols_of(2001)),
                StartsWith("symbols: found more of them, expected 1 to 2000"));
}

TEST(Subscribe, names_the_key_that_is_wrong) {
    const std::string good = "schema=trades|symbols=A.OPT|stype_in=parent";
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"schema=mbo|symbols=A", "schema: found \"mbo\", expected one of cmbp-1, cbbo-1s, "},
        {"symbols=A", "schema: found nothing, expected one of "},
        {"", "schema: found nothing"},
        {"schema=status|symbols=A", "schema status: "},
        {"schema=trades|symbols=A|stype_in=continuous",
         "stype_in: found \"continuous\", expected raw_symbol, instrument_id or parent"},
        {"schema=trades", "symbols: found none of them"},
        {"schema=trades|symbols=", "symbols: found none of them"},
        {good + "|snapshot=yes", "snapshot: found \"yes\", expected 0 or 1"},
        {good + "|is_last=2", "is_last: found \"2\", expected 0 or 1"},
        {good + "|id=4294967296", "id: found \"4294967296\", expected a number below 2^32"},
        {good + "|id=-1", "id: found \"-1\", expected a number below 2^32"},
        {good + "|id=", "id: found \"\", expected a number below 2^32"},
        {good + "|start=0|snapshot=1", "found start and snapshot, expected one of them at most"},
    };
    for (const auto& [line, error] : wrong) {
        EXPECT_THAT(error_of(line), StartsWith(error));
    }
    EXPECT_FALSE(subscription_of(good + "|start=0|snapshot=0").snapshot);
}

TEST(Unsubscribe, of_the_rust_client) {
    const auto parsed = parse_request(
        "unsubscribe|schema=cbbo-1s|stype_in=parent|symbols=SPY.OPT,QQQ.OPT|is_last=0");
    ASSERT_TRUE(parsed.value) << parsed.error;
    const auto& request = parsed.value;
    EXPECT_EQ(request->kind, Request::Kind::unsubscribe);
    EXPECT_EQ(request->schema, Schema::cbbo_1s);
    EXPECT_EQ(request->list.type, SymbolType::parent);
    EXPECT_THAT(request->list.symbols, ElementsAre("SPY.OPT", "QQQ.OPT"));
    EXPECT_FALSE(request->is_last);
    EXPECT_THAT(error_of("unsubscribe|schema=x|symbols=A"), StartsWith("schema: "));
    EXPECT_THAT(error_of("unsubscribe|schema=trades"), StartsWith("symbols: "));
    EXPECT_THAT(error_of("unsubscribe|schema=trades|symbols=A|is_last=x"), StartsWith("is_last: "));
}

TEST(Start, has_a_value_or_none) {
    for (const std::string line : {"start_session=0", "start_session", "start_session=0|x=y"}) {
        const auto parsed = parse_request(line);
        ASSERT_TRUE(parsed.value) << line;
        EXPECT_EQ(parsed.value->kind, Request::Kind::start);
    }
    EXPECT_FALSE(parse_request("start_sessions").value);
}

TEST(ProtocolText, has_neither_separators_nor_control_characters) {
    EXPECT_EQ(protocol_text("a|b\nc\r\td\x7F\xC3\xA9~ !", 100), "a b c  d   ~ !");
    EXPECT_EQ(protocol_text("abcdef", 3), "abc");
    EXPECT_EQ(protocol_text("", 3), "");
}

TEST(ProtocolText, errors_of_lines_have_no_separators) {
    const std::string strange = "a\tb\x01\xFFz";
    for (const std::string key : {"schema", "stype_in", "snapshot", "id"}) {
        const std::string error =
            error_of(key + "=" + strange + "|schema=trades|symbols=A|stype_in=parent");
        EXPECT_EQ(error.find('|'), std::string::npos);
        EXPECT_EQ(error.find('\n'), std::string::npos);
        EXPECT_LT(error.size(), 302U);
    }
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
