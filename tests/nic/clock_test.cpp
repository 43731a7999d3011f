// path: cold
#include "nic/clock.h"

#include "config/time_units.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

namespace pinstrike::nic {
namespace {

constexpr std::int64_t epoch_ns = 1'700'000'000 * second_ns;

/// A simulated machine: a counter of a given rate, and a wall clock with a drift and settable
/// offset against it.
struct Machine {
    double ticks_per_ns = 2.3;
    double elapsed_ns = 0;
    double wall_drift = 0;  ///< of the wall clock against the counter
    std::int64_t wall_offset_ns = 0;
    double wall_elapsed_ns = 0;

    void run(double ns) {
        elapsed_ns += ns;
        wall_elapsed_ns += ns * (1 + wall_drift);
    }

    [[nodiscard]] ClockSample sample(std::int64_t noise_ns = 0) const {
        return {1'000'000 + static_cast<std::uint64_t>(elapsed_ns * ticks_per_ns),
                epoch_ns + wall_offset_ns + std::llround(wall_elapsed_ns) + noise_ns, 20};
    }
};

ClockDiscipline begin(Machine& machine) {
    const ClockSample first = machine.sample();
    machine.run(20e6);
    return {first, machine.sample()};
}

TEST(ClockLine, CountsForwardAndBackFromItsBase) {
    const ClockLine line{1000, 5000, 1ULL << 31};  // half a nanosecond a tick
    EXPECT_EQ(line.wall_ns(1000), 5000);
    EXPECT_EQ(line.wall_ns(3000), 6000);
    EXPECT_EQ(line.wall_ns(800), 4900);
    const std::uint64_t year_ticks = 365ULL * 86400 * 4'000'000'000;
    EXPECT_EQ(line.wall_ns(1000 + year_ticks), 5000 + static_cast<std::int64_t>(year_ticks / 2));
}

TEST(ClockDiscipline, FollowsADriftingClockWithinHundredsOfNanoseconds) {
    for (const double drift : {0.0, 40e-6, -40e-6}) {
        Machine machine;
        machine.wall_drift = drift;
        ClockDiscipline discipline = begin(machine);
        std::mt19937_64 random(1);
        for (int i = 0; i < 200; ++i) {
            machine.run(1e9);
            discipline.update(machine.sample(static_cast<std::int64_t>(random() % 41) - 20));
            if (i > 20) {
                ASSERT_LT(discipline.error_ns(), 300) << i;
            }
        }
        EXPECT_EQ(discipline.steps_count(), 0U);
    }
}

TEST(ClockDiscipline, NeverJumpsWhileItSlews) {
    Machine machine;
    ClockDiscipline discipline = begin(machine);
    machine.run(1e9);
    discipline.update(machine.sample());
    machine.wall_offset_ns = 900'000;  // the clock was set, but by less than a step
    for (int i = 0; i < 40; ++i) {
        machine.run(1e9);
        const ClockSample sample = machine.sample();
        const std::int64_t before_ns = discipline.line().wall_ns(sample.ticks);
        discipline.update(sample);
        ASSERT_NEAR(static_cast<double>(discipline.line().wall_ns(sample.ticks) - before_ns), 0, 1);
        const double rate = static_cast<double>(discipline.line().ns_per_tick_q32) / 4294967296.0;
        // The set clock also affects the measured rate, which is taken over some seconds.
        ASSERT_NEAR(rate * machine.ticks_per_ns, 1, 2 * ClockDiscipline::slew_max);
    }
    EXPECT_EQ(discipline.steps_count(), 0U);
    EXPECT_LT(discipline.error_ns(), 1000) << "it has arrived";
}

TEST(ClockDiscipline, TakesOverAStepAtOnceAndCountsIt) {
    for (const std::int64_t step_ns : {3600 * second_ns, -3600 * second_ns, 5'000'000L}) {
        Machine machine;
        ClockDiscipline discipline = begin(machine);
        machine.run(1e9);
        discipline.update(machine.sample());
        machine.wall_offset_ns = step_ns;
        machine.run(1e9);
        discipline.update(machine.sample());
        EXPECT_EQ(discipline.steps_count(), 1U);
        EXPECT_EQ(discipline.line().wall_ns(machine.sample().ticks), machine.sample().wall_ns);
        machine.run(1e9);
        discipline.update(machine.sample());
        EXPECT_EQ(discipline.steps_count(), 1U);
        EXPECT_LT(discipline.error_ns(), 1000) << "the rate survived the step";
    }
}

TEST(ClockDiscipline, SurvivesACounterThatWentBack) {
    Machine machine;
    ClockDiscipline discipline = begin(machine);
    machine.run(1e9);
    discipline.update(machine.sample());
    Machine other;
    other.wall_elapsed_ns = machine.wall_elapsed_ns + 1e9;
    discipline.update(other.sample());
    EXPECT_EQ(discipline.steps_count(), 1U);
    EXPECT_EQ(discipline.line().wall_ns(other.sample().ticks), other.sample().wall_ns);
}

TEST(ClockDiscipline, CountsACounterThatWentBackByLittle) {
    Machine machine;
    ClockDiscipline discipline = begin(machine);
    machine.run(1e9);
    discipline.update(machine.sample());
    machine.run(-100e3);
    discipline.update(machine.sample());
    EXPECT_EQ(discipline.steps_count(), 1U);
}

TEST(ClockDiscipline, ABurstOfNoisySamplesDoesNotShiftTheRate) {
    Machine machine;
    ClockDiscipline discipline = begin(machine);
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i) {
        machine.run(2000);
        discipline.update(machine.sample(static_cast<std::int64_t>(random() % 401) - 200));
    }
    machine.run(1e9);
    discipline.update(machine.sample());
    EXPECT_LT(discipline.error_ns(), 1000);
}

TEST(PublishedLine, IsReadWholeWhileItChanges) {
    PublishedLine published;
    const auto line_of = [](std::uint64_t i) {
        return ClockLine{i, static_cast<std::int64_t>(i * 3), i * 7};
    };
    published.publish(line_of(1));
    std::atomic<bool> done{false};
    std::thread reader([&] {
        std::uint64_t newest = 0;
        while (!done.load(std::memory_order_acquire)) {
            const ClockLine line = published.read();
            ASSERT_EQ(line, line_of(line.base_ticks)) << "torn";
            ASSERT_GE(line.base_ticks, newest) << "went back";
            newest = line.base_ticks;
        }
    });
    for (std::uint64_t i = 2; i < 2'000'000; ++i) {
        published.publish(line_of(i));
    }
    done.store(true, std::memory_order_release);
    reader.join();
}

TEST(Clock, GivesTheMachinesTime) {
    Clock clock;
    constexpr std::int64_t tolerance_ns = 1'000'000;
    for (int i = 0; i < 200; ++i) {
        const std::int64_t before_ns = Clock::system_wall_ns();
        const std::int64_t now_ns = clock.wall_ns();
        const std::int64_t after_ns = Clock::system_wall_ns();
        ASSERT_GE(now_ns, before_ns - tolerance_ns);
        ASSERT_LE(now_ns, after_ns + tolerance_ns);
        clock.recalibrate();
    }
    if (!clock.uses_tsc()) {
        GTEST_SKIP() << "the time stamp counter here is not invariant: clock_gettime was tested";
    }
    EXPECT_GT(clock.error_ns(), 0U);
}

}  // namespace
}  // namespace pinstrike::nic
