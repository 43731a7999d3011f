// path: cold
//
// The fields of each message as bytes on the wire (layout.h), for the encoder and the parser alike.
// The bytes at `m` are written from the struct if they can be, else they are read into it.
#pragma once

#include "feed/opra/message.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pinstrike::feed::opra {

/// Writes a value to field F. One that is no integer goes there byte by byte.
template <Field F, class T>
void pass(std::byte* m, const T& value) {
    static_assert(sizeof(T) == F.bytes && std::has_unique_object_representations_v<T>);
    if constexpr (std::is_integral_v<T>) {
        put<F>(m, value);
    } else {
        std::memcpy(m + F.at, &value, sizeof value);
    }
}

/// Reads a value from field F.
template <Field F, class T>
void pass(const std::byte* m, T& value) {
    static_assert(sizeof(T) == F.bytes && std::has_unique_object_representations_v<T>);
    if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(get<F>(m));
    } else {
        std::memcpy(&value, m + F.at, sizeof value);
    }
}

/// The struct of bytes that are written or read.
template <class Byte, class Struct>
using Passed = std::conditional_t<std::is_const_v<Byte>, Struct, const Struct>;

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::Header>& header) {
    pass<message::participant>(m, header.participant);
    pass<message::type>(m, header.type);
    pass<message::indicator>(m, header.indicator);
    pass<message::transaction_id>(m, header.transaction_id);
    pass<message::reference>(m, header.reference);
}

/// For categories a, d, f and k, which have the series in the same place.
template <class Byte, class Body>
void pass_series(Byte* m, Body& body) {
    pass<long_quote::symbol>(m, body.series.symbol);
    pass<long_quote::reserved>(m, body.reserved);
    pass<long_quote::expiration>(m, body.series.expiration);
    pass<long_quote::strike_code>(m, body.series.strike_code);
    pass<long_quote::strike>(m, body.series.strike);
}

template <class Byte>
void pass_fields(Byte* at, Passed<Byte, wire::Appendage>& best) {
    pass<appendage::participant>(at, best.participant);
    pass<appendage::code>(at, best.code);
    pass<appendage::price>(at, best.price);
    pass<appendage::size>(at, best.size);
}

/// Those that the indicator at `m` announces. The header must have been passed before.
template <class Byte, class Quote>
void pass_appendages(Byte* m, Quote& quote) {
    const IndicatorEffect effect = effect_of(get_char<message::indicator>(m));
    Byte* at = m + Quote::bytes;
    if (effect.bid == BestEffect::appendage) {
        pass_fields(at, quote.best_bid);
        at += appendage::bytes;
    }
    if (effect.offer == BestEffect::appendage) {
        pass_fields(at, quote.best_offer);
    }
}

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::LastSale>& body) {
    pass_series(m, body);
    pass<last_sale::volume>(m, body.volume);
    pass<last_sale::price_code>(m, body.price_code);
    pass<last_sale::price>(m, body.price);
    pass<last_sale::trade_id>(m, body.trade_id);
    pass<last_sale::reserved_tail>(m, body.reserved_tail);
}

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::OpenInterest>& body) {
    pass_series(m, body);
    pass<open_interest::open_interest>(m, body.open_interest);
}

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::EndOfDay>& body) {
    pass_series(m, body);
    pass<end_of_day::volume>(m, body.volume);
    pass<end_of_day::open_interest>(m, body.open_interest);
    pass<end_of_day::price_code>(m, body.price_code);
    pass<end_of_day::open>(m, body.open);
    pass<end_of_day::high>(m, body.high);
    pass<end_of_day::low>(m, body.low);
    pass<end_of_day::last>(m, body.last);
    pass<end_of_day::net_change>(m, body.net_change);
    pass<end_of_day::underlying_code>(m, body.underlying_code);
    pass<end_of_day::underlying>(m, body.underlying);
    pass<end_of_day::bid>(m, body.bid);
    pass<end_of_day::offer>(m, body.offer);
}

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::LongQuote>& body) {
    pass_series(m, body);
    pass<long_quote::price_code>(m, body.price_code);
    pass<long_quote::bid>(m, body.bid);
    pass<long_quote::bid_size>(m, body.bid_size);
    pass<long_quote::offer>(m, body.offer);
    pass<long_quote::offer_size>(m, body.offer_size);
    pass_appendages(m, body);
}

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::ShortQuote>& body) {
    pass<short_quote::symbol>(m, body.symbol);
    pass<short_quote::expiration>(m, body.expiration);
    pass<short_quote::strike>(m, body.strike);
    pass<short_quote::bid>(m, body.bid);
    pass<short_quote::bid_size>(m, body.bid_size);
    pass<short_quote::offer>(m, body.offer);
    pass<short_quote::offer_size>(m, body.offer_size);
    pass_appendages(m, body);
}

inline void pass_fields(std::byte* m, const wire::Text& body) {
    put<text::length>(m, static_cast<std::uint16_t>(body.text.size()));
    std::memcpy(m + text::bytes, body.text.data(), body.text.size());
}

inline void pass_fields(const std::byte* m, wire::Text& body) {
    body.text.resize(get<text::length>(m));
    std::memcpy(body.text.data(), m + text::bytes, body.text.size());
}

template <class Byte>
void pass_fields(Byte* /*m*/, Passed<Byte, wire::Control>& /*body*/) {}

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::SeriesMap>& body) {
    pass<series_map::symbol>(m, body.series.symbol);
    pass<series_map::expiration>(m, body.series.expiration);
    pass<series_map::strike_code>(m, body.series.strike_code);
    pass<series_map::strike>(m, body.series.strike);
    pass<series_map::mapped_line>(m, body.mapped_line);
    pass<series_map::reserved>(m, body.reserved);
}

template <class Byte>
void pass_fields(Byte* m, Passed<Byte, wire::Underlying>& body) {
    pass<underlying::symbol>(m, body.symbol);
    pass<underlying::reserved>(m, body.reserved);
    pass<underlying::code>(m, body.code);
    pass<underlying::bid>(m, body.first);
    pass<underlying::offer>(m, body.second);
}

}  // namespace pinstrike::feed::opra
