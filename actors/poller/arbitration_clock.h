// path: hot
//
// The clock that live arbitration runs on. It does not advance while received packets may wait in
// the queues.
//
// A hole in one stream waits a short time for the other stream to fill it. If this thread was
// preempted or cannot keep up, the packet that fills the hole may already be in a queue behind
// other packets. By wall time, the window would close before that packet is read, and messages that
// both streams brought would be declared lost. So this clock advances only while the poller sees
// the queues empty. It catches up with wall time slowly. Its lag has a bound, so that a thread that
// stays behind still closes its windows (the memory for held blocks is bounded as well).
#pragma once

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

class ArbitrationClock {
  public:
    static constexpr std::int64_t glance_ns = 1'000'000;    ///< longest step without lag
    static constexpr std::int64_t lag_ns_max = 50'000'000;  ///< bound of the lag
    static constexpr std::int64_t catch_up_share =
        8;  ///< the clock runs 1/8 faster than wall time to catch up

    /// Returns the time of this step in nanoseconds; `now_ns` is wall time. The result never
    /// decreases. A step of the wall clock moves it by lag_ns_max at most.
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

    /// Called after the queues were read. `behind`: one of them filled the burst, so that more
    /// packets may wait in it.
    void looked(bool behind) noexcept { behind_ = behind; }

  private:
    std::int64_t seen_ns_ = 0;  ///< wall time of the last step
    std::int64_t time_ns_ = 0;
    std::int64_t lag_ns_ = 0;  ///< of time_ns_ behind wall time
    bool behind_ = false;
};

}  // namespace pinstrike::actors
