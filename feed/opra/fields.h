// path: cold
//
// Passes the fields of a message to a writer, key by key in a fixed order. JSON and text are two
// such writers. A writer has text(key, string), number(key, unsigned), decimal(key, integer,
// denominator code) and best(key, appendage).
#pragma once

#include "feed/lines/line_config.h"
#include "feed/opra/decode.h"
#include "feed/opra/message.h"

#include <array>
#include <cstdint>
#include <string>

namespace pinstrike::feed::opra {

/// The number of message `index`. Controls that carry no number of their own have that of the block
/// (OPRA Block Sequence Number).
[[nodiscard]] inline std::uint32_t number_of(const wire::DecodedBlock& block, std::size_t index) {
    const wire::Message& message = block.messages[index];
    const bool unnumbered = message.category() == 'H' && detail::is_unnumbered(message.header.type);
    return unnumbered ? block.header.sequence
                      : sequence_of(block.header.sequence, static_cast<unsigned>(index));
}

[[nodiscard]] inline std::int64_t time_ns_of(const wire::BlockHeader& header) {
    return std::int64_t{header.seconds} * 1'000'000'000 + header.nanoseconds;
}

[[nodiscard]] inline bool is_call(const wire::Expiration& expiration) {
    return expiration.letter <= 'L';
}

/// "YYYY-MM-DD". A day that the month does not have is printed as it was sent.
[[nodiscard]] std::string date_text(const wire::Expiration& expiration);

namespace detail {

template <class Writer, std::size_t N>
void write_series(Writer& out, const std::array<char, N>& symbol,
                  const wire::Expiration& expiration, std::int32_t strike, char strike_code) {
    out.text("symbol", wire::trimmed(symbol));
    out.text("expiration", date_text(expiration));
    out.text("right", is_call(expiration) ? "C" : "P");
    out.decimal("strike", strike, strike_code);
}

template <class Writer>
void write_series(Writer& out, const wire::Series& series) {
    write_series(out, series.symbol, series.expiration, series.strike, series.strike_code);
}

template <class Writer, class Quote>
void write_bests(Writer& out, char indicator, const Quote& quote) {
    const IndicatorEffect effect = effect_of(indicator);
    if (effect.bid == BestEffect::appendage) {
        out.best("best_bid", quote.best_bid);
    }
    if (effect.offer == BestEffect::appendage) {
        out.best("best_offer", quote.best_offer);
    }
}

}  // namespace detail

template <class Writer>
void write_fields(Writer& out, const wire::Header& /*header*/, const wire::LastSale& body) {
    detail::write_series(out, body.series);
    out.decimal("price", body.price, body.price_code);
    out.number("volume", body.volume);
    out.number("trade_id", body.trade_id);
}

template <class Writer>
void write_fields(Writer& out, const wire::Header& /*header*/, const wire::OpenInterest& body) {
    detail::write_series(out, body.series);
    out.number("open_interest", body.open_interest);
}

template <class Writer>
void write_fields(Writer& out, const wire::Header& /*header*/, const wire::EndOfDay& body) {
    detail::write_series(out, body.series);
    out.number("volume", body.volume);
    out.number("open_interest", body.open_interest);
    out.decimal("open", body.open, body.price_code);
    out.decimal("high", body.high, body.price_code);
    out.decimal("low", body.low, body.price_code);
    out.decimal("last", body.last, body.price_code);
    out.decimal("net_change", body.net_change, body.price_code);
    out.decimal("underlying", body.underlying, body.underlying_code);
    out.decimal("bid", body.bid, body.price_code);
    out.decimal("offer", body.offer, body.price_code);
}

template <class Writer>
void write_fields(Writer& out, const wire::Header& header, const wire::LongQuote& body) {
    detail::write_series(out, body.series);
    out.decimal("bid", body.bid, body.price_code);
    out.number("bid_size", body.bid_size);
    out.decimal("offer", body.offer, body.price_code);
    out.number("offer_size", body.offer_size);
    detail::write_bests(out, header.indicator, body);
}

template <class Writer>
void write_fields(Writer& out, const wire::Header& header, const wire::ShortQuote& body) {
    detail::write_series(out, body.symbol, body.expiration, body.strike, short_quote::strike_code);
    out.decimal("bid", body.bid, short_quote::price_code);
    out.number("bid_size", body.bid_size);
    out.decimal("offer", body.offer, short_quote::price_code);
    out.number("offer_size", body.offer_size);
    detail::write_bests(out, header.indicator, body);
}

template <class Writer>
void write_fields(Writer& out, const wire::Header& /*header*/, const wire::Text& body) {
    out.text("text", body.text);
}

template <class Writer>
void write_fields(Writer& /*out*/, const wire::Header& /*header*/, const wire::Control& /*body*/) {}

template <class Writer>
void write_fields(Writer& out, const wire::Header& /*header*/, const wire::SeriesMap& body) {
    detail::write_series(out, body.series);
    out.number("mapped_line", body.mapped_line);
}

template <class Writer>
void write_fields(Writer& out, const wire::Header& header, const wire::Underlying& body) {
    out.text("symbol", wire::trimmed(body.symbol));
    if (header.type == 'I') {
        out.decimal("bid", body.first, body.code);
        out.decimal("offer", body.second, body.code);
    } else {
        out.decimal("value", body.first, body.code);
    }
}

}  // namespace pinstrike::feed::opra
