// path: hot
//
// Measures how a poll or core thread spends its time. The thread reads the clock once in each step
// of its loop, so the start of a step is the end of the step before.
//
// The same measurement finds preemption of the thread by a hypervisor, an interrupt, or another
// thread on the same processor. A step without work takes tens of nanoseconds, or one to two
// thousand with a system call in it. If such a step took preemption_ns_min or longer, the thread
// was preempted. A step in which the thread worked, ran a timer or slept proves nothing, because
// its own work may have taken the time. So slow code is never counted as preemption. Preemption
// during such a step is not detected and stays in all figures.
//
// Messages that arrive while the thread still processes the backlog of a preemption wait because of
// the preemption. The backlog ends when the thread finds no work for the first time, or at the
// latest after as much time as the preemption took. The limit exists because a thread that never
// catches up is slow by itself.
#pragma once

#include "config/cache_line.h"
#include "config/counter.h"
#include "config/histogram.h"

#include <cstdint>

namespace pinstrike::actors {

/// Written by the thread of the loop.
struct LoopCounters {
    Counter steps;
    Counter busy_ns;  ///< time in steps that found work
    Counter idle_ns;
    Counter longest_step_ns;   ///< of the steps that found work
    Histogram not_empty_ns;    ///< steps with work, timers, sleep or preemption
    Histogram preemptions_ns;  ///< of these, the preempted steps
    /// The time at which the last preemption and its backlog ended; 0: there was none. It has a
    /// cache line of its own because cores read the value of each poller with every batch, and it
    /// is only written on preemption. Relaxed order is enough, because a core that acquires a batch
    /// sees what the poller wrote before it published the batch.
    alignas(cache_line_bytes) Counter stalled_until_ns;
    alignas(cache_line_bytes) Counter unused_behind;  ///< padding to the end of that cache line

    /// May be called by any thread. A maximum that the loop finds at the same time may be lost.
    void clear_maxima() noexcept { longest_step_ns.set(0); }
};

class LoopClock {
  public:
    /// A step without work takes far less on any port; system calls without a result take 1 to 2
    /// us.
    static constexpr std::int64_t preemption_ns_min = 5'000;

    /// Called at the start of a step. Counts the time since the last call for the step before.
    void start_step(LoopCounters& counters, std::int64_t now_ns) noexcept {
        counters.steps.add();
        const std::int64_t spent = now_ns - last_step_ns_;
        if (last_step_ns_ != 0 && spent > 0) {
            const auto spent_ns = static_cast<std::uint64_t>(spent);
            (kind_ == StepKind::worked ? counters.busy_ns : counters.idle_ns).add(spent_ns);
            if (kind_ != StepKind::empty) {
                counters.not_empty_ns.record(spent);
            }
            if (kind_ == StepKind::worked) {
                counters.longest_step_ns.raise_to(spent_ns);
                if (now_ns < catch_up_until_ns_) [[unlikely]] {
                    counters.stalled_until_ns.set(static_cast<std::uint64_t>(now_ns));
                }
            } else if (kind_ == StepKind::empty && spent >= preemption_ns_min) [[unlikely]] {
                counters.not_empty_ns.record(spent);
                counters.preemptions_ns.record(spent);
                counters.stalled_until_ns.set(static_cast<std::uint64_t>(now_ns));
                catch_up_until_ns_ = now_ns + spent;
            } else {
                catch_up_until_ns_ = 0;
            }
        } else if (spent < 0) [[unlikely]] {
            counters.stalled_until_ns.set(0);  // the clock was set back, so the time would be ahead
            catch_up_until_ns_ = 0;
        }
        last_step_ns_ = now_ns;
        kind_ = StepKind::empty;
    }

    /// The current step found work.
    void worked() noexcept { kind_ = StepKind::worked; }

    /// The current step did something other than work, such as a timer, so its length proves
    /// nothing.
    void acted() noexcept {
        if (kind_ == StepKind::empty) {
            kind_ = StepKind::acted;
        }
    }

    /// The thread slept after the step, on purpose.
    void slept() noexcept { acted(); }

  private:
    enum class StepKind : std::uint8_t { empty, acted, worked };

    StepKind kind_ = StepKind::empty;
    std::int64_t last_step_ns_ = 0;
    std::int64_t catch_up_until_ns_ = 0;  ///< 0: there is no backlog of a preemption
};

/// Whether an interval from `begin_ns` until now overlaps a preemption of the thread or its
/// backlog.
[[nodiscard]] inline bool overlaps_stall(std::int64_t begin_ns, const Counter& stalled_until_ns) {
    return begin_ns < static_cast<std::int64_t>(stalled_until_ns.read());
}

}  // namespace pinstrike::actors
