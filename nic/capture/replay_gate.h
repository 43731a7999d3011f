// path: mixed, cold: add_port()
//
// Holds back the packets of a replay after a time, until another thread has finished the work that
// must be done before them. So the state of a snapshot is given to the books when they have
// processed the packets before it, and no later ones.
//
// One thread opens the gate further. The poll thread of each port asks before each packet, and
// states where it was held back.
//
// Why each memory order is enough
//   G1  release store of the gate's time, pairs with G2, the acquire load by a port: what the
//       opener did before happens before the packets behind it are processed.
//   G3  release store of where a port is held, pairs with G4, the acquire load by the opener: the
//       port was asked for packets again, so its poller has processed all packets before.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

namespace pinstrike::nic {

class ReplayGate {
  public:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    /// Call before any poll thread starts. Returns the port's number.
    std::size_t add_port();

    // The opener.

    /// Packets before this time pass. The time must never decrease.
    void open_until(std::int64_t until_ns) noexcept {
        until_ns_.store(until_ns, std::memory_order_release);  // G1
    }

    /// All packets pass.
    void open() noexcept { open_until(never_ns); }

    /// Whether every port has delivered all its packets before the gate's time, and its poller has
    /// processed them.
    [[nodiscard]] bool all_held() const noexcept {
        const std::int64_t until_ns = until_ns_.load(std::memory_order_relaxed);
        return std::all_of(held_ns_.begin(), held_ns_.end(), [=](const auto& held_ns) {
            return held_ns.load(std::memory_order_acquire) >= until_ns;  // G4
        });
    }

    /// Call after all_held(). The time of the earliest packet behind the gate; never_ns: there is
    /// none. Relaxed is enough, because all_held() has acquired what it reads (G4).
    [[nodiscard]] std::int64_t next_ns() const noexcept {
        std::int64_t earliest_ns = never_ns;
        for (const auto& held_ns : held_ns_) {
            earliest_ns = std::min(earliest_ns, held_ns.load(std::memory_order_relaxed));
        }
        return earliest_ns;
    }

    // Poll threads.

    [[nodiscard]] bool is_open() const noexcept {
        return until_ns_.load(std::memory_order_relaxed) == never_ns;
    }

    /// Whether the port's next packet, of this time, passes. never_ns: it has no further packet.
    /// To be called when all packets before it were processed, or may be processed first.
    [[nodiscard]] bool passes(std::int64_t ts_ns) const noexcept {
        return ts_ns < until_ns_.load(std::memory_order_acquire);  // G2
    }

    /// The port's poller has processed all packets before this time.
    void hold(std::size_t port, std::int64_t ts_ns) noexcept {
        held_ns_[port].store(ts_ns, std::memory_order_release);  // G3
    }

  private:
    std::atomic<std::int64_t> until_ns_{std::numeric_limits<std::int64_t>::min()};
    std::deque<std::atomic<std::int64_t>> held_ns_;
};

// --- cold ---

inline std::size_t ReplayGate::add_port() {
    held_ns_.emplace_back(std::numeric_limits<std::int64_t>::min());
    return held_ns_.size() - 1;
}

}  // namespace pinstrike::nic
