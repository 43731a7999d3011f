// path: cold
#include "actors/threads/run_delay.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <thread>

namespace pinstrike::actors {
namespace {

using Clock = std::chrono::steady_clock;

void spin_for(std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
    }
}

void pin_to(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    ASSERT_EQ(::pthread_setaffinity_np(::pthread_self(), sizeof cpus, &cpus), 0);
}

TEST(RunDelay, IsTheTimeWithoutAProcessorAndNotASleep) {
    using namespace std::chrono_literals;
    if (!std::filesystem::exists("/proc/thread-self/schedstat")) {
        GTEST_SKIP() << "the kernel does not count it";
    }
    const int cpu = ::sched_getcpu();
    std::int64_t starved_ns = 0;
    std::int64_t slept_ns = 0;
    std::thread starved{[&] {
        RunDelay delay;
        static_cast<void>(delay.take());
        std::this_thread::sleep_for(600ms);
        slept_ns = delay.take();
        pin_to(cpu);
        const sched_param no_priority{};
        ASSERT_EQ(::sched_setscheduler(0, SCHED_IDLE, &no_priority), 0);
        std::thread other{[&] {
            pin_to(cpu);
            const sched_param normal{};
            ASSERT_EQ(::sched_setscheduler(0, SCHED_OTHER, &normal), 0);
            spin_for(600ms);
        }};
        spin_for(600ms);
        starved_ns = delay.take();
        other.join();
    }};
    starved.join();
    EXPECT_LT(slept_ns, 300'000'000);
    EXPECT_GT(starved_ns, 300'000'000);
}

}  // namespace
}  // namespace pinstrike::actors
