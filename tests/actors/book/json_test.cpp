// path: cold
#include "actors/book/book_json.h"
#include "feed/event/decimal.h"
#include "tests/actors/book/events.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace pinstrike::actors::test {
namespace {

std::string write(std::span<const Book* const> books) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("pinstrike-book-" + std::to_string(::getpid()) + ".json");
    Problems problems;
    write_books(books, path.string(), problems);
    EXPECT_TRUE(problems.empty());
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
}

TEST(BookJson, Decimals) {
    EXPECT_EQ(feed::normalised_decimal(133'00000000), "133");
    EXPECT_EQ(feed::normalised_decimal(61000000), "0.61");
    EXPECT_EQ(feed::normalised_decimal(0), "0");
    EXPECT_EQ(feed::normalised_decimal(-5000000), "-0.05");
    EXPECT_EQ(feed::normalised_decimal(1), "0.00000001");
    EXPECT_EQ(feed::normalised_decimal(INT64_MIN), "-92233720368.54775808");
}

TEST(BookJson, Golden) {
    Book book{BookConfig{.series_capacity = 10}, 1};
    book.on_start({});
    Events events;
    const auto full = key_of("AMZN", 'A', 19, 24, 165'25000000);
    events.quote(full, 4, 1,
                 {'O', 61, 239, 63, 495, 'D', 'B', {61, 243, 'P', 'B'}, {64, 1, 'C', 'B'}});
    events.trade(full, 4, 2, 'I', 620, 5, 0, 'C');
    events.trade(full, 4, 3, 'H', -5, 1, 0, 'B');
    events.open_interest(full, 4, 4, 77);
    events.gap(4, 5, 6);
    events.quote(key_of("A", 'M', 1, 30, 50000000), 9, 1, {'L'});
    events.play(book);
    const Book* const books[] = {&book};
    EXPECT_EQ(
        write(books),
        R"({"symbol":"A","expiration":"2030-01-01","right":"P","strike":"0.5","line":9,)"
        R"("best_bid":null,"best_offer":null,"bid_state":"fresh","offer_state":"fresh",)"
        R"("open":null,"high":null,"low":null,"last":null,"volume":0,"trades":0,"quotes":1,)"
        R"("open_interest":null})"
        "\n"
        R"({"symbol":"AMZN","expiration":"2024-01-19","right":"C","strike":"165.25","line":4,)"
        R"("best_bid":{"participant":"P","price":"0.61","size":243},)"
        R"("best_offer":{"participant":"C","price":"0.64","size":1},)"
        R"("bid_state":"stale","offer_state":"stale",)"
        R"("open":"-0.05","high":"0.62","low":"-0.05",)"
        R"("last":{"participant":"Q","price":"-0.05","size":1,"type":"H"},)"
        R"("volume":6,"trades":2,"quotes":1,"open_interest":77})"
        "\n");
}

TEST(BookJson, OrderOverSeveralBooks) {
    Book one{BookConfig{.series_capacity = 10}, 2};
    Book two{BookConfig{.series_capacity = 10}, 2};
    one.on_start({});
    two.on_start({});
    Events events;
    events.quote(key_of("B", 'A', 16, 27, 100'00000000, true), 201, 1);
    events.quote(key_of("AB", 'A', 16, 27), 1, 2);
    events.quote(key_of("B", 'M', 16, 27), 1, 3);
    events.quote(key_of("B", 'B', 1, 27), 1, 4);
    events.play(one);
    events.quote(key_of("B", 'A', 16, 27, 100'00000000), 1, 5);
    events.quote(key_of("B", 'A', 16, 27, 9'00000000), 1, 6);
    events.quote(key_of("B", 'A', 16, 26), 1, 7);
    events.quote(key_of("A", 'A', 16, 28), 1, 8);
    events.play(two);
    const Book* const books[] = {&one, &two};
    std::istringstream text(write(books));
    std::string seen;
    for (std::string row; std::getline(text, row);) {
        const auto json = nlohmann::json::parse(row);
        seen += json["symbol"].get<std::string>() + " " + json["expiration"].get<std::string>() +
                " " + json["right"].get<std::string>() + " " + json["strike"].get<std::string>() +
                " " + std::to_string(json["line"].get<int>()) + "\n";
    }
    EXPECT_EQ(seen,
              "A 2028-01-16 C 100 1\nAB 2027-01-16 C 100 1\nB 2026-01-16 C 100 1\n"
              "B 2027-01-16 C 9 1\nB 2027-01-16 C 100 1\nB 2027-01-16 C 100 201\n"
              "B 2027-01-16 P 100 1\nB 2027-02-01 C 100 1\n");
}

TEST(BookJson, OddBytesStayValidJson) {
    SeriesState state;
    state.key = key_of("A\"\\\xE9\x01");
    state.bid = BestQuote{'\0', {1, 'I'}, 1};
    const std::string text = series_json(state);
    EXPECT_NE(text.find(R"("symbol":"A\"\\\u00e9\u0001")"), std::string::npos) << text;
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["symbol"], "A\"\\\u00e9\u0001");
    EXPECT_EQ(json["best_bid"]["participant"], std::string(1, '\0'));
}

TEST(BookJson, WhatCannotBeWrittenIsAProblem) {
    Problems problems;
    write_books({}, "/no/such/folder/book.json", problems);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].place.file, "/no/such/folder/book.json");
}

}  // namespace
}  // namespace pinstrike::actors::test
