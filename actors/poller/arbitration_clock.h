// path: hot
//
// The time that arbitration runs on, live. It stands still while packets wait unseen.
//
// A hole in one stream waits a short while for the other to fill it. When this thread was stopped,
// or cannot keep up, the copy that fills the hole may already be here, behind others in the queue:
// by wall time the wait would be over before the copy was looked at, and what both streams brought
// would be declared lost. So time passes only while the queues are being seen empty; what it lags
// behind wall time it makes up slowly, and it never lags by more than a bound, so that a thread
// that stays behind still comes to its decisions (what may wait is bounded in bytes as well).
#pragma once

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

class ArbitrationClock {
  public:
    static constexpr std::int64_t glance_ns = 1'000'000;    ///< between looks that miss nothing
    static constexpr std::int64_t lag_ns_max = 50'000'000;  ///< no stop is waited for longer
    static constexpr std::int64_t catch_up_share = 8;       ///< an eighth faster than wall time

    /// The time of this step; `now_ns` is wall time. Never decreases; a wall clock that is set
    /// moves it by lag_ns_max at most.
    std::int64_t step(std::int64_t now_ns) noexcept {
        if (time_ns_ == 0) {
            time_ns_ = seen_ns_ = now_ns;
        }
        const auto passed_ns = std::clamp<std::int64_t>(now_ns - seen_ns_, 0, lag_ns_max);
        const auto unseen_ns =
            behind_ ? passed_ns : std::max<std::int64_t>(passed_ns - glance_ns, 0);
        seen_ns_ = now_ns;
        lag_ns_ += unseen_ns;
        const auto too_much_ns = std::max<std::int64_t>(lag_ns_ - lag_ns_max, 0);
        const auto made_up_ns = std::min(lag_ns_, (passed_ns - unseen_ns) / catch_up_share);
        lag_ns_ -= too_much_ns + made_up_ns;
        time_ns_ += passed_ns - unseen_ns + too_much_ns + made_up_ns;
        return time_ns_;
    }

    /// After the queues were looked at: `behind` if one of them gave all it was asked for, so that
    /// more may wait in it.
    void looked(bool behind) noexcept { behind_ = behind; }

  private:
    std::int64_t seen_ns_ = 0;  ///< wall time of the last step
    std::int64_t time_ns_ = 0;
    std::int64_t lag_ns_ = 0;  ///< what time_ns_ has yet to make up
    bool behind_ = false;
};

}  // namespace pinstrike::actors
