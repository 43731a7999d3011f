// path: hot
//
// Quotes on processors with AVX-512 VBMI: a message, with its appendages at most 63 bytes, is one
// register, and each record of its event one permutation of it. No branch on whether a quote is
// long or short, or has appendages: nobody foresees that. Elsewhere straight.h does the same work,
// in more steps, and gives the same bytes.
#pragma once

#include "feed/event/event.h"
#include "feed/opra/decode.h"
#include "feed/opra/straight_run.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

/// Whether this processor has what it takes. Tests and benchmarks set it to false to compare.
extern bool wide_quotes;

/// Whether so many messages are worth what a call costs.
[[nodiscard]] inline bool go_wide(unsigned messages) {
    constexpr unsigned worth_it = 6;
    return messages >= worth_it && wide_quotes;
}

/// A block that goes straight (straight.h). There is room for two records a message. `context` is
/// numbered as the first, `sequence`. One by one, in registers: a struct would be put together in
/// memory and loaded here in another width.
[[nodiscard]] StraightRun run_wide(const std::byte* bytes, std::size_t size, unsigned messages,
                                   std::uint32_t sequence, const DecodeContext& context,
                                   Event* events);

}  // namespace pinstrike::feed::opra
