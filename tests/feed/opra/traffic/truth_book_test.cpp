// path: cold
#include "feed/opra/traffic/truth_book.h"

#include "feed/opra/traffic/decimal.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace pinstrike::feed::opra::traffic {
namespace {

using Json = nlohmann::json;

/// Passes messages to a BookTruth, each in a block of its own.
class Teller {
  public:
    void data(wire::Message message, std::uint16_t line = 1) {
        SentBlock block;
        block.line_number = line;
        block.header.sequence = next_++;
        block.messages = {&message, 1};
        book_.block(block);
    }

    void reset(BlockRole role, std::uint32_t number, std::uint16_t line = 1) {
        SentBlock block;
        block.line_number = line;
        block.header.sequence = number;
        block.role = role;
        book_.block(block);
        next_ = number + 1;
    }

    std::vector<Json> book() const {
        std::stringstream text;
        book_.write(text);
        std::vector<Json> series;
        for (std::string line; std::getline(text, line);) {
            series.push_back(Json::parse(line));
        }
        return series;
    }

    Json only() const {
        const auto all = book();
        EXPECT_EQ(all.size(), 1U);
        return all.empty() ? Json{} : all[0];
    }

  private:
    BookTruth book_;
    std::uint32_t next_ = 1;
};

wire::Series series(std::int32_t strike = 1330, char code = 'A') {
    return {wire::padded("SPXW"), {'C', 20, 26}, code, strike};
}

wire::Message trade(char type, std::int32_t price, std::uint32_t volume) {
    wire::LastSale sale;
    sale.series = series();
    sale.price = price;
    sale.volume = volume;
    return {{'C', type, ' ', 1, 0}, sale};
}

wire::Message quote(char indicator, std::int32_t bid, std::int32_t offer) {
    wire::LongQuote body;
    body.series = series(13300, 'B');
    body.bid = bid;
    body.bid_size = 5;
    body.offer = offer;
    body.offer_size = 6;
    body.best_bid = {'P', 'A', 12, 7};
    body.best_offer = {'Z', 'C', 1300, 8};
    return {{'D', ' ', indicator, 1, 0}, body};
}

TEST(BookTruth, QuotesApplyTheIndicator) {
    Teller teller;
    teller.data(quote('A', 100, 110));
    EXPECT_EQ(teller.only()["bid_state"], "unknown");
    EXPECT_EQ(teller.only()["strike"], "133");
    teller.data(quote('F', 100, 110));
    EXPECT_EQ(teller.only()["best_bid"],
              Json::parse(R"({"participant": "D", "price": "1", "size": 5})"));
    teller.data(quote('O', 100, 110));
    EXPECT_EQ(teller.only()["best_bid"],
              Json::parse(R"({"participant": "P", "price": "1.2", "size": 7})"));
    EXPECT_EQ(teller.only()["best_offer"],
              Json::parse(R"({"participant": "Z", "price": "1.3", "size": 8})"));
    teller.data(quote('L', 100, 110));
    EXPECT_TRUE(teller.only()["best_bid"].is_null());
    EXPECT_EQ(teller.only()["offer_state"], "fresh");
    EXPECT_EQ(teller.only()["quotes"], 4);
}

TEST(BookTruth, TradesAndCancels) {
    Teller teller;
    teller.data(trade('I', 100, 10));
    teller.data(trade('I', 120, 5));
    teller.data(trade('B', 90, 1));
    teller.data(trade('u', 500, 2));
    Json json = teller.only();
    EXPECT_EQ(json["open"], "1");
    EXPECT_EQ(json["high"], "1.2");
    EXPECT_EQ(json["low"], "0.9");
    EXPECT_EQ(json["last"]["price"], "1.2");
    EXPECT_EQ(json["volume"], 18);
    EXPECT_EQ(json["trades"], 4);
    teller.data(trade('F', 80, 1));
    EXPECT_EQ(teller.only()["open"], "0.8");
    EXPECT_EQ(teller.only()["last"]["price"], "1.2");
    teller.data(trade('H', 85, 1));
    EXPECT_EQ(teller.only()["open"], "0.85");
    EXPECT_EQ(teller.only()["last"]["type"], "H");
    teller.data(trade('A', 100, 10));
    teller.data(trade('C', 85, 1));
    EXPECT_TRUE(teller.only()["last"].is_null());
    teller.data(trade('E', 85, 100));
    json = teller.only();
    EXPECT_TRUE(json["open"].is_null());
    EXPECT_EQ(json["volume"], 0);
    EXPECT_EQ(json["high"], "1.2");
    teller.data(trade('G', 85, 1));
    EXPECT_TRUE(teller.only()["high"].is_null());
    EXPECT_EQ(teller.only()["trades"], 6);
}

TEST(BookTruth, Forgetting) {
    Teller teller;
    for (int i = 0; i < 3; ++i) {
        teller.data(quote('F', 100, 110));
    }
    teller.reset(BlockRole::reset, 3);  // lowers no number
    EXPECT_EQ(teller.only()["bid_state"], "fresh");
    teller.reset(BlockRole::reset, 1);
    EXPECT_EQ(teller.only()["bid_state"], "unknown");
    EXPECT_EQ(teller.only()["quotes"], 3);
    teller.data(quote('F', 100, 110));
    teller.reset(BlockRole::reset, 0xFFFF'FFF0U);
    EXPECT_EQ(teller.only()["bid_state"], "fresh");
    teller.reset(BlockRole::reset, 1);  // the rollover
    EXPECT_EQ(teller.only()["bid_state"], "fresh");
    teller.data({{'O', 'P', ' ', 0, 0}, wire::Control{}});
    EXPECT_EQ(teller.only()["offer_state"], "unknown");
    teller.reset(BlockRole::start_of_day, 0, 2);
    EXPECT_EQ(teller.book().size(), 1U);
    teller.reset(BlockRole::start_of_day, 0);
    EXPECT_TRUE(teller.book().empty());
}

TEST(BookTruth, GthIsASeriesOfItsOwnAndTestsAreLeftOut) {
    Teller teller;
    teller.data(trade('I', 100, 10), 1);
    teller.data(trade('I', 100, 10), 202);
    ASSERT_EQ(teller.book().size(), 2U);
    EXPECT_EQ(teller.book()[0]["line"], 1);
    wire::OpenInterest interest;
    interest.series = series();
    interest.series.symbol = wire::padded("ZVZZT");
    teller.data({{'C', ' ', ' ', 1, 0}, interest});
    EXPECT_EQ(teller.book().size(), 2U);
}

TEST(Decimal, HasTheDecimalsOfItsCode) {
    EXPECT_EQ(decimal(1330, 'A'), "133.0");
    EXPECT_EQ(decimal(61, 'B'), "0.61");
    EXPECT_EQ(decimal(200, 'I'), "200");
    EXPECT_EQ(decimal(-5, 'B'), "-0.05");
    EXPECT_EQ(decimal(0, 'H'), "0.00000000");
    EXPECT_EQ(normalised(1330, 'A'), "133");
    EXPECT_EQ(normalised(200, 'I'), "200");
    EXPECT_EQ(normalised(-50, 'C'), "-0.05");
    EXPECT_EQ(normalised(0, 'B'), "0");
}

}  // namespace
}  // namespace pinstrike::feed::opra::traffic
