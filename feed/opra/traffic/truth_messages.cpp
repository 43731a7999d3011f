// path: cold
#include "feed/opra/traffic/truth_messages.h"

#include "feed/opra/traffic/decimal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ostream>
#include <string>
#include <string_view>
#include <variant>

namespace pinstrike::feed::opra::traffic {

namespace {

using Json = nlohmann::ordered_json;

std::string one(char byte) {
    return std::string(1, byte);
}

template <std::size_t N>
std::string trimmed(const std::array<char, N>& symbol) {
    std::string text{symbol.data(), N};
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

void add_expiration(Json& json, const wire::Expiration& expiration) {
    const bool call = expiration.letter <= 'L';
    json["expiration"] = fmt::format("20{:02}-{:02}-{:02}", expiration.year,
                                     expiration.letter - (call ? 'A' : 'M') + 1, expiration.day);
    json["right"] = call ? "C" : "P";
}

void add_series(Json& json, const wire::Series& series) {
    json["symbol"] = trimmed(series.symbol);
    add_expiration(json, series.expiration);
    json["strike"] = decimal(series.strike, series.strike_code);
}

Json best_of(const wire::Appendage& best) {
    return {{"participant", one(best.participant)},
            {"price", decimal(best.price, best.code)},
            {"size", best.size}};
}

template <class Quote>
void add_quote(Json& json, char indicator, const Quote& quote, char code) {
    json["bid"] = decimal(quote.bid, code);
    json["bid_size"] = quote.bid_size;
    json["offer"] = decimal(quote.offer, code);
    json["offer_size"] = quote.offer_size;
    if (std::string_view{"MNOP"}.find(indicator) != std::string_view::npos) {
        json["best_bid"] = best_of(quote.best_bid);
    }
    if (std::string_view{"CGKO"}.find(indicator) != std::string_view::npos) {
        json["best_offer"] = best_of(quote.best_offer);
    }
}

struct AddBody {
    Json& json;
    const wire::Header& header;

    void operator()(const wire::LastSale& sale) const {
        add_series(json, sale.series);
        json["price"] = decimal(sale.price, sale.price_code);
        json["volume"] = sale.volume;
        json["trade_id"] = sale.trade_id;
    }

    void operator()(const wire::OpenInterest& interest) const {
        add_series(json, interest.series);
        json["open_interest"] = interest.open_interest;
    }

    void operator()(const wire::EndOfDay& day) const {
        add_series(json, day.series);
        json["volume"] = day.volume;
        json["open_interest"] = day.open_interest;
        json["open"] = decimal(day.open, day.price_code);
        json["high"] = decimal(day.high, day.price_code);
        json["low"] = decimal(day.low, day.price_code);
        json["last"] = decimal(day.last, day.price_code);
        json["net_change"] = decimal(day.net_change, day.price_code);
        json["underlying"] = decimal(day.underlying, day.underlying_code);
        json["bid"] = decimal(day.bid, day.price_code);
        json["offer"] = decimal(day.offer, day.price_code);
    }

    void operator()(const wire::LongQuote& quote) const {
        add_series(json, quote.series);
        add_quote(json, header.indicator, quote, quote.price_code);
    }

    void operator()(const wire::ShortQuote& quote) const {
        json["symbol"] = trimmed(quote.symbol);
        add_expiration(json, quote.expiration);
        json["strike"] = decimal(quote.strike, 'A');
        add_quote(json, header.indicator, quote, 'B');
    }

    void operator()(const wire::Text& text) const { json["text"] = text.text; }

    void operator()(const wire::Control& /*control*/) const {}

    void operator()(const wire::SeriesMap& map) const {
        add_series(json, map.series);
        json["mapped_line"] = map.mapped_line;
    }

    void operator()(const wire::Underlying& underlying) const {
        json["symbol"] = trimmed(underlying.symbol);
        if (header.type == 'I') {
            json["bid"] = decimal(underlying.first, underlying.code);
            json["offer"] = decimal(underlying.second, underlying.code);
        } else {
            json["value"] = decimal(underlying.first, underlying.code);
        }
    }
};

}  // namespace

void write_messages(std::ostream& out, const SentBlock& block) {
    std::uint64_t number = block.header.sequence;
    for (const wire::Message& message : block.messages) {
        const wire::Header& header = message.header;
        Json json;
        json["line"] = block.line_number;
        json["stream"] = "A";
        json["seq"] = number;
        json["ts_ns"] = block.ts_ns;
        json["session"] = block.header.session;
        json["retransmitted"] = false;
        json["category"] = one(message.category());
        json["type"] = one(header.type);
        json["indicator"] = one(header.indicator);
        json["participant"] = one(header.participant);
        json["transaction_id"] = header.transaction_id;
        json["reference"] = header.reference;
        std::visit(AddBody{json, header}, message.body);
        out << json.dump() << '\n';
        number = number == 0xFFFF'FFFFULL ? 1 : number + 1;
    }
}

}  // namespace pinstrike::feed::opra::traffic
