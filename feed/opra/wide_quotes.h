// path: hot
//
// The AVX-512 path of the fast path (straight.h), for processors with VBMI. A quote has at most 63
// bytes including its appendages, so one register holds it, and one permutation of the register
// gives each record of its event. There is no branch on the form of a quote, because such a branch
// is not predictable. On other processors, the AVX2 path in straight.h gives the same bytes in more
// steps.
#pragma once

#include "feed/event/event.h"
#include "feed/opra/decode.h"
#include "feed/opra/straight_run.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

/// Whether this processor has the instructions. Tests and benchmarks set it to false to compare.
extern bool wide_quotes;

/// Whether to use the AVX-512 path for a block of so many messages. With few messages, the call
/// costs more than the path saves.
[[nodiscard]] inline bool go_wide(unsigned messages) {
    constexpr unsigned worth_it = 6;
    return messages >= worth_it && wide_quotes;
}

/// Decodes a block on the fast path (straight.h). `events` has two slots for each message.
/// `context.header` has the number of the first message, `sequence`. The fields of StraightBlock
/// are separate arguments, so that they are passed in registers. A struct would be written to
/// memory and loaded here in another width, which prevents store forwarding.
[[nodiscard]] StraightRun run_wide(const std::byte* bytes, std::size_t size, unsigned messages,
                                   std::uint32_t sequence, const DecodeContext& context,
                                   Event* events);

}  // namespace pinstrike::feed::opra
