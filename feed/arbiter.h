// path: hot
//
// The contract between arbitration and what follows it.
#pragma once

#include "config/counter.h"
#include "feed/block.h"
#include "feed/event.h"

#include <cstdint>
#include <vector>

namespace pinstrike::feed {

struct ArbitrationConfig {
    std::int64_t window_ns = 2'000'000;
    std::size_t hold_bytes = 512 * 1024;
    std::size_t gap_ranges = 65536;
};

/// How a delivery relates to what went before it: the EventFlag bits that apply.
using DeliveryFlags = std::uint8_t;

/// Where an Arbiter's slow path puts what it decides. The fast path needs none of it.
class ArbiterSink {
  public:
    virtual ~ArbiterSink() = default;
    /// Messages first .. first+count-1 of the block (indices from 0), all decodable, in order.
    virtual void deliver(const Block& block, unsigned first, unsigned count,
                         DeliveryFlags flags) = 0;
    /// Numbers first..last declared lost (or, cause repaired, found after all).
    virtual void gap(std::uint32_t first, std::uint32_t last, std::uint64_t messages,
                     GapCause cause, std::int64_t now_ns) = 0;
    /// A start of day or reset, once per line; block has role start_of_day or reset. `forget` says
    /// what it makes consumers forget; inferred: no copy of it was seen.
    virtual void reset(const Block& block, Forget forget, bool inferred) = 0;
};

}  // namespace pinstrike::feed
