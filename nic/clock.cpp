// path: cold
#include "nic/clock.h"

#include "config/check.h"

#include <cpuid.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

namespace pinstrike::nic {

namespace {

constexpr double q32 = 4294967296.0;

std::int64_t read_ns(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// CPUID 8000_0007h EDX bit 8: the counter runs at a constant rate in all P-, C- and T-states
/// (Intel SDM volume 3, "Invariant TSC"; AMD64 manual volume 3, "Advanced Power Management").
bool tsc_is_invariant() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
}

/// Reads the wall clock between two readings of the counter, several times, and keeps the try with
/// the least ticks in between, because an interrupt lengthens a try. The uncertainty is a number of
/// ticks and is used as nanoseconds, because a tick is shorter than a nanosecond on the processors
/// that have an invariant counter.
ClockSample take_sample() {
    constexpr int tries_count = 16;
    ClockSample best;
    std::uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < tries_count; ++i) {
        const std::uint64_t before = __rdtsc();
        const std::int64_t wall_ns = Clock::system_wall_ns();
        const std::uint64_t after = __rdtsc();
        if (after - before < best_width) {
            best_width = after - before;
            best = {before + best_width / 2, wall_ns, static_cast<std::int64_t>(best_width / 2)};
        }
    }
    return best;
}

ClockDiscipline measure(bool uses_tsc) {
    if (!uses_tsc) {
        return {ClockSample{0, 0, 0}, ClockSample{1, 1, 0}};
    }
    const ClockSample first = take_sample();
    constexpr timespec baseline{.tv_sec = 0, .tv_nsec = 20'000'000};
    nanosleep(&baseline, nullptr);
    return {first, take_sample()};
}

}  // namespace

ClockDiscipline::ClockDiscipline(const ClockSample& first, const ClockSample& second)
    : last_(second) {
    PINSTRIKE_CHECK(second.ticks > first.ticks);
    remember(first);
    line_.base_ticks = second.ticks;
    line_.base_ns = second.wall_ns;
    line_.ns_per_tick_q32 = static_cast<std::uint64_t>(rate_to(second) * q32);
    remember(second);
    error_ns_ = first.uncertainty_ns + second.uncertainty_ns;
}

void ClockDiscipline::remember(const ClockSample& sample) {
    history_[remembered_count_ % history_count] = sample;
    ++remembered_count_;
}

/// Nanoseconds per tick, measured over the whole history, because the uncertainty of a sample
/// matters less over a longer time.
double ClockDiscipline::rate_to(const ClockSample& sample) const {
    const std::size_t oldest =
        remembered_count_ < history_count ? 0 : remembered_count_ % history_count;
    const ClockSample& from = history_[oldest];
    return static_cast<double>(sample.wall_ns - from.wall_ns) /
           static_cast<double>(sample.ticks - from.ticks);
}

/// Samples from before the step belong to another time scale, so the history is cleared; the rate
/// stays.
void ClockDiscipline::step_to(const ClockSample& sample) {
    ++steps_count_;
    line_.base_ticks = sample.ticks;
    line_.base_ns = sample.wall_ns;
    last_ = sample;
    remembered_count_ = 0;
    remember(sample);
}

void ClockDiscipline::update(const ClockSample& sample) {
    const std::int64_t expected_ns = line_.wall_ns(sample.ticks);
    const std::int64_t difference_ns = sample.wall_ns - expected_ns;
    error_ns_ = std::abs(difference_ns) + sample.uncertainty_ns;
    if (sample.ticks <= last_.ticks || std::abs(difference_ns) > step_ns) {
        step_to(sample);
        return;
    }
    if (expected_ns - line_.base_ns < period_ns_min) {
        return;
    }
    // The linear function continues from its present value, at a rate at which it reaches the wall
    // clock one period later.
    const double rate = rate_to(sample);
    const double period_ns = static_cast<double>(sample.ticks - last_.ticks) * rate;
    const double bend =
        std::clamp(static_cast<double>(difference_ns) / period_ns, -slew_max, slew_max);
    line_.base_ticks = sample.ticks;
    line_.base_ns = expected_ns;
    line_.ns_per_tick_q32 = static_cast<std::uint64_t>(std::llround(rate * (1 + bend) * q32));
    last_ = sample;
    remember(sample);
}

Clock::Clock() : uses_tsc_(tsc_is_invariant()), discipline_(measure(uses_tsc_)) {
    line_.publish(discipline_.line());
    if (uses_tsc_) {
        error_ns_.set(static_cast<std::uint64_t>(discipline_.error_ns()));
    }
}

void Clock::recalibrate() {
    if (!uses_tsc_) {
        return;
    }
    discipline_.update(take_sample());
    line_.publish(discipline_.line());
    error_ns_.set(static_cast<std::uint64_t>(discipline_.error_ns()));
    steps_count_.set(discipline_.steps_count());
}

std::int64_t Clock::system_wall_ns() noexcept {
    return read_ns(CLOCK_REALTIME);
}

std::int64_t monotonic_ns() noexcept {
    return read_ns(CLOCK_MONOTONIC);
}

}  // namespace pinstrike::nic
