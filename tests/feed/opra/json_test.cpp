// path: cold
//
// Tests the output of decode, canonical JSON and text, also for four real packets; and the nightly
// series mapping.
#include "feed/event/decimal.h"
#include "feed/opra/datagram_lines.h"
#include "feed/opra/parse.h"
#include "feed/opra/series_mapping.h"
#include "nic/capture/capture_reader.h"
#include "nic/packet/datagram.h"
#include "tests/feed/opra/samples.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>

namespace pinstrike::feed::opra {
namespace {

using Json = nlohmann::json;

constexpr Origin origin{4, 'B'};

std::string line_of(const std::vector<std::byte>& bytes, std::size_t index = 0) {
    std::string out;
    append_json(out, origin, *parse_block(bytes, true).block, index);
    return out;
}

Json json_of(const wire::Message& message) {
    return Json::parse(line_of(samples::block({message})));
}

TEST(Decimal, HasExactlyTheDecimalsOfItsCode) {
    EXPECT_EQ(decimal_text(1330, 1), "133.0");
    EXPECT_EQ(decimal_text(61, 2), "0.61");
    EXPECT_EQ(decimal_text(200, 0), "200");
    EXPECT_EQ(decimal_text(-5, 2), "-0.05");
    EXPECT_EQ(decimal_text(0, 8), "0.00000000");
    EXPECT_EQ(decimal_text(-12345, 3), "-12.345");
    EXPECT_EQ(decimal_text(std::numeric_limits<std::int64_t>::min(), 8), "-92233720368.54775808");
}

TEST(Json, EscapesWhatIsNoPlainAscii) {
    std::string out;
    append_json(out, BlockError{" ~\x7F\x1F\x85\"\\", origin, std::nullopt, 1});
    EXPECT_NE(out.find(R"("error":" ~\u007f\u001f\u0085\"\\")"), std::string::npos) << out;
}

std::filesystem::path shared_folder() {
    if (const char* given = std::getenv("PINSTRIKE_SHARED")) {
        return given;
    }
    const char* root = std::getenv("PINSTRIKE_SOURCE_ROOT");
    return std::filesystem::path{root == nullptr ? "." : root} / ".." / "shared";
}

/// The only message of a real capture, as decode prints it.
std::string real_line(const std::filesystem::path& file) {
    Problems problems;
    auto reader = nic::CaptureReader::open(file.string(), problems);
    nic::CapturedFrame frame;
    if (!reader || !reader->next(frame)) {
        return "unreadable";
    }
    const nic::Packet packet{.bytes = frame.bytes.data(),
                             .length_bytes = static_cast<std::uint32_t>(frame.bytes.size())};
    nic::Datagram datagram;
    if (nic::parse_udp(packet, nic::ChecksumCheck::software, datagram) != nic::not_dropped) {
        return "not UDP";
    }
    const auto parsed = parse_block(datagram.payload, true);
    std::string out;
    if (parsed.block && parsed.result.reasons == 0) {
        append_json(out, origin, *parsed.block, 0);
    }
    return out;
}

TEST(RealPackets, DecodeAsExpected) {
    const auto folder = shared_folder() / "opra" / "real";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "the real packets are not here: " << folder;
    }
    const std::string head = R"({"line":4,"stream":"B","seq":)";
    EXPECT_EQ(real_line(folder / "ShortEquityAndIndexQuoteMessage.pcap"),
              head + R"(402564194,"ts_ns":1701291404799736576,"session":0,"retransmitted":false,)"
                     R"("category":"q","type":" ","indicator":"M","participant":"T",)"
                     R"("transaction_id":68999927,"reference":799387289,"symbol":"AMZN",)"
                     R"("expiration":"2023-12-29","right":"C","strike":"133.0","bid":"14.10",)"
                     R"("bid_size":43,"offer":"14.65","offer_size":2,"best_bid":)"
                     R"({"participant":"N","price":"14.10","size":50}})"
                     "\n");
    EXPECT_EQ(real_line(folder / "LongEquityAndIndexQuoteMessage.pcap"),
              head + R"(402565753,"ts_ns":1701291404954681088,"session":0,"retransmitted":false,)"
                     R"("category":"k","type":" ","indicator":"M","participant":"D",)"
                     R"("transaction_id":220610983,"reference":0,"symbol":"AMZN",)"
                     R"("expiration":"2024-01-19","right":"C","strike":"165.25","bid":"0.61",)"
                     R"("bid_size":239,"offer":"0.63","offer_size":495,"best_bid":)"
                     R"({"participant":"P","price":"0.61","size":243}})"
                     "\n");
    EXPECT_EQ(real_line(folder / "ControlMessage.pcap"),
              head + R"(402622060,"ts_ns":1701291411938973184,"session":0,"retransmitted":false,)"
                     R"("category":"H","type":"N","indicator":" ","participant":"O",)"
                     R"("transaction_id":0,"reference":0})"
                     "\n");
    const Json text = Json::parse(real_line(folder / "AdministrativeMessage.pcap"));
    EXPECT_EQ(text["text"].get<std::string>().substr(0, 21), "TEXT CFLEX QQQ LST 3.");
    EXPECT_EQ(text["seq"], 405982822);
}

TEST(Json, HasTheKeysOfEachCategoryAndNoOthers) {
    const std::vector<std::string> head{"category",  "indicator",      "line",  "participant",
                                        "reference", "retransmitted",  "seq",   "session",
                                        "stream",    "transaction_id", "ts_ns", "type"};
    const std::vector<std::string> series{"expiration", "right", "strike", "symbol"};
    const std::map<char, std::vector<std::string>> own{
        {'a', {"price", "trade_id", "volume"}},
        {'d', {"open_interest"}},
        {'f',
         {"bid", "high", "last", "low", "net_change", "offer", "open", "open_interest",
          "underlying", "volume"}},
        {'k', {"bid", "bid_size", "offer", "offer_size"}},
        {'q', {"bid", "bid_size", "offer", "offer_size"}},
        {'C', {"text"}},
        {'H', {}},
        {'R', {"mapped_line"}},
    };
    for (const wire::Message& message : samples::one_of_each()) {
        std::vector<std::string> wanted = head;
        const char category = message.category();
        if (category == 'Y') {
            wanted.insert(wanted.end(), {"symbol"});
            const std::vector<std::string> sides{"bid", "offer"};
            const std::vector<std::string> value{"value"};
            const auto& more = message.header.type == 'I' ? sides : value;
            wanted.insert(wanted.end(), more.begin(), more.end());
        } else {
            const auto& more = own.at(category);
            wanted.insert(wanted.end(), more.begin(), more.end());
            if (category != 'C' && category != 'H') {
                wanted.insert(wanted.end(), series.begin(), series.end());
            }
        }
        const IndicatorEffect effect = effect_of(message.header.indicator);
        if (effect.bid == BestEffect::appendage) {
            wanted.emplace_back("best_bid");
        }
        if (effect.offer == BestEffect::appendage) {
            wanted.emplace_back("best_offer");
        }
        std::sort(wanted.begin(), wanted.end());
        std::vector<std::string> keys;
        const Json object = json_of(message);
        for (const auto& [key, value] : object.items()) {
            keys.push_back(key);
        }
        EXPECT_EQ(keys, wanted) << category;
    }
}

TEST(Json, WritesValuesAsThePageSays) {
    wire::EndOfDay day{.series = {wire::padded("BRKB"), {'X', 31, 99}, 'I', 200}};
    day.net_change = -5;
    day.underlying = std::numeric_limits<std::int64_t>::min();
    day.underlying_code = 'H';
    const Json summary = json_of({{}, day});
    EXPECT_EQ(summary["symbol"], "BRKB");
    EXPECT_EQ(summary["expiration"], "2099-12-31");
    EXPECT_EQ(summary["right"], "P");
    EXPECT_EQ(summary["strike"], "200");
    EXPECT_EQ(summary["net_change"], "-0.05");
    EXPECT_EQ(summary["underlying"], "-92233720368.54775808");

    const Json text = json_of({{.participant = '\xFF'}, wire::Text{"a\"\\\x01\x7F\xE9"}});
    EXPECT_EQ(text["text"].get<std::string>(), "a\"\\\x01\x7F\xC3\xA9");
    EXPECT_EQ(text["participant"].get<std::string>(), "\xC3\xBF");

    const Json both = json_of(samples::quote_with('O'));
    EXPECT_EQ(both["best_bid"], Json::parse(R"({"participant":"N","price":"1.16","size":30})"));
    EXPECT_EQ(both["best_offer"], Json::parse(R"({"participant":"C","price":"1.1","size":7})"));
}

TEST(Json, NumbersMessagesByTheirBlock) {
    const wire::BlockHeader header{.retransmission = 'V',
                                   .session = 88,
                                   .sequence = 4294967295U,
                                   .seconds = 4294967295U,
                                   .nanoseconds = 999'999'999};
    const auto bytes = samples::block({samples::control('E'), samples::control('J'),
                                       samples::control('N'), samples::quote_with('A')},
                                      header);
    const auto seq = [&](std::size_t i) { return Json::parse(line_of(bytes, i))["seq"]; };
    EXPECT_EQ(seq(0), 4294967295U);
    EXPECT_EQ(seq(1), 1);
    EXPECT_EQ(seq(2), 4294967295U);
    EXPECT_EQ(seq(3), 3);
    const Json last = Json::parse(line_of(bytes, 3));
    EXPECT_EQ(last["retransmitted"], true);
    EXPECT_EQ(last["session"], 88);
    EXPECT_EQ(last["ts_ns"], 4294967295999999999);
}

TEST(Text, SaysOneLineAMessage) {
    for (const wire::Message& message : samples::one_of_each()) {
        std::string out;
        append_text(out, origin, *parse_block(samples::block({message}), true).block, 0);
        EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
        EXPECT_TRUE(out.ends_with('\n'));
        EXPECT_TRUE(out.starts_with("  4B       1000 2023-11-14T22:13:20.123456789Z ")) << out;
    }
}

// ---- series mapping

constexpr std::string_view mapping =
    "Symbol,Expiration,Reserved,Strike,Line,Reserved\r\n"
    "AMZN,L2923,,133.0,4,\r\n"
    "SPXW,X0126,x,4500.12345678,96,y\n"
    "\n"
    "1ABC,A0100,,0.5,204,";

std::vector<SeriesMap> series_in(std::string_view text, MappingRows& rows) {
    std::vector<SeriesMap> all;
    rows = parse_series_mapping(text, "map.csv", [&](const SeriesMap& map) { all.push_back(map); });
    return all;
}

std::vector<SeriesMap> series_in_file(const std::filesystem::path& file, Problems& problems,
                                      MappingRows& rows) {
    std::vector<SeriesMap> all;
    const auto read = read_series_mapping(
        file.string(), [&](const SeriesMap& map) { all.push_back(map); }, problems);
    rows = read.value_or(MappingRows{});
    return all;
}

TEST(SeriesMapping, ReadsRowsIntoKeys) {
    MappingRows rows;
    const auto all = series_in(mapping, rows);
    EXPECT_EQ(rows.good, 3U);
    EXPECT_EQ(rows.malformed, 0U);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].mapped_line, 4);
    EXPECT_EQ(all[0].series.strike_e8, 13'300'000'000);
    EXPECT_EQ(all[0].series.symbol_word(), 0x20'4E'5A'4D'41ULL);
    EXPECT_EQ(all[0].series.expiration_letter(), 'L');
    EXPECT_EQ(all[0].series.day(), 29U);
    EXPECT_EQ(all[0].series.year(), 2023U);
    EXPECT_FALSE(all[0].series.gth());
    EXPECT_EQ(all[1].series.strike_e8, 450'012'345'678);
    EXPECT_FALSE(all[1].series.call());
    EXPECT_EQ(all[1].series.month(), 12U);
    EXPECT_EQ(all[2].series.strike_e8, 50'000'000);
}

TEST(SeriesMapping, ARowOfAGthLineIsASeriesOfThatSession) {
    MappingRows rows;
    const auto all = series_in(mapping, rows);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[2].mapped_line, 204);
    EXPECT_TRUE(all[2].series.gth());
    EXPECT_EQ(all[2].series.expiration_letter(), 'A');
}

TEST(SeriesMapping, ReportsBadRowsWithTheirPlaces) {
    MappingRows rows;
    const auto all = series_in(
        "AMZN,L2923,,133.0,4\n"      // 1: five fields
        "AMZNXX,L2923,,133.0,4,\n"   // 2: symbol
        "AMZN,Y2923,,133.0,4,\n"     // 3: month
        "AMZN,L3223,,133.0,4,\n"     // 4: day
        "AMZN,L2923,,133.0.0,4,\n"   // 5: strike
        "AMZN,L2923,,,4,\n"          // 6: strike
        "AMZN,L2923,,133.0,220,\n"   // 7: a line that carries only series maps
        "AMZN,L2923,,133.0,4x,\n"    // 8: line
        "AMZN,L2923,,133.0,4,\n"     // good
        "Symbol,L2923,,133.0,L,\n"   // 10: a heading in the wrong place
        "AM N,L2923,,-133.0,4,,\n",  // 11: seven fields
        rows);
    EXPECT_EQ(all.size(), 1U);
    EXPECT_EQ(rows.malformed, 10U);
    std::vector<unsigned> lines;
    for (const Problem& problem : rows.problems) {
        lines.push_back(problem.place.line);
        EXPECT_EQ(problem.place.file, "map.csv");
        EXPECT_NE(problem.text.find("expected"), std::string::npos) << problem.text;
    }
    EXPECT_EQ(lines, (std::vector<unsigned>{1, 2, 3, 4, 5, 6, 7, 8, 10, 11}));
}

TEST(SeriesMapping, ManyBadRowsAreCountedAndFewReported) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) {
        text += i % 2 == 0 ? std::string(300, '\x1B') + "\n" : "AMZN,L2923,,133.0,4,\n";
    }
    MappingRows rows;
    EXPECT_EQ(series_in(text, rows).size(), 50'000U);
    EXPECT_EQ(rows.malformed, 50'000U);
    ASSERT_EQ(rows.problems.size(), MappingRows::problems_max);
    for (const Problem& problem : rows.problems) {
        EXPECT_LT(problem.text.size(), 200U);
        EXPECT_EQ(problem.text.find('\x1B'), std::string::npos);
    }
}

class SeriesMappingFiles : public testing::Test {
  public:
    ~SeriesMappingFiles() override { std::filesystem::remove_all(folder_); }

  protected:
    SeriesMappingFiles() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directory(folder_);
    }

    std::filesystem::path folder_ = std::filesystem::path{testing::TempDir()} /
                                    ("pinstrike_series_mapping" + std::to_string(::getpid()));
    Problems problems_;
    MappingRows rows_;
};

