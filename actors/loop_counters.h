// path: hot
//
// How a poll or core thread spends its time, measured from step to step: the thread reads the clock
// once a step, so the start of one step is the end of the step before.
#pragma once

#include "config/counter.h"

#include <cstdint>

namespace pinstrike::actors {

/// The thread of the loop writes.
struct LoopCounters {
    Counter steps;
    Counter busy_ns;  ///< in steps that found work
    Counter idle_ns;
    Counter longest_step_ns;  ///< of those that found work
};

class LoopClock {
  public:
    /// At the start of a step: what has passed belongs to the step before.
    void start_step(LoopCounters& counters, std::int64_t now_ns) noexcept {
        counters.steps.add();
        const std::int64_t spent = now_ns - last_step_ns_;
        if (last_step_ns_ != 0 && spent > 0) {
            const auto spent_ns = static_cast<std::uint64_t>(spent);
            (worked_ ? counters.busy_ns : counters.idle_ns).add(spent_ns);
            if (worked_) {
                counters.longest_step_ns.raise_to(spent_ns);
            }
        }
        last_step_ns_ = now_ns;
        worked_ = false;
    }

    /// The step that goes on found work.
    void worked() noexcept { worked_ = true; }

  private:
    bool worked_ = false;
    std::int64_t last_step_ns_ = 0;
};

}  // namespace pinstrike::actors
