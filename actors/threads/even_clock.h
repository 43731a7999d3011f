// path: hot
//
// Wall time without its steps: for what must be done again and again, whatever is done to the
// clock. Where that is set back, time goes on from where it was; where it is set forward, by a
// second at most.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

class EvenClock {
  public:
    /// `now_ns` is wall time. The first is taken as it is; never decreases.
    std::int64_t step(std::int64_t now_ns) noexcept {
        constexpr std::int64_t most_ns = 1'000'000'000;
        time_ns_ = time_ns_ == 0
                       ? now_ns
                       : time_ns_ + std::clamp<std::int64_t>(now_ns - seen_ns_, 0, most_ns);
        seen_ns_ = now_ns;
        return time_ns_;
    }

  private:
    std::int64_t seen_ns_ = 0;  ///< wall time of the last step
    std::int64_t time_ns_ = 0;
};

}  // namespace pinstrike::actors
