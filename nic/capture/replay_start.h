// path: hot
//
// Decides when frames of captures are due. A frame is due when the wall time since the start of the
// replay, times the pace, reaches the frame's capture time since the first frame. Measuring from
// the start keeps rounding errors from adding up. All captures that are replayed together have one
// start, for all ports and pollers, so a capture that begins later is replayed later.
//
// The replay skips leaps in capture time. If no capture has a frame within the next hour (the night
// between two days, a frame with a wrong time), or if a capture's time goes back by more than an
// hour, the replay continues at the time of the next frame.
#pragma once

#include "nic/capture/capture_config.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

namespace pinstrike::nic {

class ReplayStart {
  public:
    /// A difference in capture time that is longer than this is a leap.
    static constexpr std::int64_t leap_ns = 3600LL * 1'000'000'000;

    struct Answer {
        bool due = false;
        std::int64_t leap_ns = 0;  ///< the leap skipped by this call; 0: none
    };

    /// Adds a port whose first frame has this time; returns the port's number for ask() and end().
    /// Call before any poll thread starts.
    std::size_t add_port(std::int64_t first_ts_ns);

    /// Returns whether the port's next frame, of capture time `ts_ns`, is due at the wall time
    /// `now_ns`. Called by the port's poll thread.
    [[nodiscard]] Answer ask(std::size_t port, std::int64_t ts_ns, std::int64_t now_ns, Pace pace);

    /// Notes that the port has no further frame.
    void end(std::size_t port) noexcept {
        next_ts_ns_[port].store(never_ns, std::memory_order_relaxed);
    }

    /// The wall time at which a frame was due; pace.factor > 0. Any thread that received an event
    /// made from a frame may call this, because the start was set before.
    /// never_ns: the frame is before the first that has the pace, so nothing waited for it.
    [[nodiscard]] std::int64_t due_ns(std::int64_t ts_ns, Pace pace) const noexcept {
        if (ts_ns < begin_ts_ns()) {
            return never_ns;
        }
        return started_ns_.load(std::memory_order_relaxed) +
               static_cast<std::int64_t>(static_cast<double>(ts_ns - begin_ts_ns()) / pace.factor);
    }

  private:
    static constexpr std::int64_t not_yet = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    [[nodiscard]] std::int64_t begin_ts_ns() const noexcept {
        return ts_ns_ + passed_over_ns_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::int64_t start(std::int64_t now_ns);
    [[nodiscard]] std::int64_t pass_over(std::int64_t ts_ns, std::int64_t ahead_ns,
                                         std::int64_t now_ns);

    // Relaxed order is enough for all of these because no value publishes other data. A thread that
    // reads an old value only waits, and asks again at its next step.

    std::int64_t ts_ns_ = never_ns;
    /// The wall time of the start. The first thread that calls ask() sets it. Threads that call
    /// due_ns() see it because they received an event through a ring.
    std::atomic<std::int64_t> started_ns_{not_yet};
    /// The time of each port's next frame; the port's own thread writes it.
    std::deque<std::atomic<std::int64_t>> next_ts_ns_;
    std::atomic<std::int64_t> passed_over_ns_{0};      ///< the sum of all leaps
    std::atomic<std::int64_t> leap_seen_ns_{not_yet};  ///< wall time; not_yet: no leap seen
};

/// The due times of a paced replay. Unknown for a replay at maximum speed, and for live input.
struct DueTimes {
    const ReplayStart* start = nullptr;
    Pace pace;

    [[nodiscard]] bool known() const noexcept { return start != nullptr; }

    [[nodiscard]] std::int64_t due_ns(std::int64_t ts_ns) const noexcept {
        return start->due_ns(ts_ns, pace);
    }
};

}  // namespace pinstrike::nic
