// path: cold
#pragma once

#include "config/time_units.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace pinstrike::feed {

/// Allows at most `per_second` tokens in any interval of one second: the capacity is a tenth of it
/// (at least `burst_least`), and the refill rate is the rest. Starts full.
class TokenBucket {
  public:
    /// `per_second` must be greater than `burst_least`.
    explicit TokenBucket(std::int64_t per_second, std::int64_t burst_least = 1)
        : burst_(std::max(per_second / 10, burst_least)),
          refill_(std::max<std::int64_t>(per_second - burst_, 1)),
          tokens_(burst_ * second_ns) {}

    /// `now_ns` must never decrease.
    void advance(std::int64_t now_ns) {
        if (seen_ns_ != never_seen_ns && now_ns > seen_ns_) {
            const std::int64_t lacking = burst_ * second_ns - tokens_;
            const std::int64_t full_after_ns = lacking / refill_ + 1;
            tokens_ += std::min(std::min(now_ns - seen_ns_, full_after_ns) * refill_, lacking);
        }
        seen_ns_ = std::max(seen_ns_, now_ns);
    }

    [[nodiscard]] bool has(std::int64_t count) const { return tokens_ >= count * second_ns; }

    void spend(std::int64_t count) { tokens_ -= count * second_ns; }

    /// The time when `count` tokens will be available; `count` must not exceed the capacity.
    [[nodiscard]] std::int64_t time_of(std::int64_t count) const {
        const std::int64_t lacking = std::max<std::int64_t>(count * second_ns - tokens_, 0);
        return seen_ns_ + (lacking + refill_ - 1) / refill_;
    }

  private:
    static constexpr std::int64_t never_seen_ns = std::numeric_limits<std::int64_t>::min();

    std::int64_t burst_;
    std::int64_t refill_;  // tokens per second
    std::int64_t tokens_;  // in billionths of a token
    std::int64_t seen_ns_ = never_seen_ns;
};

}  // namespace pinstrike::feed
