// path: hot
//
// When frames of captures are due: capture time, counted from the first frame, against wall time,
// counted from when it was first asked for, so that rounding never adds up to a drift. All captures
// that are replayed together count from one start, whatever ports and pollers they are spread over:
// one that begins later than the others comes later.
#pragma once

#include "nic/port_config.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace pinstrike::nic {

class ReplayStart {
  public:
    /// The time of a capture's first frame. Before any poll thread begins.
    void reckon_with(std::int64_t first_ts_ns) { ts_ns_ = std::min(ts_ns_, first_ts_ns); }

    /// From any poll thread.
    [[nodiscard]] bool is_due(std::int64_t ts_ns, std::int64_t now_ns, Pace pace);

    /// The wall time at which a frame was due; pace.factor > 0. From any thread that has seen what
    /// a poll thread made of one: the start was set before.
    [[nodiscard]] std::int64_t due_ns(std::int64_t ts_ns, Pace pace) const noexcept {
        return started_ns_.load(std::memory_order_relaxed) +
               static_cast<std::int64_t>(static_cast<double>(ts_ns - ts_ns_) / pace.factor);
    }

  private:
    static constexpr std::int64_t not_yet = std::numeric_limits<std::int64_t>::min();

    std::int64_t ts_ns_ = std::numeric_limits<std::int64_t>::max();
    /// Wall time. Set once, by whichever thread comes first; relaxed is enough, as the one value is
    /// all that the threads tell each other, and the ring that brought an event shows the rest.
    std::atomic<std::int64_t> started_ns_{not_yet};
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
