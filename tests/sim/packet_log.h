// path: cold
//
// The simulation's own log of the packets that a poller received, with the times and the time that
// holes had waited by then. Packets are logged where they leave the simulated NIC.
#pragma once

#include "actors/poller/arbitration_clock.h"
#include "tests/sim/link.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::sim {

/// The clock that measures the wait of holes. It stops while packets may wait unread in a queue,
/// and catches up later. Written from the description of actors/poller/arbitration_clock.h, not
/// from its code.
class WaitClock {
  public:
    void pass_to(std::int64_t now_ns, bool behind) {
        using Clock = actors::ArbitrationClock;
        const std::int64_t passed_ns =
            started_ ? std::clamp<std::int64_t>(now_ns - now_ns_, 0, Clock::lag_ns_max) : 0;
        started_ = true;
        now_ns_ = now_ns;
        const std::int64_t seen_ns = behind ? 0 : std::min(passed_ns, Clock::glance_ns);
        lag_ns_ += passed_ns - seen_ns;
        const std::int64_t overflow_ns = std::max<std::int64_t>(lag_ns_ - Clock::lag_ns_max, 0);
        const std::int64_t made_up_ns = std::min(seen_ns / Clock::catch_up_share, lag_ns_);
        lag_ns_ -= overflow_ns + made_up_ns;
        waited_ns_ += seen_ns + made_up_ns + overflow_ns;
    }

    [[nodiscard]] std::int64_t waited_ns() const { return waited_ns_; }

  private:
    bool started_ = false;
    std::int64_t now_ns_ = 0;
    std::int64_t lag_ns_ = 0;
    std::int64_t waited_ns_ = 0;
};

struct ReceivedPacket {
    const Flight* flight = nullptr;
    std::int64_t waited_ns = 0;  ///< by the poller's WaitClock
    std::int64_t true_ns = 0;
};

/// Watches work that must happen about every millisecond while its thread runs.
class IntervalMonitor {
  public:
    void step(std::int64_t true_ns) {
        constexpr std::int64_t runs_ns = 1'000'000;  // a longer step is a stall of the thread
        constexpr std::int64_t late_ns = 8'000'000;
        since_ns_ += std::min(true_ns - step_ns_, runs_ns);
        step_ns_ = true_ns;
        exceeded_ = exceeded_ || since_ns_ > late_ns;
    }

    void mark() { since_ns_ = 0; }

    [[nodiscard]] bool exceeded() const { return exceeded_; }

  private:
    std::int64_t step_ns_ = 0;
    std::int64_t since_ns_ = 0;
    bool exceeded_ = false;
};

/// The log of one poller.
class ReceiveLog {
  public:
    /// Called before each step of the poller.
    void begin_step(std::int64_t program_ns, std::int64_t true_ns) {
        wait_clock_.pass_to(program_ns, behind_);
        true_ns_ = true_ns;
        housekeeping_.step(true_ns);
        behind_ = false;
    }

    void add(const Flight& flight) {
        packets_.push_back({&flight, wait_clock_.waited_ns(), true_ns_});
    }

    /// A burst was full: more packets may wait in the queue.
    void note_full_burst() { behind_ = true; }

    void housekeep() { housekeeping_.mark(); }

    [[nodiscard]] const std::vector<ReceivedPacket>& packets() const { return packets_; }

    [[nodiscard]] const IntervalMonitor& housekeeping() const { return housekeeping_; }

  private:
    std::vector<ReceivedPacket> packets_;
    IntervalMonitor housekeeping_;
    WaitClock wait_clock_;
    std::int64_t true_ns_ = 0;
    bool behind_ = false;
};

}  // namespace pinstrike::sim
