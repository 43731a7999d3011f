// path: hot
//
// How a poll or core thread spends its time, measured from turn to turn: the thread reads the clock
// once a turn, so the start of one turn is the end of the turn before.
//
// Stops of the machine (a hypervisor, an interrupt, another thread on the same processor) are found
// the same way. A turn in which the thread did nothing takes tens of nanoseconds, with a system
// call in it one or two thousand; one that took stop_ns_min or longer was stopped. Only turns that
// did nothing prove it: where the thread worked, ran a timer, or slept, a long turn is its own.
// So what is slow in the program is never taken for a stop; a stop that hits the thread at work is
// not found, and stays in all figures.
//
// Who comes while the thread still works off what the stop had piled up waits because of the stop.
// So a stop is over for them when the thread finds nothing to do for the first time, but after as
// long again at the latest: a thread that never keeps up cannot blame a stop for it.
#pragma once

#include "config/counter.h"
#include "config/histogram.h"

#include <cstdint>

namespace pinstrike::actors {

/// The thread of the loop writes.
struct LoopCounters {
    Counter steps;
    Counter busy_ns;  ///< in steps that found work
    Counter idle_ns;
    Counter longest_step_ns;  ///< of those that found work
    Histogram away_ns;        ///< turns that were not just an empty look: work, timers, naps, stops
    Histogram stops_ns;       ///< of these, stops of the machine
    /// When the last stop, and what it had piled up, was over; 0: there was none. On a cache line
    /// of its own: cores read that of pollers with every batch, and it is written only where there
    /// was a stop. Relaxed: what the poller had written before it published a batch is seen by who
    /// acquires the batch.
    alignas(64) Counter stopped_until_ns;
    alignas(64) Counter unused_behind;  ///< keeps others off that line

    /// Any thread: a maximum that the loop's has just found may be lost.
    void clear_maxima() noexcept { longest_step_ns.set(0); }
};

class LoopClock {
  public:
    /// An empty turn of any port takes far less: system calls that bring nothing, 1 to 2 us.
    static constexpr std::int64_t stop_ns_min = 5'000;

    /// At the start of a step: what has passed belongs to the step before.
    void start_step(LoopCounters& counters, std::int64_t now_ns) noexcept {
        counters.steps.add();
        const std::int64_t spent = now_ns - last_step_ns_;
        if (last_step_ns_ != 0 && spent > 0) {
            const auto spent_ns = static_cast<std::uint64_t>(spent);
            (turn_ == Turn::worked ? counters.busy_ns : counters.idle_ns).add(spent_ns);
            if (turn_ != Turn::empty) {
                counters.away_ns.record(spent);
            }
            if (turn_ == Turn::worked) {
                counters.longest_step_ns.raise_to(spent_ns);
                if (now_ns < catch_up_until_ns_) [[unlikely]] {
                    counters.stopped_until_ns.set(static_cast<std::uint64_t>(now_ns));
                }
            } else if (turn_ == Turn::empty && spent >= stop_ns_min) [[unlikely]] {
                counters.away_ns.record(spent);
                counters.stops_ns.record(spent);
                counters.stopped_until_ns.set(static_cast<std::uint64_t>(now_ns));
                catch_up_until_ns_ = now_ns + spent;
            } else {
                catch_up_until_ns_ = 0;
            }
        } else if (spent < 0) [[unlikely]] {
            counters.stopped_until_ns.set(0);  // the clock was set back: it would lie ahead
            catch_up_until_ns_ = 0;
        }
        last_step_ns_ = now_ns;
        turn_ = Turn::empty;
    }

    /// The step that goes on found work.
    void worked() noexcept { turn_ = Turn::worked; }

    /// It did something else of its own, such as a timer: how long it takes proves nothing.
    void acted() noexcept {
        if (turn_ == Turn::empty) {
            turn_ = Turn::acted;
        }
    }

    /// The thread slept behind the step, of its own will.
    void slept() noexcept { acted(); }

  private:
    enum class Turn : std::uint8_t { empty, acted, worked };

    Turn turn_ = Turn::empty;
    std::int64_t last_step_ns_ = 0;
    std::int64_t catch_up_until_ns_ = 0;  ///< 0: nothing is left of a stop
};

/// Did what began then and ends now overlap a stop of the thread, or what it had piled up?
[[nodiscard]] inline bool overlaps_stop(std::int64_t begin_ns, const Counter& stopped_until_ns) {
    return begin_ns < static_cast<std::int64_t>(stopped_until_ns.read());
}

}  // namespace pinstrike::actors
