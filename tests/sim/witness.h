// path: cold
//
// What a poller was handed, when, and how long its holes had then waited: the harness's own record,
// made where packets leave the simulated NIC.
#pragma once

#include "actors/poller/arbitration_clock.h"
#include "tests/sim/link.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::sim {

/// The time that a hole's wait is measured by, as actors/poller says it: what passed while nothing
/// waited unseen, and what is made up of the rest. Written from those words.
class Patience {
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

struct Handed {
    const Flight* flight = nullptr;
    std::int64_t waited_ns = 0;  ///< by the poller's Patience
    std::int64_t true_ns = 0;
};

/// Something that must happen about every millisecond while its thread runs: notes when it did not.
class Rhythm {
  public:
    void step(std::int64_t true_ns) {
        constexpr std::int64_t runs_ns = 1'000'000;  // longer steps are stops
        constexpr std::int64_t late_ns = 8'000'000;
        since_ns_ += std::min(true_ns - step_ns_, runs_ns);
        step_ns_ = true_ns;
        broken_ = broken_ || since_ns_ > late_ns;
    }

    void beat() { since_ns_ = 0; }

    [[nodiscard]] bool broken() const { return broken_; }

  private:
    std::int64_t step_ns_ = 0;
    std::int64_t since_ns_ = 0;
    bool broken_ = false;
};

/// One poller's.
class Witness {
  public:
    /// Before each step of the poller.
    void begin_step(std::int64_t program_ns, std::int64_t true_ns) {
        patience_.pass_to(program_ns, behind_);
        true_ns_ = true_ns;
        housekeeping_.step(true_ns);
        behind_ = false;
    }

    void hand(const Flight& flight) {
        handed_.push_back({&flight, patience_.waited_ns(), true_ns_});
    }

    /// A burst was full: more may wait.
    void fall_behind() { behind_ = true; }

    void housekeep() { housekeeping_.beat(); }

    [[nodiscard]] const std::vector<Handed>& handed() const { return handed_; }

    [[nodiscard]] const Rhythm& housekeeping() const { return housekeeping_; }

  private:
    std::vector<Handed> handed_;
    Rhythm housekeeping_;
    Patience patience_;
    std::int64_t true_ns_ = 0;
    bool behind_ = false;
};

}  // namespace pinstrike::sim
