// path: hot
//
// What the straight way (straight.h) makes of a block, in whichever of its variants.
#pragma once

#include "feed/event/event.h"
#include "feed/opra/decode.h"
#include "feed/opra/layout.h"
#include "feed/opra/test_symbols.h"
#include "feed/opra/walk.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

/// What became of a block's messages.
struct StraightRun {
    bool sound = false;       ///< else nothing that was written counts
    unsigned tests = 0;       ///< messages kept back
    std::size_t records = 0;  ///< written
};

namespace detail {

/// Takes a single message amid quotes, where the straight way has come to: an EventSink without
/// offers.
struct AmidQuotes {
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

/// Whether a message of this category concerns one core and takes two records at most, so that it
/// can stand amid quotes.
[[nodiscard]] inline bool stands_amid_quotes(char category) {
    return category == 'a' || category == 'Y' || category == 'd' || category == 'f' ||
           category == 'R';
}

/// What one message took.
struct TakenAmid {
    std::uint32_t bytes = 0;  ///< 0: nothing
    std::uint16_t records = 0;
    std::uint16_t tests = 0;
};

/// A message amid quotes, at `m`, with `left` bytes in the block: checked and written to `event`.
/// Nothing of another category is, or of what cannot be decoded. Apart, and by value: one message
/// in seventy is none of the quotes, and the others are to stay in registers.
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
    AmidQuotes sink{event};
    decode_other(category, m, sequence, sequence, context, sink);
    return {bytes, static_cast<std::uint16_t>(sink.records),
            static_cast<std::uint16_t>(sink.tests)};
}

}  // namespace detail
}  // namespace pinstrike::feed::opra
