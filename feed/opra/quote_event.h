// path: hot
//
// Quotes, long and short. A quote has one of eight forms: long or short, with an appendage for the
// bid, the offer, both or neither. Tables indexed by the form give its length, the valid values of
// its bytes, and the shuffles that turn it into an event in registers. So there is no branch on the
// form, which is not predictable. Two stores write the first record of the event.
//
// An event takes few stores on purpose. A slot of a ring was last read by another core, so its
// cache line has to come from that core's cache. The fewer stores wait for each cache line, the
// more cache lines can be in transfer.
#pragma once

#include "feed/event/event.h"
#include "feed/event/series_key.h"
#include "feed/opra/layout.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::feed::opra {

/// A form is an index: 0 for short or 1 for long, plus twice the sides that have an appendage (bit
/// 0 the bid, bit 1 the offer).
inline constexpr std::size_t quote_forms_count = 8;

/// The most records that the event of a quote takes.
inline constexpr unsigned quote_records_max = 2;

/// The form of a message that is not a quote.
inline constexpr std::uint16_t no_quote_form = quote_forms_count;

[[nodiscard]] constexpr bool is_long_form(std::size_t form) {
    return form % 2 != 0;
}

[[nodiscard]] constexpr unsigned appendage_sides_of_form(std::size_t form) {
    return static_cast<unsigned>(form / 2);
}

/// The length and the form of a quote in one word. One addition sums up what the category and the
/// indicator contribute to both.
class QuoteShape {
  public:
    constexpr QuoteShape() = default;

    constexpr QuoteShape(std::size_t bytes, std::size_t form)
        : word_(static_cast<std::uint32_t>(bytes | form << 16)) {}

    [[nodiscard]] constexpr QuoteShape operator+(QuoteShape other) const {
        QuoteShape sum;
        sum.word_ = word_ + other.word_;
        return sum;
    }

    [[nodiscard]] constexpr std::size_t bytes() const { return word_ & 0xFFFFU; }

    /// Valid only if is_quote().
    [[nodiscard]] constexpr std::uint16_t form() const {
        return static_cast<std::uint16_t>(word_ >> 16);
    }

    [[nodiscard]] constexpr bool is_quote() const { return bytes() < no_quote_bytes; }

    /// Longer than any block. Twice this value still fits into half a word.
    static constexpr std::size_t no_quote_bytes = 0x4000;

  private:
    std::uint32_t word_ = 0;
};

namespace detail {

struct QuoteShapes {
    std::array<QuoteShape, 256> of_category;
    std::array<QuoteShape, 256> of_indicator;

    constexpr QuoteShapes() {
        of_category.fill({QuoteShape::no_quote_bytes, 0});
        of_category['q'] = {short_quote::bytes, 0};
        of_category['k'] = {long_quote::bytes, 1};
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::size_t bytes = appendages_bytes[byte];
            of_indicator[byte] = bytes == appendages_unknown
                                     ? QuoteShape{QuoteShape::no_quote_bytes, 0}
                                     : QuoteShape{bytes, std::size_t{2} * appendage_sides[byte]};
        }
    }
};

inline constexpr QuoteShapes quote_shapes;

}  // namespace detail

/// Whether the message at `m` is a quote with a known indicator, and its length and form if so. The
/// caller has checked that the message header is in the block.
[[nodiscard]] inline QuoteShape quote_shape_of(const std::byte* m) {
    return detail::quote_shapes.of_category[static_cast<std::uint8_t>(m[message::category.at])] +
           detail::quote_shapes.of_indicator[static_cast<std::uint8_t>(m[message::indicator.at])];
}

namespace detail {

/// For each of 32 bytes: the lowest valid value, and the highest minus the lowest.
struct ByteLimits {
    alignas(32) std::array<std::uint8_t, 32> least{};
    alignas(32) std::array<std::uint8_t, 32> more{};

    constexpr ByteLimits() { more.fill(0xFF); }

    constexpr void set(std::size_t at, std::uint8_t first, std::uint8_t last) {
        least[at] = first;
        more[at] = static_cast<std::uint8_t>(last - first);
    }

    constexpr void set_code(std::size_t at) { set(at, 'A', 'I'); }

