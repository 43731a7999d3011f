// path: hot
//
// Quotes on processors with AVX-512 VBMI: a message, with its appendages at most 63 bytes, is one
// register, and each record of its event one permutation of it. No branch on whether a quote is
// long or short, or has appendages: nobody foresees that. Elsewhere walk.h and decode.h do the same
// work, in more steps, and give the same bytes.
#pragma once

#include "feed/block.h"
#include "feed/event.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::feed::opra {

/// Whether this processor has what it takes. Tests and benchmarks set it to false to compare.
extern bool wide_quotes;

/// Whether so many messages are worth what a call costs.
[[nodiscard]] inline bool go_wide(unsigned messages) {
    constexpr unsigned worth_it = 6;
    return messages >= worth_it && wide_quotes;
}

/// find_quotes() of walk.h. `block` is at most block::bytes_max long.
[[nodiscard]] unsigned find_quotes_wide(std::span<const std::byte> block, unsigned count,
                                        MessagePlace* places, std::size_t& at);

/// What the quotes of one call share.
struct WideContext {
    __m256i header;          ///< quote_header() of quote_event.h
    std::uint64_t gth_bits;  ///< or-ed into SeriesKey::name
    std::uint32_t sequence;  ///< of the first message; those behind it are counted on, over no wrap
    bool wants_tests;
};

/// What was made of messages.
struct WideRun {
    unsigned end = 0;         ///< the first message not looked at: no quote, or the last was
    unsigned messages = 0;    ///< written
    std::size_t records = 0;  ///< they took
    unsigned tests = 0;       ///< kept back
};

/// Writes the events of messages first .. end-1, which were inspected, up to the first that is no
/// quote. There is room for two records a message.
[[nodiscard]] WideRun write_quotes_wide(const std::byte* block, const MessagePlace* places,
                                        unsigned first, unsigned end, const WideContext& context,
                                        Event* events);

}  // namespace pinstrike::feed::opra
