// path: cold
#include "actors/poller/arbitration_clock.h"

#include <gtest/gtest.h>

namespace pinstrike::actors {
namespace {

constexpr std::int64_t start_ns = 1'700'000'000'000'000'000;
constexpr std::int64_t us = 1'000;
constexpr std::int64_t ms = 1'000 * us;

/// Steps of `every_ns` for `for_ns`; the time of the last.
std::int64_t steps(ArbitrationClock& clock, std::int64_t& now_ns, std::int64_t for_ns,
                   std::int64_t every_ns, bool behind) {
    std::int64_t time_ns = 0;
    for (const std::int64_t end_ns = now_ns + for_ns; now_ns < end_ns; now_ns += every_ns) {
        const std::int64_t before_ns = time_ns;
        time_ns = clock.step(now_ns);
        EXPECT_GE(time_ns, before_ns);
        clock.looked(behind);
    }
    return time_ns;
}

TEST(ArbitrationClock, IsWallTimeWhileTheQueuesAreSeenEmpty) {
    ArbitrationClock clock;
    std::int64_t now_ns = start_ns;
    const std::int64_t time_ns = steps(clock, now_ns, 10 * ms, us, false);
    EXPECT_EQ(time_ns, now_ns - us);
}

TEST(ArbitrationClock, StandsStillWhileAThreadWasStopped) {
    ArbitrationClock clock;
    std::int64_t now_ns = start_ns;
    const std::int64_t before_ns = steps(clock, now_ns, ms, us, false);
    now_ns += 20 * ms;
    EXPECT_LE(clock.step(now_ns) - before_ns, 2 * ArbitrationClock::glance_ns);
}

TEST(ArbitrationClock, StandsStillWhileBurstsAreFull) {
    ArbitrationClock clock;
    std::int64_t now_ns = start_ns;
    steps(clock, now_ns, ms, us, false);
    clock.looked(true);
    const std::int64_t before_ns = clock.step(now_ns);
    EXPECT_EQ(steps(clock, now_ns, 10 * ms, us, true), before_ns);
}

TEST(ArbitrationClock, MakesUpForAStop) {
    ArbitrationClock clock;
    std::int64_t now_ns = start_ns;
    steps(clock, now_ns, ms, us, false);
    now_ns += 20 * ms;
    std::int64_t time_ns = steps(clock, now_ns, 50 * ms, us, false);
    EXPECT_LT(time_ns, now_ns - 10 * ms);
    time_ns = steps(clock, now_ns, 200 * ms, us, false);
    EXPECT_NEAR(static_cast<double>(now_ns - us - time_ns), 0, us);
}

TEST(ArbitrationClock, GoesOnThoughAThreadStaysBehind) {
    ArbitrationClock clock;
    std::int64_t now_ns = start_ns;
    const std::int64_t time_ns = steps(clock, now_ns, 1000 * ms, us, true);
    EXPECT_GE(time_ns, now_ns - us - ArbitrationClock::lag_ns_max);
}

TEST(ArbitrationClock, OutlivesAWallClockThatIsSet) {
    ArbitrationClock clock;
    const std::int64_t first_ns = clock.step(start_ns);
    std::int64_t now_ns = start_ns - 3600 * 1000 * ms;
    EXPECT_EQ(clock.step(now_ns), first_ns);
    EXPECT_GE(steps(clock, now_ns, 10 * ms, us, false), first_ns + 9 * ms) << "it goes on";
    now_ns += 3600 * 1000 * ms;
    EXPECT_LT(clock.step(now_ns), first_ns + 20 * ms) << "an hour is not waited for";
}

}  // namespace
}  // namespace pinstrike::actors