    constexpr void set_expiration(std::size_t at) {
        set(at, 'A', 'X');
        set(at + 1, 1, 31);
        set(at + 2, 0, 99);
    }
};

[[nodiscard]] inline __m256i load_32(const void* at) {
    __m256i bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/// 32 bytes, each of which is zero if the corresponding byte at `at` is within its limits.
[[nodiscard]] inline __m256i excess(const std::byte* at, const ByteLimits& limits) {
    const __m256i above = _mm256_sub_epi8(load_32(at), load_32(limits.least.data()));
    return _mm256_subs_epu8(above, load_32(limits.more.data()));
}

/// The head of a quote is its first 29 bytes and the three bytes before it.
inline constexpr std::size_t before_head = 3;
static_assert(before_head + short_quote::bytes == 32);

/// The limits of a quote's bytes: of its head, and of its last 32 bytes, which hold the appendages.
struct QuoteLimits {
    ByteLimits head;
    ByteLimits tail;
};

/// Indexed by form.
inline constexpr auto quote_limits = [] {
    std::array<QuoteLimits, quote_forms_count> limits;
    for (std::size_t form = 0; form < limits.size(); ++form) {
        ByteLimits& head = limits[form].head;
        if (is_long_form(form)) {
            head.set_expiration(before_head + long_quote::expiration.at);
            head.set_code(before_head + long_quote::strike_code.at);
            head.set_code(before_head + long_quote::price_code.at);
        } else {
            head.set(before_head + message::category.at, 'q', 'q');
            head.set_expiration(before_head + short_quote::expiration.at);
        }
        for (auto count = std::popcount(appendage_sides_of_form(form)); count != 0; --count) {
            const std::size_t from_end = static_cast<std::size_t>(count) * appendage::bytes;
            limits[form].tail.set_code(32 - from_end + appendage::code.at);
        }
    }
    return limits;
}();

/// The shuffle index that gives 0.
inline constexpr char none = -128;

/// The bits of a denominator code A-I that serve as its index.
inline constexpr std::uint8_t code_bits = 0x0F;

/// 1e8 / 10^decimals, indexed by denominator code & code_bits.
inline constexpr auto powers_to_e8 = [] {
    std::array<std::int64_t, code_bits + 1> powers{};
    std::int64_t power = 100'000'000;
    powers['I' & code_bits] = power;
    for (char code = 'A'; code <= 'H'; ++code) {
        power /= 10;
        powers[code & code_bits] = power;
    }
    return powers;
}();

/// The shuffles and constants that turn a quote of one form into an event.
struct alignas(256) QuoteForm {  // so that a shift of the index gives the offset
    /// Shuffles 16 bytes from the symbol on, and 16 bytes from prices_at on.
    alignas(32) std::array<char, 32> body{};
    alignas(32) std::array<char, 32> header_fill{};  ///< or-ed into the header
    alignas(32) std::array<char, 32> code_place{};   ///< mask of the price code, if it is sent
    alignas(16) std::array<char, 16> body_fill{};    ///< or-ed into the series
    alignas(16) std::array<char, 16> strike{};       ///< shuffles 16 bytes from the symbol on
    /// Shuffles the 16 bytes before bid_end, and the 16 bytes before offer_end.
    alignas(32) std::array<char, 32> bests{};
    alignas(32) std::array<char, 32> bests_fill{};  ///< or-ed into the result of `bests`
    std::uint8_t bytes = 0;                         ///< length without appendages
    std::uint8_t prices_at = 0;    ///< 16 bytes from here hold both prices and sizes
    std::uint8_t code_mask = 0;    ///< for the strike code; 0: it is implied
    std::uint8_t strike_code = 0;  ///< if it is implied, as an index
    std::uint8_t records = 1;
    std::uint8_t bid_end = 0;    ///< end of the bid's appendage; without one: `bytes`
    std::uint8_t offer_end = 0;  ///< end of the offer's appendage; without one: bid_end
};

// clang-format off

[[nodiscard]] constexpr QuoteForm short_form() {
    QuoteForm form;
    form.body = {0, 1, 2, 3, none, 4, 5, 6, none, none, none, none, none, none, none, none,
                 9, 8, none, none, 11, 10, none, none, 13, 12, none, none, 15, 14, none, none};
    form.body_fill[4] = ' ';
    form.strike = {none, none, none, none, none, none, none, none,
                   8, 7, none, none, none, none, none, none};
    form.bytes = short_quote::bytes;
    form.prices_at = 13;
    form.strike_code = short_quote::strike_code & code_bits;
    form.header_fill[offsetof(Header, code)] = short_quote::price_code;
    return form;
}

[[nodiscard]] constexpr QuoteForm long_form() {
    QuoteForm form;
    form.body = {0, 1, 2, 3, 4, 6, 7, 8, none, none, none, none, none, none, none, none,
                 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};
    form.strike = {none, none, none, none, none, none, none, none,
                   13, 12, 11, 10, none, none, none, none};
    form.bytes = long_quote::bytes;
    form.prices_at = long_quote::bid.at;
    form.code_mask = code_bits;
    form.code_place[offsetof(Header, code)] = -1;
    return form;
}

// clang-format on

/// Fills in the appendages of these sides: bit 0 the bid, bit 1 the offer.
constexpr void lay_out_bests(QuoteForm& form, unsigned sides) {
    static_assert(offsetof(Best, price) == 0 && offsetof(Best, size) == 4 &&
                  offsetof(Best, participant) == 8 && offsetof(Best, code) == 9 &&
                  offsetof(QuoteBest, offer) == 16 && appendage::bytes == 10);
    constexpr std::array<char, 10> places{11, 10, 9, 8, 15, 14, 13, 12, 6, 7};
    form.bests.fill(none);
    form.records = sides == 0 ? 1 : 2;
    form.header_fill[offsetof(Header, records)] = static_cast<char>(form.records);
    std::uint8_t end = form.bytes;
    for (const unsigned side : {0U, 1U}) {
        if ((sides >> side & 1U) != 0) {
            std::copy(places.begin(), places.end(), form.bests.begin() + 16 * side);
            end += appendage::bytes;
        } else {
            form.bests_fill[16 * side + offsetof(Best, code)] = 'I';
        }
        (side == 0 ? form.bid_end : form.offer_end) = end;
    }
}

/// Indexed by form.
inline constexpr auto quote_forms = [] {
    std::array<QuoteForm, quote_forms_count> forms;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        forms[i] = is_long_form(i) ? long_form() : short_form();
        lay_out_bests(forms[i], appendage_sides_of_form(i));
    }
    return forms;
}();

static_assert(short_quote::symbol.at == 12 && short_quote::expiration.at == 16 &&
              short_quote::strike.at == 12 + 7 && short_quote::bid.at == 13 + 8 &&
              short_quote::bytes == 13 + 16);
static_assert(long_quote::symbol.at == 12 && long_quote::expiration.at == 12 + 6 &&
              long_quote::strike.at == 12 + 10 && long_quote::bytes == long_quote::bid.at + 16);

[[nodiscard]] inline __m128i load_16(const std::byte* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));  // tidy: 16 bytes of a message
}

