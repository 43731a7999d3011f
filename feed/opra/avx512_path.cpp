// path: hot
//
// The AVX-512 path of fast_path.h, for processors with VBMI. A quote has at most 63 bytes including
// its appendages, so one register holds it, and one permutation of the register gives each record
// of its event.
#include "feed/opra/fast_path.h"

// gcc 12 warns of the registers that its own intrinsics leave undefined on purpose (gcc bug
// 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "config/prefetch_ahead.h"
#include "feed/opra/layout.h"
#include "feed/opra/quote_event.h"
#include "feed/opra/test_symbols.h"

#include <array>

namespace pinstrike::feed::opra {

bool use_avx512 = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");

namespace {

#define PINSTRIKE_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]]

using Bytes64 = std::array<std::uint8_t, 64>;

/// The index of a byte that is 0 in every register that holds a message, because no message is that
/// long.
constexpr std::uint8_t zero_at = 63;
static_assert(long_quote::bytes + 2 * appendage::bytes == zero_at);

/// For each byte of a record: the index of the byte of the message that goes there.
struct Places {
    Bytes64 from{};

    constexpr Places() { from.fill(zero_at); }

    constexpr void set(std::size_t to, std::size_t at) { from[to] = static_cast<std::uint8_t>(at); }
};

/// How a quote of one form is laid out, checked and written.
struct alignas(1024) Avx512Form {  // so that a shift of the index gives the offset
    Places record;                 ///< first record; the strike is not scaled yet
    Places bests;                  ///< second record
    Bytes64 fill{};                ///< or-ed into the first record
    Bytes64 bests_fill{};          ///< or-ed into the second record
    Bytes64 least{};               ///< for each byte of the message: the lowest valid value,
    Bytes64 more{};                ///< and the highest minus the lowest
    std::uint64_t bytes_mask = 0;  ///< a bit for each byte of the message
    std::uint64_t symbol_mask = 0;
    std::uint64_t symbol_fill = 0;  ///< or-ed into a symbol's word
    std::uint8_t code_mask = 0;     ///< for the strike code; 0: it is implied
    std::uint8_t strike_code = 0;   ///< if it is implied

    constexpr void limit(std::size_t at, std::uint8_t first, std::uint8_t last) {
        least[at] = first;
        more[at] = static_cast<std::uint8_t>(last - first);
    }

