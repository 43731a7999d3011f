// path: hot
//
// The fast path of a block that is the next of its line: one pass finds, checks and writes its
// messages. No reader sees a reserved slot before commit(), so an event may be written
// before the block is known to be valid. If a check fails, nothing is committed, and the block goes
// through walk.h and decode.h, which also find the reason. The fast path therefore accepts only
// blocks whose messages are all valid, and none of which goes to more than one core (controls) or
// needs many records (texts). Nearly all blocks are like that. Writing an event of an invalid
// message is harmless: no byte value gives an index outside a table, no byte outside the block is
// read, and no message fills more slots than were reserved for it.
//
// run_fast_path() selects one of three paths:
//
//     decode_short_quotes  A block whose size is that of short quotes without appendages, the most
//                          frequent one. No message waits for the length of the one before. If
//                          another message is among them, the block begins again on one of the
//                          other two paths.
//     decode_avx512        Any block of six messages or more, with vectors of 64 bytes, if the
//                          processor has AVX-512 VBMI (avx512_path.cpp).
//     decode_avx2          Any other block, with vectors of 32 bytes.
//
// The last two have no branch on the form of a quote, because such a branch is not predictable.
#pragma once

#include "config/prefetch_ahead.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/opra/decode.h"
#include "feed/opra/layout.h"
#include "feed/opra/quote_event.h"
#include "feed/opra/test_symbols.h"
#include "feed/opra/walk.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

/// Whether this processor has AVX-512 VBMI. Tests and benchmarks set it to false to compare.
extern bool use_avx512;