/// Loads an aligned row of a table.
template <class Row>
[[nodiscard]] inline __m128i row_of_16(const Row& row) {
    static_assert(sizeof(Row) == 16);
    return _mm_load_si128(reinterpret_cast<const __m128i*>(&row));  // tidy: a row is a vector
}

template <class Row>
[[nodiscard]] inline __m256i row_of_32(const Row& row) {
    static_assert(sizeof(Row) == 32);
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(&row));  // tidy: a row is a vector
}

inline void store_32(void* at, __m256i bytes) {
    _mm256_store_si256(static_cast<__m256i*>(at), bytes);
}

/// The header that the messages of one decode() call share, in a register. It lacks participant,
/// type, indicator, records and the price code, and has a sequence only if `base` has one.
[[nodiscard]] inline __m256i quote_header(const Header& base) {
    static_assert(offsetof(Header, records) == 3 && offsetof(Header, line) == 4 &&
                  offsetof(Header, session) == 6 && offsetof(Header, ts_exchange_ns) == 8 &&
                  offsetof(Header, ts_receive_ns) == 16 && offsetof(Header, sequence_high) == 31);
    const std::uint64_t first = static_cast<std::uint64_t>(EventKind::quote) |
                                static_cast<std::uint64_t>(base.venue) << 8 |
                                std::uint64_t{base.flags} << 16 | std::uint64_t{base.line} << 32 |
                                std::uint64_t{base.session} << 48;
    return _mm256_set_epi64x(base.sequence, base.ts_receive_ns, base.ts_exchange_ns,
                             static_cast<std::int64_t>(first));
}

/// `shared` with the sequence of a message.
[[nodiscard]] inline __m256i numbered_header(__m256i shared, std::uint32_t sequence) {
    static_assert(offsetof(Header, sequence) == 24);
    return _mm256_or_si256(shared, _mm256_set_epi64x(sequence, 0, 0, 0));
}

/// `numbered` with the sequence of the next message.
[[nodiscard]] inline __m256i next_number(__m256i numbered) {
    return _mm256_add_epi32(numbered, _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 1, 0));
}

