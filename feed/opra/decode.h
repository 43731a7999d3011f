// path: hot
//
// Decodes messages that were checked (walk.h) into events, without a further check. There is one
// function per category.
#pragma once

#include "config/check.h"
#include "config/prefetch_ahead.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/event_sink.h"
#include "feed/opra/layout.h"
#include "feed/opra/quote_event.h"
#include "feed/opra/test_symbols.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::feed::opra {

/// What all messages of one decode() call share.
struct DecodeContext {
    __m256i header;          ///< the result of quote_header()
    std::uint64_t gth_bits;  ///< or-ed into SeriesKey::name
    bool wants_tests;
};

namespace detail {

[[nodiscard]] inline std::int64_t strike_e8(std::int32_t strike, char code) {
    return std::int64_t{strike} * powers_to_e8[static_cast<std::size_t>(code) & code_bits];
}

/// a, d, f, k: symbol at 12, a reserved byte, expiration at 18, strike code at 21, strike at 22.
[[nodiscard]] inline SeriesKey series_of_long(const std::byte* m, std::uint64_t gth_bits) {
    static_assert(long_quote::symbol.at == 12 && long_quote::expiration.at == 18);
    const auto symbol = load_native<std::uint64_t>(m + 12) & SeriesKey::symbol_mask;
    const auto expiration = load_native<std::uint64_t>(m + 13) & ~SeriesKey::symbol_mask;
    return {symbol | expiration | gth_bits,
            strike_e8(get_signed<long_quote::strike>(m), get_char<long_quote::strike_code>(m))};
}

/// R: symbol at 12, expiration at 17, adjacent as in SeriesKey::name.
[[nodiscard]] inline SeriesKey series_of_map(const std::byte* m, std::uint64_t gth_bits) {
    static_assert(series_map::symbol.at == 12 && series_map::expiration.at == 17);
    return {load_native<std::uint64_t>(m + 12) | gth_bits,
            strike_e8(get_signed<series_map::strike>(m), get_char<series_map::strike_code>(m))};
}

inline void write_header(Event& event, const DecodeContext& context, const std::byte* m,
                         EventKind kind, std::uint32_t sequence, unsigned records, char code) {
    Header& header = event.header;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&header), context.header);  // tidy: a header
    header.kind = kind;
    header.records = static_cast<std::uint8_t>(records);
    header.participant = get_char<message::participant>(m);
    header.sequence = sequence;
    header.type = get_char<message::type>(m);
    header.indicator = get_char<message::indicator>(m);
    header.code = code;
    header.sequence_high = 0;
}

/// Whether a message about this symbol is a test that no core gets.
[[nodiscard]] inline bool is_filtered(std::uint64_t symbol_word, const DecodeContext& context) {
    return !context.wants_tests && is_test_symbol(symbol_word);
}

template <class Rest>
inline void write_rest(Event* first, const Rest& rest) {
    static_assert(sizeof(Rest) == sizeof(Event));
    std::memcpy(static_cast<void*>(first + 1), &rest, sizeof rest);
}

/// Decodes one quote into `event`. Returns the number of records; 0: it is a test.
[[nodiscard]] inline unsigned decode_quote(const std::byte* m, const QuoteForm& form,
                                           std::uint32_t sequence, const DecodeContext& context,
                                           Event* event) {
    const QuoteEvent quote = quote_event(m, numbered_header(context.header, sequence), form,
                                         gth_of_name(context.gth_bits));
    if (is_filtered(quote.symbol_word(), context)) [[unlikely]] {
        return 0;
    }
    quote.store(event);
    if (form.records == 2) {
        store_32(event + 1, bests_of_quote(m, form));
    }
    return form.records;
}

