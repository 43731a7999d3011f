// path: cold
#pragma once

#include "config/time_units.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors::peer {

/// A token bucket. It gets `per_second` tokens per second, holds the tokens of one second, and
/// starts full.
class Budget {
  public:
    /// `least`: the smallest capacity, for a request that needs more than the tokens of one second.
    Budget(std::uint32_t per_second, std::uint32_t least, std::int64_t now_ns)
        : per_second_(per_second),
          most_(second_ns * std::max(per_second, least)),
          left_(most_),
          looked_ns_(now_ns) {}

    /// Whether `amount` tokens are left.
    [[nodiscard]] bool has(std::uint32_t amount, std::int64_t now_ns) {
        const std::int64_t elapsed_ns = std::clamp(now_ns - looked_ns_, std::int64_t{0}, second_ns);
        looked_ns_ = std::max(looked_ns_, now_ns);
        left_ = std::min(most_, left_ + elapsed_ns * per_second_);
        return left_ >= second_ns * amount;
    }

    /// Returns false and takes no token if fewer than `amount` tokens are left.
    [[nodiscard]] bool spend(std::uint32_t amount, std::int64_t now_ns) {
        const bool enough = has(amount, now_ns);
        left_ -= enough ? second_ns * amount : 0;
        return enough;
    }

  private:
    std::int64_t per_second_;
    std::int64_t most_;  // in billionths of a token, like left_; at most 2^32 * 10^9, below 2^63
    std::int64_t left_;
    std::int64_t looked_ns_;
};

}  // namespace pinstrike::actors::peer
