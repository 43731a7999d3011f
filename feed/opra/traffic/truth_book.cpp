// path: cold
#include "feed/opra/traffic/truth_book.h"

#include "feed/opra/layout.h"
#include "feed/opra/traffic/decimal.h"
#include "feed/opra/traffic/reserved_symbols.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>
#include <string_view>

namespace pinstrike::feed::opra::traffic {

namespace {

constexpr std::uint64_t rollover_zone = 1ULL << 20;

std::int64_t scaled_e8(std::int64_t value, char code) {
    for (unsigned i = places(code); i < 8; ++i) {
        value *= 10;
    }
    return value;
}

wire::Series series_of(const wire::LongQuote& quote) {
    return quote.series;
}

wire::Series series_of(const wire::ShortQuote& quote) {
    wire::Series series;
    std::copy(quote.symbol.begin(), quote.symbol.end(), series.symbol.begin());
    series.expiration = quote.expiration;
    series.strike_code = 'A';
    series.strike = quote.strike;
    return series;
}

char price_code_of(const wire::LongQuote& quote) {
    return quote.price_code;
}

char price_code_of(const wire::ShortQuote& /*quote*/) {
    return 'B';
}

}  // namespace

std::int64_t BookTruth::Price::e8() const {
    return scaled_e8(value, code);
}

void BookTruth::block(const SentBlock& block) {
    LineNumbers& line = lines_[block.line_number];
    if (block.role == BlockRole::start_of_day || block.role == BlockRole::reset) {
        reset(block);
        line = {true, std::uint64_t{block.header.sequence} + 1};
        return;
    }
    if (block.role == BlockRole::line_integrity) {
        return;
    }
    const std::uint64_t after = std::uint64_t{block.header.sequence} + block.messages.size();
    line.joined = true;
    line.next = after > sequence_max + 1 ? after - sequence_max : after;
    for (const wire::Message& one : block.messages) {
        message(block, one);
    }
}

/// A K that lowers the number invalidates quotes, unless it announces the wrap (OPRA Block Sequence
/// Number).
void BookTruth::reset(const SentBlock& block) {
    if (block.role == BlockRole::start_of_day) {
        forget_day(block.line_number);
        return;
    }
    const LineNumbers& line = lines_[block.line_number];
    const std::uint64_t number = block.header.sequence;
    const std::uint64_t highest = line.next - 1;
    const bool rollover = number == 1 && highest > sequence_max + 1 - rollover_zone;
    if (line.joined && number + 1 < line.next && !rollover) {
        forget_quotes(block.line_number);
    }
}

void BookTruth::forget_day(std::uint16_t line) {
    std::erase_if(series_, [=](const auto& entry) { return entry.second.line == line; });
}

void BookTruth::forget_quotes(std::uint16_t line) {
    for (auto& [key, state] : series_) {
        if (state.line == line) {
            state.bid = state.offer = {};
        }
    }
}

BookTruth::State* BookTruth::state_of(const SentBlock& block, const wire::Series& series,
                                      bool create) {
    const std::string symbol{wire::trimmed(series.symbol)};
    if (is_reserved_symbol(symbol)) {
        return nullptr;
    }
    const bool call = series.expiration.letter <= 'L';
    const int month = series.expiration.letter - (call ? 'A' : 'M') + 1;
    const bool gth = block.line_number >= 201 && block.line_number <= 204;
    Key key{
        symbol,
        fmt::format("20{:02}-{:02}-{:02}", series.expiration.year, month, series.expiration.day),
        call ? 'C' : 'P', scaled_e8(series.strike, series.strike_code), gth};
    const auto found = series_.find(key);
    if (found == series_.end() && !create) {
        return nullptr;
    }
    State& state = found != series_.end() ? found->second : series_[std::move(key)];
    state.line = block.line_number;
    state.strike = normalised(series.strike, series.strike_code);
    return &state;
}

void BookTruth::message(const SentBlock& block, const wire::Message& message) {
    if (const auto* sale = std::get_if<wire::LastSale>(&message.body)) {
        if (State* state = state_of(block, sale->series, true)) {
            trade(*state, message.header, *sale);
        }
    } else if (const auto* interest = std::get_if<wire::OpenInterest>(&message.body)) {
        if (State* state = state_of(block, interest->series, true)) {
            state->open_interest = interest->open_interest;
        }
    } else if (const auto* summary = std::get_if<wire::EndOfDay>(&message.body)) {
        state_of(block, summary->series, false);
    } else if (const auto* long_quote = std::get_if<wire::LongQuote>(&message.body)) {
        quote(block, message.header, *long_quote);
    } else if (const auto* short_quote = std::get_if<wire::ShortQuote>(&message.body)) {
        quote(block, message.header, *short_quote);
    } else if (message.category() == 'H' && message.header.type == 'P') {
        forget_quotes(block.line_number);
    }
}

/// Applies the grid of OPRA BBO Indicator, which is written out by hand here: rows are the bid,
/// columns the offer.
template <class Quote>
void BookTruth::quote(const SentBlock& block, const wire::Header& header, const Quote& quote) {
    State* state = state_of(block, series_of(quote), true);
    if (state == nullptr) {
        return;
    }
    ++state->quotes;
    const char code = price_code_of(quote);
    constexpr std::string_view bid_this = "EFGH";
    constexpr std::string_view bid_none = "IJKL";
    constexpr std::string_view bid_appended = "MNOP";
    constexpr std::string_view offer_this = "BFJN";
    constexpr std::string_view offer_appended = "CGKO";
    constexpr std::string_view offer_none = "DHLP";
    const auto is = [&](std::string_view letters) {
        return letters.find(header.indicator) != std::string_view::npos;
    };
    if (is(bid_this)) {
        state->bid = {true, {{header.participant, Price{quote.bid, code}, quote.bid_size}}};
    } else if (is(bid_none)) {
        state->bid = {true, std::nullopt};
    } else if (is(bid_appended)) {
        const wire::Appendage& best = quote.best_bid;
        state->bid = {true, {{best.participant, Price{best.price, best.code}, best.size}}};
    }
    if (is(offer_this)) {
        state->offer = {true, {{header.participant, Price{quote.offer, code}, quote.offer_size}}};
    } else if (is(offer_none)) {
        state->offer = {true, std::nullopt};
    } else if (is(offer_appended)) {
        const wire::Appendage& best = quote.best_offer;
        state->offer = {true, {{best.participant, Price{best.price, best.code}, best.size}}};
    }
}

void BookTruth::widen(State& state, Price price) {
    if (!state.high || price.e8() > state.high->e8()) {
        state.high = price;
    }
    if (!state.low || price.e8() < state.low->e8()) {
        state.low = price;
    }
}

void BookTruth::cancel(State& state, char type, std::uint32_t volume) {
    state.volume -= std::min<std::uint64_t>(state.volume, volume);
    if (type == 'C') {
        state.last.reset();
    } else if (type == 'E') {
        state.open.reset();
    } else if (type == 'G') {
        state.volume = 0;
        state.open.reset();
        state.high.reset();
        state.low.reset();
        state.last.reset();
    }
}

void BookTruth::trade(State& state, const wire::Header& header, const wire::LastSale& sale) {
    const char type = header.type;
    if (type == 'A' || type == 'C' || type == 'E' || type == 'G') {
        cancel(state, type, sale.volume);
        return;
    }
    ++state.trades;
    state.volume += sale.volume;
    if (type == 'u' || type == 'v') {
        return;
    }
    const Price price{sale.price, sale.price_code};
    widen(state, price);
    const bool opens = type == 'F' || type == 'H';
    if (opens || (type != 'B' && !state.open)) {
        state.open = price;
    }
    if (type != 'F' && type != 'B') {
        state.last = LastTrade{header.participant, price, sale.volume, type};
    }
}

void BookTruth::write(std::ostream& out) const {
    using Json = nlohmann::ordered_json;
    const auto price = [](const std::optional<Price>& some) {
        return some ? Json(normalised(some->value, some->code)) : Json(nullptr);
    };
    const auto best = [](const BestSide& side) {
        if (!side.best) {
            return Json(nullptr);
        }
        const auto& [participant, at, size] = *side.best;
        return Json{{"participant", std::string(1, participant)},
                    {"price", normalised(at.value, at.code)},
                    {"size", size}};
    };
    for (const auto& [key, state] : series_) {
        Json json;
        json["symbol"] = std::get<0>(key);
        json["expiration"] = std::get<1>(key);
        json["right"] = std::string(1, std::get<2>(key));
        json["strike"] = state.strike;
        json["line"] = state.line;
        json["best_bid"] = best(state.bid);
        json["best_offer"] = best(state.offer);
        json["bid_state"] = state.bid.known ? "fresh" : "unknown";
        json["offer_state"] = state.offer.known ? "fresh" : "unknown";
        json["open"] = price(state.open);
        json["high"] = price(state.high);
        json["low"] = price(state.low);
        json["last"] = nullptr;
        if (state.last) {
            json["last"] = {{"participant", std::string(1, state.last->participant)},
                            {"price", normalised(state.last->price.value, state.last->price.code)},
                            {"size", state.last->size},
                            {"type", std::string(1, state.last->type)}};
        }
        json["volume"] = state.volume;
        json["trades"] = state.trades;
        json["quotes"] = state.quotes;
        json["open_interest"] = state.open_interest ? Json(*state.open_interest) : Json(nullptr);
        out << json.dump() << '\n';
    }
}

}  // namespace pinstrike::feed::opra::traffic
