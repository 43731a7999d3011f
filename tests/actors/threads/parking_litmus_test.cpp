// The two fences of actors/threads/parking.h (K1, K2): if a sleeper and a waker meet, at least one
// sees the other's write.
#include "actors/threads/parking.h"
#include "tests/actors/litmus.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace pinstrike::actors {
namespace {

/// Replaces the kernel: sleeps until the waker has done its step, then counts the sleep as lost if
/// no thread woke it.
struct WatchedFutex {
    static inline std::atomic<std::uint32_t> steps_of_waker{0};
    static inline std::uint32_t round = 0;  ///< the sleeper's
    static inline std::uint32_t sleeps = 0;
    static inline std::uint32_t lost = 0;

    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t /*timeout_ns*/) noexcept {
        while (steps_of_waker.load(std::memory_order_acquire) <= round) {
            std::this_thread::yield();
        }
        ++sleeps;
        lost += word.load(std::memory_order_relaxed) == expected ? 1 : 0;
    }

    static void wake(std::atomic<std::uint32_t>& /*word*/) noexcept {}
};

/// The work is one word with relaxed stores and loads, so only the fences of Parking order the
/// store and the load of each side.
TEST(ParkingLitmus, no_wakeup_is_lost_to_the_store_buffer) {
    struct alignas(128) Word : std::atomic<std::uint32_t> {};

    constexpr std::uint32_t races =
        litmus::finds_fences ? 10 : 1;  // on a busy machine they seldom meet
    constexpr std::uint32_t delay_most = 256;
    std::array<Word, 8> records;
    Word work;
    BasicParking<WatchedFutex> parking;
    const auto write_records = [&records](std::uint32_t round) {
        for (Word& record : records) {
            record.store(round, std::memory_order_relaxed);
        }
    };
    for (std::uint32_t race = 0; race < races; ++race) {
        const std::uint32_t before = race * litmus::rounds;
        litmus::race(
            [&](std::uint32_t round) {
                WatchedFutex::round = before + round;
                parking.park([&] { return work.load(std::memory_order_relaxed) > before + round; },
                             0);
            },
            [&](std::uint32_t round) {
                write_records(round);
                work.store(before + round + 1, std::memory_order_relaxed);
                parking.wake();
                WatchedFutex::steps_of_waker.store(before + round + 1, std::memory_order_release);
            },
            write_records, delay_most);
    }
    EXPECT_EQ(WatchedFutex::lost, 0U);
    if (WatchedFutex::sleeps == 0) {
        GTEST_SKIP() << "the two never met: the machine was busy with other things";
    }
}

}  // namespace
}  // namespace pinstrike::actors
