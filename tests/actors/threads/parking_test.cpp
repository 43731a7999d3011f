#include "actors/threads/parking.h"

#include "actors/threads/ring.h"
#include "config/time_units.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace pinstrike::actors {
namespace {

TEST(Parking, does_not_sleep_when_there_is_work) {
    Parking parking;
    parking.park([] { return true; }, 3600 * second_ns);
    EXPECT_EQ(parking.sleeps().read(), 0U);
}

TEST(Parking, wakes_by_itself_after_the_timeout) {
    Parking parking;
    parking.park([] { return false; }, 1'000'000);
    EXPECT_EQ(parking.sleeps().read(), 1U);
    EXPECT_FALSE(parking.wake()) << "nobody sleeps: no system call";
}

/// A ping-pong that parks each time, with a timeout far beyond the test's own, so one lost wake-up
/// makes the test fail.
TEST(ParkingStress, no_wakeup_is_lost) {
    constexpr std::uint64_t turns = 20'000;
    auto there = Ring<std::uint64_t>::make(512);
    auto back = Ring<std::uint64_t>::make(512);
    Parking waker_there;
    Parking waker_back;
    const auto receive = [](Consumer<std::uint64_t>& ring, Parking& waker) {
        while (ring.empty()) {
            waker.park([&] { return !ring.empty(); }, 600 * second_ns);
        }
        const std::uint64_t value = ring.peek(1)[0];
        ring.release(1);
        return value;
    };
    const auto send = [](Producer<std::uint64_t>& ring, Parking& waker, std::uint64_t value) {
        ASSERT_TRUE(ring.try_push({&value, 1}));
        waker.wake();
    };
    std::thread echo{[&, in = std::move(there.consumer), out = std::move(back.producer)]() mutable {
        for (std::uint64_t i = 0; i < turns; ++i) {
            send(out, waker_back, receive(in, waker_there));
        }
    }};
    for (std::uint64_t i = 0; i < turns; ++i) {
        send(there.producer, waker_there, i);
        ASSERT_EQ(receive(back.consumer, waker_back), i);
    }
    echo.join();
    EXPECT_GT(waker_there.sleeps().read() + waker_back.sleeps().read(), 0U);
}

}  // namespace
}  // namespace pinstrike::actors