/// Decodes consecutive quotes from message `first` on into slots that the sink reserves, up to the
/// first other message. Returns the index of the first message that was not decoded.
template <EventSink Sink>
inline unsigned decode_quotes(const Block& block, unsigned first, unsigned end,
                              const DecodeContext& context, Sink& sink) {
    Event* const reserved = counts_on(block.sequence, end)
                                ? sink.next_slots(quote_records_max * (end - first))
                                : nullptr;
    if (reserved == nullptr) {
        return first;
    }
    // Copies, because the compiler cannot exclude that the stores below alias the originals.
    const std::byte* const bytes = block.bytes.data();
    const MessagePlace* const places = block.places;
    const bool wants_tests = context.wants_tests;
    const __m128i gth = gth_of_name(context.gth_bits);
    __m256i numbered = numbered_header(context.header, sequence_of(block.sequence, first));
    Event* event = reserved;
    unsigned messages = 0;
    unsigned i = first;
    for (; i < end; ++i, numbered = next_number(numbered)) {
        const MessagePlace place = places[i];
        if (place.form == no_quote_form) [[unlikely]] {
            break;
        }
        const std::byte* m = bytes + place.offset;
        const QuoteForm& form = quote_forms[place.form];
        const QuoteEvent quote = quote_event(m, numbered, form, gth);
        if (!wants_tests && is_test_symbol(quote.symbol_word())) [[unlikely]] {
            sink.filtered();
            continue;
        }
        quote.store(event);
        prefetch_ahead(event);
        ++messages;
        if (appendage_sides_of_form(place.form) == 0) {
            ++event;
        } else {
            store_32(event + 1, bests_of_quote(m, form));
            event += quote_records_max;
        }
    }
    sink.commit(messages, static_cast<std::size_t>(event - reserved));
    return i;
}

inline void decode_last_sale(const std::byte* m, std::uint32_t sequence,
                             const DecodeContext& context, Event* event) {
    write_header(*event, context, m, EventKind::trade, sequence, 1,
                 get_char<last_sale::price_code>(m));
    event->body.trade = {.series = series_of_long(m, context.gth_bits),
                         .price = get_signed<last_sale::price>(m),
                         .volume = get<last_sale::volume>(m),
                         .trade_id = get<last_sale::trade_id>(m),
                         .reference = get<message::reference>(m)};
}

inline void decode_open_interest(const std::byte* m, std::uint32_t sequence,
                                 const DecodeContext& context, Event* event) {
    write_header(*event, context, m, EventKind::open_interest, sequence, 1, 'I');
    event->body.open_interest = {.series = series_of_long(m, context.gth_bits),
                                 .open_interest = get<open_interest::open_interest>(m)};
}

inline void decode_end_of_day(const std::byte* m, std::uint32_t sequence,
                              const DecodeContext& context, Event* event) {
    write_header(*event, context, m, EventKind::end_of_day, sequence, 2,
                 get_char<end_of_day::price_code>(m));
    event->body.end_of_day = {.series = series_of_long(m, context.gth_bits),
                              .volume = get<end_of_day::volume>(m),
                              .open_interest = get<end_of_day::open_interest>(m),
                              .open = get_signed<end_of_day::open>(m),
                              .high = get_signed<end_of_day::high>(m)};
    write_rest(event, EndOfDayRest{.underlying = get_signed<end_of_day::underlying>(m),
                                   .low = get_signed<end_of_day::low>(m),
                                   .last = get_signed<end_of_day::last>(m),
                                   .net_change = get_signed<end_of_day::net_change>(m),
                                   .bid = get_signed<end_of_day::bid>(m),
                                   .offer = get_signed<end_of_day::offer>(m),
                                   .underlying_code = get_char<end_of_day::underlying_code>(m)});
}

inline void decode_series_map(const std::byte* m, std::uint32_t sequence,
                              const DecodeContext& context, Event* event) {
    write_header(*event, context, m, EventKind::series_map, sequence, 1, 'I');
    event->body.series_map = {.series = series_of_map(m, context.gth_bits),
                              .mapped_line = get<series_map::mapped_line>(m)};
}

inline void decode_underlying(const std::byte* m, std::uint32_t sequence,
                              const DecodeContext& context, Event* event) {
    write_header(*event, context, m, EventKind::underlying, sequence, 1,
                 get_char<underlying::code>(m));
    const bool two_sided = get_char<message::type>(m) == 'I';
    event->body.underlying = {
        .symbol = load_native<std::uint64_t>(m + underlying::symbol.at) & SeriesKey::symbol_mask,
        .value = two_sided ? 0 : get_signed<underlying::value>(m),
        .bid = two_sided ? get_signed<underlying::bid>(m) : 0,
        .offer = two_sided ? get_signed<underlying::offer>(m) : 0,
    };
}

