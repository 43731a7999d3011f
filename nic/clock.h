// path: hot
//
// Wall time from the processor's time stamp counter. A reading costs 10 ns instead of
// clock_gettime's 20, and every core reads the same clock.
//
// One cold thread calls recalibrate() about once a second; any thread may call wall_ns().
//
// The linear function from ticks to nanoseconds consists of three words that must be read together.
// They are stored in two places in turn, and `generation_` selects the valid place. The writer (W1)
// stores the words with release into the place that is not in use, then (W2) stores generation + 1
// with release. A reader (R1) loads the generation with acquire, (R2) loads the words of its place
// with acquire, and (R3) loads the generation again; if it changed, the reader starts over. R1 sees
// W2, so the words stored before W2 are visible. If a later W1 overwrote a word (because the reader
// was preempted for a whole period between R1 and R2), that W1 came after the next W2. R2 acquires
// the word, so R3 sees the new generation, and the reader starts over. No fence is needed. A writer
// that is preempted during publish() delays no reader, because it writes to the place that is not
// in use.
#pragma once

#include "config/counter.h"

#include <x86intrin.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pinstrike::nic {

/// Wall time as a linear function of the ticks of a counter.
struct ClockLine {
    std::uint64_t base_ticks = 0;
    std::int64_t base_ns = 0;  ///< nanoseconds since the Unix epoch at base_ticks
    std::uint64_t ns_per_tick_q32 = 0;

    /// Valid also for ticks shortly before base_ticks, because a thread may have read the counter
    /// before another one published the line.
    [[nodiscard]] std::int64_t wall_ns(std::uint64_t ticks) const noexcept {
        const auto since = static_cast<std::int64_t>(ticks - base_ticks);
        return base_ns + static_cast<std::int64_t>(
                             (static_cast<Wide>(since) * static_cast<Wide>(ns_per_tick_q32)) >> 32);
    }

    friend bool operator==(const ClockLine&, const ClockLine&) = default;

  private:
    __extension__ using Wide = __int128;
};

/// A ClockLine that one thread publishes to all others (see the head of this file).
class PublishedLine {
  public:
    void publish(const ClockLine& line) noexcept {
        const std::uint64_t next = generation_.load(std::memory_order_relaxed) + 1;
        Place& place = places_[next % 2];
        place.base_ticks.store(line.base_ticks, std::memory_order_release);  // W1
        place.base_ns.store(line.base_ns, std::memory_order_release);
        place.ns_per_tick_q32.store(line.ns_per_tick_q32, std::memory_order_release);
        generation_.store(next, std::memory_order_release);  // W2
    }

    [[nodiscard]] ClockLine read() const noexcept {
        for (;;) {
            const std::uint64_t generation = generation_.load(std::memory_order_acquire);  // R1
            const Place& place = places_[generation % 2];
            ClockLine line;
            line.base_ticks = place.base_ticks.load(std::memory_order_acquire);  // R2
            line.base_ns = place.base_ns.load(std::memory_order_acquire);
            line.ns_per_tick_q32 = place.ns_per_tick_q32.load(std::memory_order_acquire);
            if (generation_.load(std::memory_order_relaxed) == generation) [[likely]] {  // R3
                return line;
            }
        }
    }

  private:
    struct Place {
        std::atomic<std::uint64_t> base_ticks{0};
        std::atomic<std::int64_t> base_ns{0};
        std::atomic<std::uint64_t> ns_per_tick_q32{0};
    };

    std::array<Place, 2> places_{};
    std::atomic<std::uint64_t> generation_{0};
};

/// A reading of both clocks at nearly the same time. The true wall time at `ticks` lies within
/// `uncertainty_ns` of `wall_ns`.
struct ClockSample {
    std::uint64_t ticks = 0;
    std::int64_t wall_ns = 0;
    std::int64_t uncertainty_ns = 0;
};

/// Fits a ClockLine to the wall clock, sample by sample. It reads no clock itself, so that tests
/// can provide the samples.
///
/// Differences up to step_ns are slewed by changing the rate by at most slew_max, so that time does
/// not jump. A larger difference (the clock was set) is applied at once and counted as a step.
class ClockDiscipline {
  public:
    static constexpr std::int64_t step_ns = 1'000'000;
    static constexpr std::int64_t period_ns_min = 100'000'000;
    static constexpr double slew_max = 500e-6;

    /// Computes the first line from two samples some milliseconds apart.
    ClockDiscipline(const ClockSample& first, const ClockSample& second);

    /// Applies a further sample, about one a second. A sample that follows within period_ns_min
    /// updates the error only, because the rate cannot be measured over so short a time. Ticks that
    /// went back (a virtual machine moved to another host) count as a step.
    void update(const ClockSample& sample);

    [[nodiscard]] const ClockLine& line() const noexcept { return line_; }

    /// The difference between the line and the wall clock at the last sample, plus the uncertainty
    /// of the sample.
    [[nodiscard]] std::int64_t error_ns() const noexcept { return error_ns_; }

    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_count_; }

  private:
    void remember(const ClockSample& sample);
    void step_to(const ClockSample& sample);
    [[nodiscard]] double rate_to(const ClockSample& sample) const;

    static constexpr std::size_t history_count = 16;

    ClockLine line_;
    std::array<ClockSample, history_count>
        history_{};  ///< a ring; the rate is measured over its length
    std::size_t remembered_count_ = 0;
    ClockSample last_;
    std::int64_t error_ns_ = 0;
    std::uint64_t steps_count_ = 0;
};

/// Nanoseconds since some moment, for the waits of cold threads.
[[nodiscard]] std::int64_t monotonic_ns() noexcept;

/// The wall clock of the program.
class Clock {
  public:
    /// Measures the counter's rate for about 20 ms. Without an invariant counter, every reading is
    /// a call of clock_gettime.
    Clock();

    /// Nanoseconds since the Unix epoch. Read it once per step, not once per packet. A later
    /// reading by the same thread is at most some nanoseconds earlier than the one before, unless
    /// the system clock was stepped.
    [[nodiscard]] std::int64_t wall_ns() const noexcept {
        if (!uses_tsc_) [[unlikely]] {
            return system_wall_ns();
        }
        return line_.read().wall_ns(__rdtsc());  // tidy: allowed, this is the clock
    }

    /// Cold; called by one thread about once a second.
    void recalibrate();

    /// Nanoseconds per tick, as the last calibration measured them. Any thread may call it.
    [[nodiscard]] double tick_ns() const noexcept {
        constexpr double one_q32 = 4294967296.0;
        return static_cast<double>(line_.read().ns_per_tick_q32) / one_q32;
    }

    [[nodiscard]] bool uses_tsc() const noexcept { return uses_tsc_; }

    /// The maximum difference, in nanoseconds, between readings and the system clock at the last
    /// calibration; 0 without an invariant counter, because readings then come from the system
    /// clock.
    [[nodiscard]] std::uint64_t error_ns() const noexcept { return error_ns_.read(); }

    /// The number of steps of the system clock that recalibrate() found.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_count_.read(); }

    [[nodiscard]] static std::int64_t system_wall_ns() noexcept;

  private:
    bool uses_tsc_;
    ClockDiscipline discipline_;  ///< used by the recalibrating thread only
    PublishedLine line_;
    Counter error_ns_;
    Counter steps_count_;
};

}  // namespace pinstrike::nic
