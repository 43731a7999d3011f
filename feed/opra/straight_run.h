// path: hot
//
// What the variants of the fast path (straight.h) share: their result, and the decoding of single
// messages between quotes.
#pragma once

#include "feed/event/event.h"
#include "feed/opra/decode.h"
#include "feed/opra/layout.h"
#include "feed/opra/test_symbols.h"
#include "feed/opra/walk.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

/// The result of the fast path for one block.
struct StraightRun {
    bool sound = false;       ///< all messages are valid; false: discard all that was written
    unsigned tests = 0;       ///< test messages that were not written
    std::size_t records = 0;  ///< records that were written
};

namespace detail {

/// An EventSink for a single message between quotes. Its records go to the slots that the fast path
/// fills next. It offers no slots.
struct SingleMessageSink {
    Event* here;
    unsigned records = 0;
    unsigned tests = 0;

    Event* claim(const SeriesKey& /*series*/, unsigned wanted) { return take(wanted); }

    Event* claim_symbol(std::uint64_t /*symbol_word*/, unsigned wanted) { return take(wanted); }

    static Event* claim_line(std::uint16_t /*line*/, unsigned /*wanted*/) { return nullptr; }

    static Event* offer(std::size_t /*wanted*/) { return nullptr; }

    static void take(std::size_t /*messages*/, std::size_t /*wanted*/) {}

    static void broadcast(const Event& /*event*/) {}

    void filtered() { tests = 1; }

    [[nodiscard]] static bool wants_tests() { return false; }

  private:
    Event* take(unsigned wanted) {
        records = wanted;
        return here;
    }
};

/// Whether a message of this category goes to one core and takes at most two records, so that the
/// fast path can decode it between quotes.
[[nodiscard]] inline bool stands_amid_quotes(char category) {
    return category == 'a' || category == 'Y' || category == 'd' || category == 'f' ||
           category == 'R';
}

/// The result of take_amid_quotes().
struct TakenAmid {
    std::uint32_t bytes = 0;  ///< length of the message; 0: it was not decoded
    std::uint16_t records = 0;
    std::uint16_t tests = 0;
};

/// Checks the message at `m`, with `left` bytes in the block, and writes it to `event`. Decodes
/// nothing if the category cannot stand between quotes or the message is not decodable. A separate
/// function that returns its result by value, because one message in seventy is not a quote, and
/// the loop over the others must keep its values in registers.
[[nodiscard, gnu::noinline]] inline TakenAmid take_amid_quotes(const std::byte* m, std::size_t left,
                                                               std::uint32_t sequence,
                                                               const DecodeContext& context,
                                                               Event* event) {
    const char category = get_char<message::category>(m);
    if (!stands_amid_quotes(category)) {
        return {};
    }
    const std::uint32_t bytes = inspect_message(m, left).bytes;
    if (bytes == 0) {
        return {};
    }
    SingleMessageSink sink{event};
    decode_other(category, m, sequence, sequence, context, sink);
    return {bytes, static_cast<std::uint16_t>(sink.records),
            static_cast<std::uint16_t>(sink.tests)};
}

}  // namespace detail
}  // namespace pinstrike::feed::opra
