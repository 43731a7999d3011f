// path: cold
#include "feed/opra/parse.h"

#include <cstring>

namespace pinstrike::feed::opra {

namespace {

template <Field F>
auto get_chars(const std::byte* m) {
    std::array<char, F.bytes> chars;
    std::memcpy(chars.data(), m + F.at, chars.size());
    return chars;
}

template <Field F>
wire::Expiration get_expiration(const std::byte* m) {
    static_assert(F.bytes == 3);
    return {.letter = static_cast<char>(m[F.at]),
            .day = static_cast<std::uint8_t>(m[F.at + 1]),
            .year = static_cast<std::uint8_t>(m[F.at + 2])};
}

/// For categories a, d, f and k, which have the series in the same place.
wire::Series get_series(const std::byte* m) {
    return {.symbol = get_chars<long_quote::symbol>(m),
            .expiration = get_expiration<long_quote::expiration>(m),
            .strike_code = get_char<long_quote::strike_code>(m),
            .strike = get_signed<long_quote::strike>(m)};
}

wire::Appendage get_appendage(const std::byte* at) {
    return {.participant = get_char<appendage::participant>(at),
            .code = get_char<appendage::code>(at),
            .price = get_signed<appendage::price>(at),
            .size = get<appendage::size>(at)};
}

template <class Quote>
void get_appendages(const std::byte* m, std::size_t fixed_bytes, Quote& quote) {
    const IndicatorEffect effect = effect_of(get_char<message::indicator>(m));
    const std::byte* at = m + fixed_bytes;
    if (effect.bid == BestEffect::appendage) {
        quote.best_bid = get_appendage(at);
        at += appendage::bytes;
    }
    if (effect.offer == BestEffect::appendage) {
        quote.best_offer = get_appendage(at);
    }
}

wire::LastSale get_last_sale(const std::byte* m) {
    return {.series = get_series(m),
            .volume = get<last_sale::volume>(m),
            .price_code = get_char<last_sale::price_code>(m),
            .price = get_signed<last_sale::price>(m),
            .trade_id = get<last_sale::trade_id>(m),
            .reserved = get<last_sale::reserved>(m),
            .reserved_tail = get<last_sale::reserved_tail>(m)};
}

wire::OpenInterest get_open_interest(const std::byte* m) {
    return {.series = get_series(m),
            .open_interest = get<open_interest::open_interest>(m),
            .reserved = get<open_interest::reserved>(m)};
}

wire::EndOfDay get_end_of_day(const std::byte* m) {
    return {.series = get_series(m),
            .volume = get<end_of_day::volume>(m),
            .open_interest = get<end_of_day::open_interest>(m),
            .price_code = get_char<end_of_day::price_code>(m),
            .open = get_signed<end_of_day::open>(m),
            .high = get_signed<end_of_day::high>(m),
            .low = get_signed<end_of_day::low>(m),
            .last = get_signed<end_of_day::last>(m),
            .net_change = get_signed<end_of_day::net_change>(m),
            .underlying_code = get_char<end_of_day::underlying_code>(m),
            .underlying = get_signed<end_of_day::underlying>(m),
            .bid = get_signed<end_of_day::bid>(m),
            .offer = get_signed<end_of_day::offer>(m),
            .reserved = get<end_of_day::reserved>(m)};
}

wire::LongQuote get_long_quote(const std::byte* m) {
    wire::LongQuote quote{.series = get_series(m),
                          .price_code = get_char<long_quote::price_code>(m),
                          .bid = get_signed<long_quote::bid>(m),
                          .bid_size = get<long_quote::bid_size>(m),
                          .offer = get_signed<long_quote::offer>(m),
                          .offer_size = get<long_quote::offer_size>(m),
                          .best_bid = {},
                          .best_offer = {},
                          .reserved = get<long_quote::reserved>(m)};
    get_appendages(m, long_quote::bytes, quote);
    return quote;
}

wire::ShortQuote get_short_quote(const std::byte* m) {
    wire::ShortQuote quote{.symbol = get_chars<short_quote::symbol>(m),
                           .expiration = get_expiration<short_quote::expiration>(m),
                           .strike = get<short_quote::strike>(m),
                           .bid = get<short_quote::bid>(m),
                           .bid_size = get<short_quote::bid_size>(m),
                           .offer = get<short_quote::offer>(m),
                           .offer_size = get<short_quote::offer_size>(m),
                           .best_bid = {},
                           .best_offer = {}};
    get_appendages(m, short_quote::bytes, quote);
    return quote;
}

wire::Text get_text(const std::byte* m) {
    wire::Text body{std::string(get<text::length>(m), '\0')};
    std::memcpy(body.text.data(), m + text::bytes, body.text.size());
    return body;
}

wire::SeriesMap get_series_map(const std::byte* m) {
    wire::SeriesMap map{.series = {.symbol = get_chars<series_map::symbol>(m),
                                   .expiration = get_expiration<series_map::expiration>(m),
                                   .strike_code = get_char<series_map::strike_code>(m),
                                   .strike = get_signed<series_map::strike>(m)},
                        .mapped_line = get<series_map::mapped_line>(m),
                        .reserved = {}};
    std::memcpy(map.reserved.data(), m + series_map::reserved.at, map.reserved.size());
    return map;
}

wire::Underlying get_underlying(const std::byte* m) {
    return {.symbol = get_chars<underlying::symbol>(m),
            .code = get_char<underlying::code>(m),
            .first = get_signed<underlying::bid>(m),
            .second = get_signed<underlying::offer>(m),
            .reserved = get<underlying::reserved>(m)};
}

wire::Body get_body(const std::byte* m) {
    switch (get_char<message::category>(m)) {
        case 'a':
            return get_last_sale(m);
        case 'd':
            return get_open_interest(m);
        case 'f':
            return get_end_of_day(m);
        case 'k':
            return get_long_quote(m);
        case 'q':
            return get_short_quote(m);
        case 'C':
            return get_text(m);
        case 'R':
            return get_series_map(m);
        case 'Y':
            return get_underlying(m);
        default:  // H, because inspect_message() refuses all others
            return wire::Control{};
    }
}

}  // namespace

wire::Message parse_message(const std::byte* m) {
    return {.header = {.participant = get_char<message::participant>(m),
                       .type = get_char<message::type>(m),
                       .indicator = get_char<message::indicator>(m),
                       .transaction_id = get<message::transaction_id>(m),
                       .reference = get<message::reference>(m)},
            .body = get_body(m)};
}

Parsed parse_block(std::span<const std::byte> payload, bool verify_checksum) {
    Opra::Scratch scratch;
    Block checked;
    Parsed parsed;
    parsed.result = Opra::check(payload, verify_checksum, scratch, checked);
    if (!parsed.result.accepted) {
        return parsed;
    }
    const std::byte* start = checked.bytes.data();
    wire::DecodedBlock& whole = parsed.block.emplace();
    whole.header = {.retransmission = get_char<block::retransmission>(start),
                    .session = checked.session,
                    .sequence = static_cast<std::uint32_t>(checked.sequence),
                    .seconds = get<block::seconds>(start),
                    .nanoseconds = get<block::nanoseconds>(start)};
    whole.messages_count = static_cast<std::uint8_t>(checked.messages);
    std::size_t end = block::header_bytes;
    for (unsigned i = 0; i < checked.decodable; ++i) {
        const std::size_t at = checked.places[i].offset;
        end = at + inspect_message(start + at, checked.bytes.size() - at).bytes;
        whole.messages.push_back(parse_message(start + at));
    }
    const auto tail = checked.bytes.subspan(end);
    whole.tail.assign(tail.begin(), tail.end());
    return parsed;
}

}  // namespace pinstrike::feed::opra