template <EventSink Sink>
inline void decode_text(const std::byte* m, std::uint32_t sequence, const DecodeContext& context,
                        Sink& sink) {
    constexpr std::size_t records_max = 1 + block::bytes_max / sizeof(Event);
    std::array<Event, records_max> event{};
    const std::size_t length = get<text::length>(m);
    const std::size_t rest = length - std::min(length, Text::first_bytes);
    const auto records = static_cast<unsigned>(1 + (rest + sizeof(Event) - 1) / sizeof(Event));
    PINSTRIKE_CHECK(records <= records_max);
    write_header(event.front(), context, m, EventKind::text, sequence, records, 'I');
    event.front().body.text = {.length_bytes = static_cast<std::uint16_t>(length), .text = {}};
    std::memcpy(event.front().body.text.text, m + text::bytes, length - rest);
    if (rest != 0) {
        std::memset(static_cast<void*>(&event[records - 1]), 0, sizeof(Event));
        std::memcpy(static_cast<void*>(&event[1]), m + text::bytes + Text::first_bytes, rest);
    }
    sink.push({event.data(), records});
}

/// Controls that carry no number of their own: start of day, reset, line integrity.
[[nodiscard]] inline bool is_unnumbered(char control_type) {
    return control_type == 'C' || control_type == 'K' || control_type == 'N';
}

/// Decodes a control among the numbered messages of a block. A start of day or reset should be
/// alone in its block, and the arbiter then applies it to the numbering. One that comes with other
/// messages only says what consumers must forget.
template <EventSink Sink>
inline void decode_control(const std::byte* m, std::uint32_t own, std::uint32_t of_block,
                           const DecodeContext& context, Sink& sink) {
    const char type = get_char<message::type>(m);
    Event event{};
    write_header(event, context, m, EventKind::control, is_unnumbered(type) ? of_block : own, 1,
                 'I');
    const Forget forget = type == 'C'   ? Forget::day
                          : type == 'P' ? Forget::quotes
                                        : Forget::nothing;
    event.body.control = {.forget = forget, .ends_day = type == 'J'};
    sink.broadcast(event);
}

/// Decodes any message except quotes, controls and texts into `event`, which has space for two
/// records. Returns the number of records; 0: it is a test.
[[nodiscard]] inline unsigned decode_other(char category, const std::byte* m,
                                           std::uint32_t sequence, const DecodeContext& context,
                                           Event* event) {
    switch (category) {
        case 'a':
            decode_last_sale(m, sequence, context, event);
            break;
        case 'd':
            decode_open_interest(m, sequence, context, event);
            break;
        case 'f':
            decode_end_of_day(m, sequence, context, event);
            break;
        case 'R':
            decode_series_map(m, sequence, context, event);
            break;
        default:  // Y, because inspect_message() refuses all others
            decode_underlying(m, sequence, context, event);
            break;
    }
    return is_filtered(symbol_word_of(*event), context) ? 0U : event->header.records;
}

/// Decodes one message of any category.
template <EventSink Sink>
inline void decode_message(const Block& block, unsigned index, const DecodeContext& context,
                           Sink& sink) {
    const MessagePlace place = block.places[index];
    const std::byte* m = block.bytes.data() + place.offset;
    const std::uint32_t own = sequence_of(block.sequence, index);
    const char category = get_char<message::category>(m);
    if (category == 'H') {
        return decode_control(m, own, sequence_of(block.sequence, 0), context, sink);
    }
    if (category == 'C') {
        return decode_text(m, own, context, sink);
    }
    std::array<Event, 2> event{};
    const unsigned records =
        place.form != no_quote_form
            ? decode_quote(m, quote_forms[place.form], own, context, event.data())
            : decode_other(category, m, own, context, event.data());
    if (records == 0) {
        return sink.filtered();
    }
    sink.push({event.data(), records});
}

}  // namespace detail
}  // namespace pinstrike::feed::opra
