// path: hot
//
// When frames of captures are due: capture time, counted from the first frame, against wall time,
// counted from when it was first asked for, so that rounding never adds up to a drift. All captures
// that are replayed together count from one start, whatever ports and pollers they are spread over:
// one that begins later than the others comes later.
//
// Leaps are skipped: if no capture has a frame within the next hour (the night between two days, a
// frame whose time is wrong), or if a capture's time goes back by more than an hour, the time of
// the replay is set to that of the next frame.
#pragma once

#include "nic/port_config.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

namespace pinstrike::nic {

class ReplayStart {
  public:
    /// What is longer, in the time of the captures, is a leap.
    static constexpr std::int64_t leap_ns = 3600LL * 1'000'000'000;

    struct Answer {
        bool due = false;
        std::int64_t leap_ns = 0;  ///< that was passed over now, before this frame; 0: none
    };

    /// A port whose first frame has this time; returns by which number it asks. Before any poll
    /// thread begins.
    std::size_t reckon_with(std::int64_t first_ts_ns);

    /// Is the frame that a port has next due? From the poll thread of the port.
    [[nodiscard]] Answer ask(std::size_t port, std::int64_t ts_ns, std::int64_t now_ns, Pace pace);

    /// The port has no frame any more.
    void end(std::size_t port) noexcept {
        next_ts_ns_[port].store(never_ns, std::memory_order_relaxed);
    }

    /// The wall time at which a frame was due; pace.factor > 0. From any thread that has seen what
    /// a poll thread made of one: the start was set before.
    [[nodiscard]] std::int64_t due_ns(std::int64_t ts_ns, Pace pace) const noexcept {
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

    // Relaxed is enough for all of them: no value stands for what was written elsewhere. Who reads
    // an old one waits, and asks again at its next turn.

    std::int64_t ts_ns_ = never_ns;
    /// Wall time. Set once, by whichever thread comes first; the ring that brought an event shows
    /// the rest.
    std::atomic<std::int64_t> started_ns_{not_yet};
    /// Of every port, the frame that it has next; its own thread writes it.
    std::deque<std::atomic<std::int64_t>> next_ts_ns_;
    std::atomic<std::int64_t> passed_over_ns_{0};      ///< the sum of all leaps
    std::atomic<std::int64_t> leap_seen_ns_{not_yet};  ///< wall time; not_yet: none is ahead
};

/// Of a replay at a pace. Nothing is known of one that is as fast as it is taken, nor of live
/// input.
struct DueTimes {
    const ReplayStart* start = nullptr;
    Pace pace;

    [[nodiscard]] bool known() const noexcept { return start != nullptr; }

    [[nodiscard]] std::int64_t due_ns(std::int64_t ts_ns) const noexcept {
        return start->due_ns(ts_ns, pace);
    }
};

}  // namespace pinstrike::nic