/// `numbered` with the header constants of the quote's form.
[[nodiscard]] inline __m256i formed_header(__m256i numbered, const QuoteForm& form) {
    return _mm256_or_si256(numbered, row_of_32(form.header_fill));
}

/// `formed` with the header fields that the message carries in every form.
[[nodiscard]] inline __m256i header_of_quote(const std::byte* m, __m256i formed) {
    static_assert(offsetof(Header, participant) == 7 && offsetof(Header, type) == 16 + 12 &&
                  offsetof(Header, indicator) == 16 + 13);
    const __m256i places = _mm256_setr_epi8(
        none, none, none, none, none, none, none, message::participant.at, none, none, none, none,
        none, none, none, none, none, none, none, none, none, none, none, none, none, none, none,
        none, message::type.at, message::indicator.at, none, none);
    return _mm256_or_si256(formed,
                           _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_16(m)), places));
}

/// The price code at its place in the header, if this form sends it; else 0.
[[nodiscard]] inline __m256i sent_code(const std::byte* m, const QuoteForm& form) {
    static_assert(long_quote::price_code.at < short_quote::bytes);
    const auto code = static_cast<char>(m[long_quote::price_code.at]);
    return _mm256_and_si256(_mm256_set1_epi8(code), row_of_32(form.code_place));
}

/// The first record of a quote's event, in registers.
struct QuoteEvent {
    __m256i header;
    __m256i body;

    [[nodiscard]] std::uint64_t name() const {
        return static_cast<std::uint64_t>(_mm256_extract_epi64(body, 0));
    }

    [[nodiscard]] std::uint64_t symbol_word() const { return name() & SeriesKey::symbol_mask; }

    void store(Event* event) const {
        store_32(event, header);
        store_32(&event->body, body);
    }
};

/// The GTH bit of a SeriesKey::name (or 0), in a register.
[[nodiscard]] inline __m128i gth_of_name(std::uint64_t gth_bits) {
    return _mm_cvtsi64_si128(static_cast<std::int64_t>(gth_bits));
}

[[nodiscard]] inline __m256i quote_body(const std::byte* m, const QuoteForm& form, __m128i gth) {
    const __m128i series = load_16(m + 12);
    const __m128i prices = load_16(m + form.prices_at);
    const auto code = static_cast<std::uint8_t>(
        (static_cast<std::uint8_t>(m[long_quote::strike_code.at]) & form.code_mask) |
        form.strike_code);
    const __m128i to_e8 = _mm_set1_epi64x(powers_to_e8[code]);
    const __m128i strike_e8 =
        _mm_mul_epi32(_mm_shuffle_epi8(series, row_of_16(form.strike)), to_e8);
    const __m256i shuffled =
        _mm256_shuffle_epi8(_mm256_set_m128i(prices, series), row_of_32(form.body));
    const __m128i fill = _mm_or_si128(gth, row_of_16(form.body_fill));
    return _mm256_or_si256(shuffled, _mm256_zextsi128_si256(_mm_or_si128(strike_e8, fill)));
}

/// The first record of the quote at `m`, whose length the caller has checked. The caller writes the
/// second record, if the form has one.
[[nodiscard]] inline QuoteEvent quote_event(const std::byte* m, __m256i numbered,
                                            const QuoteForm& form, __m128i gth) {
    const __m256i formed = _mm256_or_si256(formed_header(numbered, form), sent_code(m, form));
    return {header_of_quote(m, formed), quote_body(m, form, gth)};
}

/// The second record of the quote at `m`: the appendages that its form has, transaction id and
/// reference.
[[nodiscard]] inline __m256i bests_of_quote(const std::byte* m, const QuoteForm& form) {
    static_assert(offsetof(QuoteBest, transaction_id) == 12 &&
                  offsetof(QuoteBest, reference) == 16 + 12);
    const __m256i id_places = _mm256_setr_epi8(
        none, none, none, none, none, none, none, none, none, none, none, none, 7, 6, 5, 4, none,
        none, none, none, none, none, none, none, none, none, none, none, 11, 10, 9, 8);
    const __m256i ids = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_16(m)), id_places);
    const __m256i ends =
        _mm256_set_m128i(load_16(m + form.offer_end - 16), load_16(m + form.bid_end - 16));
    const __m256i bests = _mm256_shuffle_epi8(ends, row_of_32(form.bests));
    return _mm256_or_si256(_mm256_or_si256(bests, row_of_32(form.bests_fill)), ids);
}

}  // namespace detail
}  // namespace pinstrike::feed::opra
