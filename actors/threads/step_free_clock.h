// path: hot
//
// Wall time without steps, for periodic work that must continue when the wall clock is set. If the
// clock is set back, this time continues from its last value. If the clock is set forward, this
// time advances by one second at most.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

class StepFreeClock {
  public:
    /// Returns the time for the wall time `now_ns`. The first call returns `now_ns`. The result
    /// never decreases.
    std::int64_t step(std::int64_t now_ns) noexcept {
        constexpr std::int64_t most_ns = 1'000'000'000;
        time_ns_ = time_ns_ == 0
                       ? now_ns
                       : time_ns_ + std::clamp<std::int64_t>(now_ns - seen_ns_, 0, most_ns);
        seen_ns_ = now_ns;
        return time_ns_;
    }

    /// The time of the latest step; 0 before the first one.
    [[nodiscard]] std::int64_t now_ns() const noexcept { return time_ns_; }

  private:
    std::int64_t seen_ns_ = 0;  ///< wall time of the last step
    std::int64_t time_ns_ = 0;
};

}  // namespace pinstrike::actors