namespace detail {

/// A block on the fast path.
struct FastPathBlock {
    const std::byte* bytes;
    std::size_t size;
    unsigned messages;       ///< as its header says
    std::uint32_t sequence;  ///< of the first message; the numbers do not wrap within the block
};

/// The result of the fast path for one block.
struct FastPathResult {
    bool sound = false;       ///< all messages are valid; false: discard all that was written
    unsigned tests = 0;       ///< test messages that were not written
    std::size_t records = 0;  ///< records that were written
};

/// Whether a message of this category goes to one core and takes at most two records, so that the
/// fast path can decode it between quotes.
[[nodiscard]] inline bool may_stand_between_quotes(char category) {
    return category == 'a' || category == 'Y' || category == 'd' || category == 'f' ||
           category == 'R';
}

/// The result of decode_between_quotes().
struct DecodedOther {
    std::uint32_t bytes = 0;    ///< length of the message; 0: it was not decoded
    std::uint32_t records = 0;  ///< 0: it is a test
};

/// Checks the message at `m`, with `left` bytes in the block, and writes it to `event`. Decodes
/// nothing if the category cannot stand between quotes or the message is not decodable. A separate
/// function that returns its result by value, because one message in seventy is not a quote, and
/// the loop over the others must keep its values in registers.
[[nodiscard, gnu::noinline]] inline DecodedOther decode_between_quotes(const std::byte* m,
                                                                       std::size_t left,
                                                                       std::uint32_t sequence,
                                                                       const DecodeContext& context,
                                                                       Event* event) {
    const char category = get_char<message::category>(m);
    if (!may_stand_between_quotes(category)) {
        return {};
    }
    const std::uint32_t bytes = inspect_message(m, left).bytes;
    if (bytes == 0) {
        return {};
    }
    return {bytes, decode_other(category, m, sequence, context, event)};
}

/// Whether a block has the length of one of short quotes without appendages, with or without a pad.
/// A shorter block does not: the subtraction of unsigned sizes then gives a large number.
[[nodiscard]] inline bool has_size_of_short_quotes(FastPathBlock block) {
    return block.size - (block::header_bytes + block.messages * short_quote::bytes) <= 1;
}

/// The short-quote path, for a block that has this size.
template <bool wants_tests>
[[nodiscard, gnu::always_inline]] inline FastPathResult decode_short_quotes(
    FastPathBlock block, const DecodeContext& context, Event* events) {
    const QuoteForm& form = quote_forms[0];
    const __m128i gth = gth_of_name(context.gth_bits);
    __m256i header = formed_header(context.header, form);
    __m256i wrong = _mm256_setzero_si256();
    unsigned appendages = 0;
    unsigned tests = 0;
    Event* event = events;
    const std::byte* m = block.bytes + block::header_bytes;
    for (const std::byte* const end = m + block.messages * short_quote::bytes; m != end;
         m += short_quote::bytes) {
        wrong = _mm256_or_si256(wrong, excess(m - before_head, quote_limits[0].head));
        appendages |= appendages_bytes[static_cast<std::uint8_t>(m[message::indicator.at])];
        const QuoteEvent quote{header_of_quote(m, header), quote_body(m, form, gth)};
        header = next_number(header);
        if (!wants_tests && is_test_symbol(quote.symbol_word())) [[unlikely]] {
            ++tests;
            continue;
        }
        quote.store(event);
        prefetch_ahead(event++);
    }
    return {appendages == 0 && _mm256_testz_si256(wrong, wrong) != 0, tests,
            static_cast<std::size_t>(event - events)};
}

/// The AVX2 path, for any block.
[[nodiscard, gnu::always_inline]] inline FastPathResult decode_avx2(FastPathBlock block,
                                                                    const DecodeContext& context,
                                                                    Event* events) {
    const std::byte* const bytes = block.bytes;
    const bool wants_tests = context.wants_tests;
    const __m128i gth = gth_of_name(context.gth_bits);
    __m256i numbered = context.header;
    __m256i wrong = _mm256_setzero_si256();
    unsigned tests = 0;
    Event* event = events;
    std::size_t at = block::header_bytes;
    for (unsigned i = 0; i < block.messages; ++i, numbered = next_number(numbered)) {
        const std::size_t left = block.size - at;
        if (left < message::header_bytes) [[unlikely]] {
            return {};
        }
        const std::byte* m = bytes + at;
        const QuoteShape shape = quote_shape_of(m);
        if (shape.bytes() > left) [[unlikely]] {
            const DecodeContext shown = context;  // so that `context` can stay in registers
            const DecodedOther other =
                decode_between_quotes(m, left, block.sequence + i, shown, event);
            if (other.bytes == 0) {
                return {};
            }
            at += other.bytes;
            event += other.records;
            tests += other.records == 0 ? 1 : 0;
            continue;
        }
        at += shape.bytes();
        const QuoteLimits& limits = quote_limits[shape.form()];
        wrong = _mm256_or_si256(wrong, excess(m - before_head, limits.head));
        wrong = _mm256_or_si256(wrong, excess(bytes + at - 32, limits.tail));
        const QuoteForm& form = quote_forms[shape.form()];
        const QuoteEvent quote = quote_event(m, numbered, form, gth);
        if (!wants_tests && is_test_symbol(quote.symbol_word())) [[unlikely]] {
            ++tests;
            continue;
        }
        quote.store(event);
        prefetch_ahead(event);
        if (appendage_sides_of_form(shape.form()) == 0) {
            ++event;
        } else {
            store_32(event + 1, bests_of_quote(m, form));
            event += quote_records_max;
        }
    }
    return {block.size - at <= 1 && _mm256_testz_si256(wrong, wrong) != 0, tests,
            static_cast<std::size_t>(event - events)};
}

/// The AVX-512 path (avx512_path.cpp). `sequence` is the number of the first message. The fields of
/// FastPathBlock are separate arguments, so that they are passed in registers. A struct would be
/// written to memory and loaded here in another width, which prevents store forwarding.
[[nodiscard]] FastPathResult decode_avx512(const std::byte* bytes, std::size_t size,
                                           unsigned messages, std::uint32_t sequence,
                                           const DecodeContext& context, Event* events);

/// Checks all messages of a block and writes their events. `events` has two slots for each message.
/// `context.header` has the number of the first message.
[[nodiscard, gnu::always_inline]] inline FastPathResult run_fast_path(FastPathBlock block,
                                                                      const DecodeContext& context,
                                                                      Event* events) {
    constexpr unsigned avx512_messages_min = 6;  // with fewer, the call costs more than it saves
    if (has_size_of_short_quotes(block)) [[likely]] {
        const FastPathResult result = context.wants_tests
                                          ? decode_short_quotes<true>(block, context, events)
                                          : decode_short_quotes<false>(block, context, events);
        if (result.sound) [[likely]] {
            return result;
        }
    }
    if (block.messages >= avx512_messages_min && use_avx512) {
        const DecodeContext shown = context;
        return decode_avx512(block.bytes, block.size, block.messages, block.sequence, shown,
                             events);
    }
    return decode_avx2(block, context, events);
}

}  // namespace detail
}  // namespace pinstrike::feed::opra
