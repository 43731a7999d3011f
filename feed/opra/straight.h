// path: hot
//
// The fast path of a block that is the next of its line: one pass finds, checks and writes its
// messages. The writer owns a slot that a ring offers until take(), so it may write an event before
// the block is known to be valid. If a check fails, nothing is taken, and the block goes through
// walk.h and decode.h, which also find the reason. The fast path therefore accepts only blocks
// whose messages are all valid, and none of which goes to more than one core (controls) or needs
// many records (texts). Nearly all blocks are like that. Writing an event of an invalid message is
// harmless: no byte value gives an index outside a table, no byte outside the block is read, and no
// message fills more slots than were offered for it.
//
// There are three paths. The short-quote path is for blocks of short quotes without appendages,
// which are the most frequent. It recognises them by their size, so that no message waits for the
// length of the one before. The AVX2 path (here) and the AVX-512 path (wide_quotes.h) accept any
// block, with vectors of 32 and 64 bytes. They have no branch on the form of a quote, because such
// a branch is not predictable.
#pragma once

#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/opra/decode.h"
#include "feed/opra/layout.h"
#include "feed/opra/quote_event.h"
#include "feed/opra/straight_run.h"
#include "feed/opra/test_symbols.h"
#include "feed/opra/walk.h"
#include "feed/opra/wide_quotes.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra::detail {

/// A block on the fast path.
struct StraightBlock {
    const std::byte* bytes;
    std::size_t size;
    unsigned messages;       ///< as its header says
    std::uint32_t sequence;  ///< of the first message; the numbers do not wrap within the block
};

/// Whether a block has the length of one of short quotes without appendages, with or without a pad.
[[nodiscard]] inline bool has_size_of_plain_quotes(StraightBlock block) {
    return block.size - (block::header_bytes + block.messages * short_quote::bytes) <= 1;
}

/// The short-quote path, for a block that has this size.
template <bool wants_tests>
[[nodiscard, gnu::always_inline]] inline StraightRun run_plain(StraightBlock block,
                                                               const DecodeContext& context,
                                                               Event* events) {
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
        ask_ahead(event++);
    }
    return {appendages == 0 && _mm256_testz_si256(wrong, wrong) != 0, tests,
            static_cast<std::size_t>(event - events)};
}

/// The AVX2 path, for any block.
[[nodiscard, gnu::always_inline]] inline StraightRun run_narrow(StraightBlock block,
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
            const TakenAmid other = take_amid_quotes(m, left, block.sequence + i, shown, event);
            if (other.bytes == 0) {
                return {};
            }
            at += other.bytes;
            event += other.records;
            tests += other.tests;
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
        ask_ahead(event);
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

/// `events` has two slots for each message.
[[nodiscard, gnu::always_inline]] inline StraightRun run(StraightBlock block,
                                                         const DecodeContext& context,
                                                         Event* events) {
    if (has_size_of_plain_quotes(block)) [[likely]] {
        const StraightRun plain = context.wants_tests ? run_plain<true>(block, context, events)
                                                      : run_plain<false>(block, context, events);
        if (plain.sound) [[likely]] {
            return plain;
        }
    }
    if (go_wide(block.messages)) {
        const DecodeContext shown = context;
        return run_wide(block.bytes, block.size, block.messages, block.sequence, shown, events);
    }
    return run_narrow(block, context, events);
}

/// Writes the events of the whole block into slots that the sink offers. `context.header` has the
/// number of the first message. False: the block does not take the fast path, or the sink offers no
/// slots; nothing was taken.
template <EventSink Sink>
[[nodiscard, gnu::always_inline]] inline bool decode_straight(const Block& block,
                                                              const DecodeContext& context,
                                                              Sink& sink) {
    if (!counts_on(block.sequence, block.messages)) [[unlikely]] {
        return false;
    }
    Event* const offered = sink.offer(quote_records_max * std::size_t{block.messages});
    if (offered == nullptr) [[unlikely]] {
        return false;
    }
    const StraightRun made = run({block.bytes.data(), block.bytes.size(), block.messages,
                                  static_cast<std::uint32_t>(block.sequence)},
                                 context, offered);
    if (!made.sound) [[unlikely]] {
        return false;
    }
    for (unsigned test = 0; test < made.tests; ++test) {
        sink.filtered();
    }
    sink.take(block.messages - made.tests, made.records);
    return true;
}

}  // namespace pinstrike::feed::opra::detail
