// path: hot
//
// Long and short quotes become events without a branch on which of the two they are, and without
// going through memory: bytes are put in their places by shuffles, in registers, and an event is
// two stores. What a form says is all that tells the two apart.
//
// Stores are few on purpose. A slot of a ring was last read by another core, so its line has to
// come from there; the fewer stores wait for a line, the more lines can be on their way.
#pragma once

#include "feed/event.h"
#include "feed/opra/layout.h"

#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra::detail {

/// A byte of a shuffle that becomes 0.
inline constexpr char none = -128;

/// How a quote of one category is laid out.
struct QuoteForm {
    std::size_t bytes;       ///< without appendages
    std::size_t prices_at;   ///< 16 bytes from here hold both prices and sizes
    std::uint64_t fill;      ///< or-ed into the series' name
    std::uint8_t code_mask;  ///< 0 where codes are implied
    std::uint8_t strike_code;
    std::uint8_t price_code;
    alignas(16) std::array<char, 16> strike;  ///< of the 16 bytes from the symbol on
    alignas(32) std::array<char, 32> body;    ///< of these, then of those at prices_at
};

// clang-format off

/// Short, long.
inline constexpr std::array<QuoteForm, 2> quote_forms{
    QuoteForm{short_quote::bytes, 13, std::uint64_t{' '} << 32, 0, short_quote::strike_code,
              short_quote::price_code,
              {none, none, none, none, none, none, none, none, 8, 7, none, none, none, none, none,
               none},
              {0, 1, 2, 3, none, 4, 5, 6, none, none, none, none, none, none, none, none,
               9, 8, none, none, 11, 10, none, none, 13, 12, none, none, 15, 14, none, none}},
    QuoteForm{long_quote::bytes, long_quote::bid.at, 0, 0xFF, 0, 0,
              {none, none, none, none, none, none, none, none, 13, 12, 11, 10, none, none, none,
               none},
              {0, 1, 2, 3, 4, 6, 7, 8, none, none, none, none, none, none, none, none,
               3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12}}};

// clang-format on

static_assert(short_quote::symbol.at == 12 && short_quote::expiration.at == 16 &&
              short_quote::strike.at == 12 + 7 && short_quote::bid.at == 13 + 8 &&
              short_quote::bytes == 13 + 16);
static_assert(long_quote::symbol.at == 12 && long_quote::expiration.at == 12 + 6 &&
              long_quote::strike.at == 12 + 10 && long_quote::bytes == long_quote::bid.at + 16);

/// 1e8 / 10^decimals by denominator code A-I, behind eight bytes of 0.
struct alignas(16) Power {
    std::int64_t zero = 0;
    std::int64_t to_e8 = 0;
};

inline constexpr std::array<Power, 9> powers{{{0, 10'000'000},
                                              {0, 1'000'000},
                                              {0, 100'000},
                                              {0, 10'000},
                                              {0, 1'000},
                                              {0, 100},
                                              {0, 10},
                                              {0, 1},
                                              {0, 100'000'000}}};

[[nodiscard]] inline __m128i load_16(const std::byte* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));  // tidy: 16 bytes of a message
}

/// What stands in a table of ours, aligned.
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

/// The header that the messages of one decode() call share, in a register, as quotes have it: all
/// but participant, sequence, type, indicator and the code of prices.
[[nodiscard]] inline __m256i quote_header(const Header& base) {
    static_assert(offsetof(Header, line) == 4 && offsetof(Header, session) == 6 &&
                  offsetof(Header, ts_exchange_ns) == 8 && offsetof(Header, ts_receive_ns) == 16 &&
                  offsetof(Header, code2) == 31);
    const std::uint64_t first = static_cast<std::uint64_t>(EventKind::quote) |
                                static_cast<std::uint64_t>(base.venue) << 8 |
                                std::uint64_t{base.flags} << 16 | std::uint64_t{1} << 24 |
                                std::uint64_t{base.line} << 32 | std::uint64_t{base.session} << 48;
    return _mm256_set_epi64x(std::int64_t{'I'} << 56, base.ts_receive_ns, base.ts_exchange_ns,
                             static_cast<std::int64_t>(first));
}

/// `shared` with a message's sequence and code of prices.
[[nodiscard]] inline __m256i numbered_header(__m256i shared, std::uint32_t sequence,
                                             std::uint8_t code) {
    static_assert(offsetof(Header, sequence) == 24 && offsetof(Header, code) == 30);
    const std::uint64_t last = sequence | std::uint64_t{code} << 48;
    return _mm256_or_si256(shared, _mm256_set_epi64x(static_cast<std::int64_t>(last), 0, 0, 0));
}

/// `numbered` with what the message itself says.
[[nodiscard]] inline __m256i header_of_quote(const std::byte* m, __m256i numbered) {
    static_assert(offsetof(Header, participant) == 7 && offsetof(Header, type) == 16 + 12 &&
                  offsetof(Header, indicator) == 16 + 13);
    const __m256i places = _mm256_setr_epi8(
        none, none, none, none, none, none, none, message::participant.at, none, none, none, none,
        none, none, none, none, none, none, none, none, none, none, none, none, none, none, none,
        none, message::type.at, message::indicator.at, none, none);
    return _mm256_or_si256(numbered,
                           _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_16(m)), places));
}