    constexpr void limit_code(std::size_t at) { limit(at, 'A', 'I'); }
};

constexpr std::size_t body_at = offsetof(Event, body);
constexpr std::size_t strike_at = body_at + offsetof(SeriesKey, strike_e8);

constexpr void lay_out_record(Avx512Form& form, const detail::QuoteForm& quote_form) {
    form.record.set(offsetof(Header, participant), message::participant.at);
    form.record.set(offsetof(Header, type), message::type.at);
    form.record.set(offsetof(Header, indicator), message::indicator.at);
    for (std::size_t i = 0; i < quote_form.body.size(); ++i) {
        if (quote_form.body[i] != detail::none) {
            const std::size_t base = i < 16 ? 12 : quote_form.prices_at;
            form.record.set(body_at + i, base + static_cast<std::size_t>(quote_form.body[i]));
        }
    }
    for (std::size_t i = 0; i < quote_form.strike.size(); ++i) {
        if (quote_form.strike[i] != detail::none) {
            form.record.set(strike_at - 8 + i, 12 + static_cast<std::size_t>(quote_form.strike[i]));
        }
    }
}

constexpr void lay_out_best(Avx512Form& form, std::size_t to, std::size_t at) {
    form.bests.set(to + offsetof(Best, participant), at + appendage::participant.at);
    form.bests.set(to + offsetof(Best, code), at + appendage::code.at);
    for (std::size_t i = 0; i < 4; ++i) {
        form.bests.set(to + offsetof(Best, price) + i, at + appendage::price.at + 3 - i);
        form.bests.set(to + offsetof(Best, size) + i, at + appendage::size.at + 3 - i);
    }
    form.limit_code(at + appendage::code.at);
}

constexpr void lay_out_bests(Avx512Form& form, std::size_t fixed_bytes, unsigned sides) {
    std::size_t at = fixed_bytes;
    for (unsigned side = 0; side < 2; ++side) {
        const std::size_t to = side == 0 ? offsetof(QuoteBest, bid) : offsetof(QuoteBest, offer);
        if ((sides >> side & 1U) != 0) {
            lay_out_best(form, to, at);
            at += appendage::bytes;
        } else {
            form.bests_fill[to + offsetof(Best, code)] = 'I';
        }
    }
    for (std::size_t i = 0; i < 4; ++i) {
        form.bests.set(offsetof(QuoteBest, transaction_id) + i, message::transaction_id.at + 3 - i);
        form.bests.set(offsetof(QuoteBest, reference) + i, message::reference.at + 3 - i);
    }
    form.bytes_mask = (std::uint64_t{1} << at) - 1;
    form.fill[offsetof(Header, records)] = sides == 0 ? 1 : 2;
}

constexpr void limit_expiration(Avx512Form& form, std::size_t at) {
    form.limit(at, 'A', 'X');
    form.limit(at + 1, 1, 31);
    form.limit(at + 2, 0, 99);
}

constexpr Avx512Form make_form(bool is_long, unsigned sides) {
    Avx512Form form;
    form.more.fill(0xFF);
    const detail::QuoteForm& quote_form = detail::quote_forms[is_long ? 1 : 0];
    lay_out_record(form, quote_form);
    form.code_mask = quote_form.code_mask;
    form.strike_code = quote_form.strike_code;
    form.symbol_mask = is_long ? 0xFF'FFFF'FFFF : 0xFFFF'FFFF;
    form.symbol_fill = is_long ? 0 : std::uint64_t{' '} << 32;
    const std::uint8_t category = is_long ? 'k' : 'q';
    form.limit(message::category.at, category, category);
    if (is_long) {
        form.record.set(offsetof(Header, code), long_quote::price_code.at);
        limit_expiration(form, long_quote::expiration.at);
        form.limit_code(long_quote::strike_code.at);
        form.limit_code(long_quote::price_code.at);
    } else {
        form.fill[offsetof(Header, code)] = short_quote::price_code;
        form.fill[body_at + 4] = ' ';
        limit_expiration(form, short_quote::expiration.at);
    }
    lay_out_bests(form, quote_form.bytes, sides);
    return form;
}

/// Indexed by form.
constexpr auto avx512_forms = [] {
    std::array<Avx512Form, quote_forms_count> forms;
    for (std::size_t form = 0; form < forms.size(); ++form) {
        forms[form] = make_form(is_long_form(form), appendage_sides_of_form(form));
    }
    return forms;
}();

PINSTRIKE_AVX512 inline __m512i row(const Bytes64& bytes) {
    return _mm512_load_si512(bytes.data());
}

PINSTRIKE_AVX512 inline __m512i placed(const Places& places, __m512i message) {
    return _mm512_permutexvar_epi8(row(places.from), message);
}

/// The bitwise or of all three.
PINSTRIKE_AVX512 inline __m512i any_of(__m512i one, __m512i two, __m512i three) {
    return _mm512_ternarylogic_epi64(one, two, three, 0xFE);
}

// --- where messages are ---

/// The length of a quote is the sum of two table values, each indexed by the low six bits of a
/// byte: the category gives the length without appendages, the indicator that of the appendages. A
/// sum of 0x80 or more: not a quote.
constexpr std::uint8_t no_length = 0x80;

alignas(64) constexpr Bytes64 category_lengths = [] {
    Bytes64 table{};
    table.fill(no_length);
    table['q' & 0x3F] = short_quote::bytes;
    table['k' & 0x3F] = long_quote::bytes;
    return table;
}();

alignas(64) constexpr Bytes64 indicator_lengths = [] {
    Bytes64 table{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        if (known_indicator(static_cast<char>(byte))) {
            table[byte & 0x3F] = appendages_bytes[byte];
        }
    }
    return table;
}();

/// The lengths of 64 messages that would begin at consecutive bytes and have these categories and
/// indicators.
PINSTRIKE_AVX512 inline __m512i lengths_by(__m512i categories, __m512i indicators) {
    return _mm512_add_epi8(_mm512_permutexvar_epi8(categories, row(category_lengths)),
                           _mm512_permutexvar_epi8(indicators, row(indicator_lengths)));
}

/// Stores, for each byte of the block from `at` on, the length of a quote that would begin there.
/// The loop over messages then needs one load, and no table lookup, to get from the start of one
/// message to the start of the next.
PINSTRIKE_AVX512 inline void find_lengths(std::span<const std::byte> block, std::size_t at,
                                          std::uint8_t* lengths) {
    constexpr std::size_t ahead = message::indicator.at;
    for (; at + 64 + ahead <= block.size(); at += 64) {
        const std::byte* from = block.data() + at;
        _mm512_storeu_si512(lengths + at,
                            lengths_by(_mm512_loadu_si512(from + message::category.at),
                                       _mm512_loadu_si512(from + message::indicator.at)));
    }
    for (; at < block.size(); at += 64) {
        const std::byte* from = block.data() + at;
        const std::uint64_t there = _bzhi_u64(~0ULL, static_cast<unsigned>(block.size() - at));
        _mm512_storeu_si512(lengths + at,
                            lengths_by(_mm512_maskz_loadu_epi8(there >> message::category.at,
                                                               from + message::category.at),
                                       _mm512_maskz_loadu_epi8(there >> message::indicator.at,
                                                               from + message::indicator.at)));
    }
}

// --- events ---

/// A record with the header that all quotes share, the number of the first message, and the GTH bit
/// of the series.
PINSTRIKE_AVX512 inline __m512i shared_record(const DecodeContext& context) {
    return _mm512_inserti64x4(
        _mm512_maskz_set1_epi64(1U << (body_at / 8), static_cast<long long>(context.gth_bits)),
        context.header, 0);
}

/// The first record of the quote in `message`. `code` is the denominator code of its strike, as an
/// index.
PINSTRIKE_AVX512 inline __m512i first_record(const Avx512Form& form, __m512i message, unsigned code,
                                             __m512i numbered) {
    const __m512i record = placed(form.record, message);
    const __m512i scaled = _mm512_mask_mul_epi32(record, 1U << (strike_at / 8), record,
                                                 _mm512_set1_epi64(detail::powers_to_e8[code]));
    return any_of(scaled, row(form.fill), numbered);
}

[[nodiscard, gnu::always_inline]] inline bool is_test(const std::byte* m, const Avx512Form& form) {
    return is_test_symbol((load_native<std::uint64_t>(m + 12) & form.symbol_mask) |
                          form.symbol_fill);
}

}  // namespace

namespace detail {

PINSTRIKE_AVX512 FastPathResult decode_avx512(const std::byte* bytes, std::size_t size,
                                              unsigned messages, std::uint32_t sequence,
                                              const DecodeContext& context, Event* events) {
    alignas(64) std::array<std::uint8_t, block::bytes_max + 2 * 64> lengths;
    find_lengths({bytes, size}, block::header_bytes, lengths.data());
    const bool wants_tests = context.wants_tests;
    const __m512i next_number = _mm512_maskz_set1_epi32(1U << (offsetof(Header, sequence) / 4), 1);
    __m512i numbered = shared_record(context);
    __m512i wrong = _mm512_setzero_si512();
    unsigned tests = 0;
    Event* event = events;
    std::size_t at = block::header_bytes;
    for (unsigned i = 0; i < messages; ++i, numbered = _mm512_add_epi32(numbered, next_number)) {
        const std::size_t left = size - at;
        if (left < message::header_bytes) [[unlikely]] {
            return {};
        }
        const std::byte* m = bytes + at;
        const std::size_t length = lengths[at];
        const QuoteShape shape = quote_shape_of(m);
        if (length != shape.bytes() || length > left) [[unlikely]] {  // six bits are ambiguous
            const DecodedOther other = decode_between_quotes(m, left, sequence + i, context, event);
            if (other.bytes == 0) {
                return {};
            }
            at += other.bytes;
            event += other.records;
            tests += other.records == 0 ? 1 : 0;
            continue;
        }
        at += length;
        const Avx512Form& form = avx512_forms[shape.form()];
        const __m512i message = _mm512_maskz_loadu_epi8(form.bytes_mask, m);
        const __m512i above = _mm512_sub_epi8(message, row(form.least));
        wrong = _mm512_or_si512(wrong, _mm512_subs_epu8(above, row(form.more)));
        if (is_test(m, form) && !wants_tests) [[unlikely]] {
            ++tests;
            continue;
        }
        const unsigned code =
            (static_cast<std::uint8_t>(m[long_quote::strike_code.at]) & form.code_mask) |
            form.strike_code;
        _mm512_store_si512(event, first_record(form, message, code, numbered));
        store_32(event + 1, _mm512_castsi512_si256(_mm512_or_si512(placed(form.bests, message),
                                                                   row(form.bests_fill))));
        prefetch_ahead(event);
        event += appendage_sides_of_form(shape.form()) == 0 ? 1 : 2;
    }
    return {size - at <= 1 && _mm512_test_epi8_mask(wrong, wrong) == 0, tests,
            static_cast<std::size_t>(event - events)};
}

}  // namespace detail
}  // namespace pinstrike::feed::opra