TEST_F(SeriesMappingFiles, TakesTheNewestFileOfAFolder) {
    EXPECT_EQ(newest_series_mapping(folder_.string()), "");
    for (const char* name :
         {"OPRASymbolMapping_20260219_230000.csv", "OPRASymbolMapping_20260220_220001.csv",
          "OPRASymbolMapping_20260220_220000.csv", "OPRASymbolMapping_2026.csv", "zzz.csv"}) {
        std::ofstream{folder_ / name} << mapping;
    }
    const std::string newest = newest_series_mapping(folder_.string());
    EXPECT_EQ(newest, (folder_ / "OPRASymbolMapping_20260220_220001.csv").string());
    EXPECT_EQ(series_in_file(newest, problems_, rows_).size(), 3U);
    EXPECT_TRUE(problems_.empty());
}

TEST_F(SeriesMappingFiles, WhatCannotBeReadIsAProblem) {
    EXPECT_TRUE(series_in_file(folder_ / "absent.csv", problems_, rows_).empty());
    EXPECT_EQ(problems_.size(), 1U);
    EXPECT_TRUE(series_in_file(folder_, problems_, rows_).empty());
    EXPECT_EQ(problems_.size(), 2U);
}

/// The file is longer than one chunk, and rows cross the ends of chunks.
TEST_F(SeriesMappingFiles, ALargeFileGivesWhatItsTextGives) {
    std::string text{mapping.substr(0, mapping.find('\n') + 1)};
    for (int i = 0; i < 120'000; ++i) {
        text += i % 1000 == 0 ? "what is this\n" : "SPY,L2923,," + std::to_string(i) + ".5,4,\n";
    }
    std::ofstream{folder_ / "large.csv"} << text;
    const auto read = series_in_file(folder_ / "large.csv", problems_, rows_);
    MappingRows expected;
    EXPECT_EQ(read, series_in(text, expected));
    EXPECT_TRUE(problems_.empty());
    EXPECT_EQ(rows_.good, 119'880U);
    EXPECT_EQ(rows_.malformed, 120U);
    ASSERT_EQ(rows_.problems.size(), expected.problems.size());
    for (std::size_t i = 0; i < rows_.problems.size(); ++i) {
        EXPECT_EQ(rows_.problems[i].place.line, expected.problems[i].place.line);
    }
}

TEST_F(SeriesMappingFiles, ARowWithoutAnEndIsOneMalformedRow) {
    const std::string row = "SPY,L2923,,5.5,4,\n";
    std::ofstream{folder_ / "long.csv"} << row << std::string(5 << 20, 'x') << '\n'
                                        << row << "bad\n";
    EXPECT_EQ(series_in_file(folder_ / "long.csv", problems_, rows_).size(), 2U);
    EXPECT_TRUE(problems_.empty());
    ASSERT_EQ(rows_.problems.size(), 2U);
    EXPECT_EQ(rows_.problems[0].place.line, 2U);
    EXPECT_EQ(rows_.problems[1].place.line, 4U);
}

}  // namespace
}  // namespace pinstrike::feed::opra