/// A quote's event in registers.
struct QuoteEvent {
    __m256i header;
    __m256i body;

    [[nodiscard]] std::uint64_t name() const {
        return static_cast<std::uint64_t>(_mm256_extract_epi64(body, 0));
    }

    [[nodiscard]] SeriesKey series() const { return {name(), _mm256_extract_epi64(body, 1)}; }

    void store(Event* event) const {
        auto* const at = reinterpret_cast<__m256i*>(event);  // tidy: an event is two vectors
        _mm256_store_si256(at, header);
        _mm256_store_si256(at + 1, body);
    }
};

[[nodiscard]] inline __m256i quote_body(const std::byte* m, const QuoteForm& form,
                                        std::uint64_t gth_bits) {
    const __m128i series = load_16(m + 12);
    const __m128i prices = load_16(m + form.prices_at);
    const auto code = static_cast<std::uint8_t>(
        (static_cast<std::uint8_t>(m[long_quote::strike_code.at]) & form.code_mask) |
        form.strike_code);
    const Power& power = powers[static_cast<std::size_t>(code - 'A')];
    const __m128i strike_e8 =
        _mm_mul_epi32(_mm_shuffle_epi8(series, row_of_16(form.strike)), row_of_16(power));
    const __m256i shuffled =
        _mm256_shuffle_epi8(_mm256_set_m128i(prices, series), row_of_32(form.body));
    const __m128i fill = _mm_cvtsi64_si128(static_cast<std::int64_t>(form.fill | gth_bits));
    return _mm256_or_si256(shuffled, _mm256_zextsi128_si256(_mm_or_si128(strike_e8, fill)));
}

/// The event of the quote at `m`, which was inspected; its second record, if it has one, is the
/// caller's.
[[nodiscard]] inline QuoteEvent quote_event(const std::byte* m, std::uint32_t sequence,
                                            __m256i shared, const QuoteForm& form,
                                            std::uint64_t gth_bits) {
    const auto code = static_cast<std::uint8_t>(
        (static_cast<std::uint8_t>(m[long_quote::price_code.at]) & form.code_mask) |
        form.price_code);
    return {header_of_quote(m, numbered_header(shared, sequence, code)),
            quote_body(m, form, gth_bits)};
}

/// A Best from the 16 bytes that an appendage ends, or where there is none.
[[nodiscard]] inline __m128i best_ending_at(const std::byte* end, bool present) {
    static_assert(offsetof(Best, size) == 4 && offsetof(Best, participant) == 8 &&
                  offsetof(Best, code) == 9 && appendage::bytes == 10);

    struct Form {
        alignas(16) std::array<char, 16> places;
        alignas(16) std::array<char, 16> fill;
    };

    static constexpr std::array<Form, 2> forms{
        Form{{none, none, none, none, none, none, none, none, none, none, none, none, none, none,
              none, none},
             {0, 0, 0, 0, 0, 0, 0, 0, 0, 'I', 0, 0, 0, 0, 0, 0}},
        Form{{11, 10, 9, 8, 15, 14, 13, 12, 6, 7, none, none, none, none, none, none}, {}}};
    const Form& form = forms[present ? 1 : 0];
    return _mm_or_si128(_mm_shuffle_epi8(load_16(end - 16), row_of_16(form.places)),
                        row_of_16(form.fill));
}

inline void store_16(std::byte* at, __m128i bytes) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), bytes);  // tidy: 16 bytes of a record
}

}  // namespace pinstrike::feed::opra::detail
