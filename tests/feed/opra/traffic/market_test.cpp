// path: cold
//
// Compares the best bid and offer that generated quotes publish with the quotes themselves. By the
// rule of the specification, no venue's latest eligible quote is better, and the best is always
// some venue's latest quote.
#include "feed/opra/layout.h"
#include "feed/opra/lines.h"
#include "feed/opra/traffic/decimal.h"
#include "tests/feed/opra/traffic/collected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace pinstrike::feed::opra::traffic {
namespace {

struct Side {
    std::int64_t price_e4 = 0;
    std::uint32_t size = 0;
    bool eligible = false;
};

struct Published {
    char participant;
    std::int64_t price_e4;
    std::uint32_t size;
};

struct Book {
    std::map<char, Side> bids, offers;
    std::optional<Published> bid, offer;
};

std::int64_t e4(std::int64_t value, char code) {
    std::int64_t scaled = value * 10'000;
    for (unsigned i = 0; i < places(code); ++i) {
        scaled /= 10;
    }
    return scaled;
}

/// One quote, of either form.
struct Told {
    std::string series;
    Side bid, offer;
    wire::Appendage best_bid, best_offer;
};

template <std::size_t N>
std::string name(const std::array<char, N>& symbol, const wire::Expiration& expiration,
                 std::int64_t strike_e4, std::uint16_t line) {
    std::string text{symbol.data(), N};
    text.erase(text.find_last_not_of(' ') + 1);
    return text + ' ' + expiration.letter + std::to_string(expiration.day) + '/' +
           std::to_string(expiration.year) + ' ' + std::to_string(strike_e4) + '@' +
           std::to_string(line);
}

std::optional<Told> reported(const wire::Message& message, std::uint16_t line) {
    if (const auto* q = std::get_if<wire::ShortQuote>(&message.body)) {
        return Told{name(q->symbol, q->expiration, e4(q->strike, 'A'), line),
                    {e4(q->bid, 'B'), q->bid_size, false},
                    {e4(q->offer, 'B'), q->offer_size, false},
                    q->best_bid,
                    q->best_offer};
    }
    if (const auto* k = std::get_if<wire::LongQuote>(&message.body)) {
        const wire::Series& series = k->series;
        return Told{
            name(series.symbol, series.expiration, e4(series.strike, series.strike_code), line),
            {e4(k->bid, k->price_code), k->bid_size, false},
            {e4(k->offer, k->price_code), k->offer_size, false},
            k->best_bid,
            k->best_offer};
    }
    return std::nullopt;
}

/// Sets which sides are eligible, by quote type and by price (OPRA Long Quote, BBO Overview).
void judge(Told& quote, char type) {
    const auto in = [type](const char* types) {
        return std::string{types}.find(type) != std::string::npos;
    };
    const bool withdrawn = quote.bid.price_e4 == 0 && quote.offer.price_e4 == 0;
    quote.bid.eligible =
        in(" ABOCX") && !withdrawn && (quote.bid.price_e4 != 0 || quote.bid.size == 0);
    quote.offer.eligible = in(" ABOCY") && quote.offer.price_e4 != 0;
}

void follow(std::optional<Published>& best, BestEffect effect, char participant, const Side& own,
            const wire::Appendage& appended) {
    if (effect == BestEffect::this_quote) {
        best = {participant, own.price_e4, own.size};
    } else if (effect == BestEffect::appendage) {
        best = {appended.participant, e4(appended.price, appended.code), appended.size};
    } else if (effect == BestEffect::none) {
        best.reset();
    }
}

void verify(const std::map<char, Side>& sides, const std::optional<Published>& best,
            std::int64_t sign, const std::string& where) {
    if (!best) {
        for (const auto& [participant, side] : sides) {
            EXPECT_FALSE(side.eligible) << where << ' ' << participant;
        }
        return;
    }
    const auto holder = sides.find(best->participant);
    ASSERT_NE(holder, sides.end()) << where;
    EXPECT_TRUE(holder->second.eligible) << where;
    EXPECT_EQ(holder->second.price_e4, best->price_e4) << where;
    EXPECT_EQ(holder->second.size, best->size) << where;
    for (const auto& [participant, side] : sides) {
        if (side.eligible) {
            EXPECT_LT(sign * (side.price_e4 - best->price_e4), 100) << where << ' ' << participant;
            if (side.price_e4 == best->price_e4) {
                EXPECT_LT(side.size, best->size + 10) << where << ' ' << participant;
            }
        }
    }
}

TEST(Market, IndicatorsFollowFromTheQuotes) {
    TrafficConfig config = small_day();
    config.messages_count = 60'000;
    config.series_count = 1'500;
    config.restarts_count = 1;
    const std::vector<std::uint16_t> numbers{1, 2, 203, 204};
    std::map<std::string, Book> books;
    std::size_t checked = 0;
    for (const KeptBlock& block : blocks_of(config, published_lines(numbers))) {
        if (block.role == BlockRole::reset) {
            const std::string on = '@' + std::to_string(block.line);
            std::erase_if(books, [&](const auto& entry) { return entry.first.ends_with(on); });
        }
        for (const wire::Message& message : block.messages) {
            std::optional<Told> quote = reported(message, block.line);
            if (!quote) {
                continue;
            }
            judge(*quote, message.header.type);
            const char participant = message.header.participant;
            Book& book = books[quote->series];
            book.bids[participant] = quote->bid;
            book.offers[participant] = quote->offer;
            const IndicatorEffect effect = effect_of(message.header.indicator);
            follow(book.bid, effect.bid, participant, quote->bid, quote->best_bid);
            follow(book.offer, effect.offer, participant, quote->offer, quote->best_offer);
            verify(book.bids, book.bid, 1, quote->series + " bid");
            verify(book.offers, book.offer, -1, quote->series + " offer");
            ASSERT_FALSE(HasFailure()) << "quote " << checked;
            ++checked;
        }
    }
    EXPECT_GT(checked, 50'000U);
    const auto crowded = std::ranges::count_if(
        books, [](const auto& entry) { return entry.second.bids.size() >= 4; });
    EXPECT_GT(crowded, 50);
}

}  // namespace
}  // namespace pinstrike::feed::opra::traffic
