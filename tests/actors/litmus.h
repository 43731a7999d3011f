// path: cold
//
// Litmus tests of fences. In each round two threads meet, take one step each at nearly the same
// moment, meet again, and check whether a wake-up was lost. On two x86 processors this finds a
// missing fence, which an interleaving test (sequentially consistent) and the thread sanitizer do
// not find.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>

namespace pinstrike::actors::litmus {

inline constexpr std::uint32_t rounds = 200'000;

/// Under a sanitizer the added instructions order memory as a fence would, so a litmus test finds
/// nothing.
#ifdef PINSTRIKE_SANITIZED
inline constexpr bool finds_fences = false;
#else
inline constexpr bool finds_fences = true;
#endif

/// A barrier of two threads.
class Meeting {
  public:
    void come(std::size_t who) {
        const std::uint32_t time = arrived_[who].load(std::memory_order_relaxed) + 1;
        arrived_[who].store(time, std::memory_order_release);
        for (unsigned spins = 0; arrived_[1 - who].load(std::memory_order_acquire) < time;
             ++spins) {
            if (spins % 1024 == 1023) {
                std::this_thread::yield();
            }
        }
    }

  private:
    struct alignas(128) Place : std::atomic<std::uint32_t> {};

    std::array<Place, 2> arrived_{};
};

/// In each round, calls `one` and `other` at nearly the same moment and then `check`. Each side
/// first waits for up to `delay_most` iterations of an empty loop (4096: two microseconds), because
/// the steps differ in length and in their critical moment. On a busy machine a meeting takes long,
/// so there are fewer rounds.
template <class One, class Other, class Check>
void race(One&& one, Other&& other, Check&& check, std::uint32_t delay_most = 4096) {
    constexpr std::chrono::seconds longest{5};
    Meeting meeting;
    std::atomic<bool> over{false};  // relaxed: the barrier orders it
    const auto delay = [delay_most](std::minstd_rand& random) {
        for (auto left = random() % delay_most; left != 0; --left) {
            asm volatile("" : : "r"(left) : "memory");
        }
    };
    std::thread thread{[&] {
        std::minstd_rand random{2};
        for (std::uint32_t round = 0;; ++round) {
            meeting.come(1);
            if (over.load(std::memory_order_relaxed)) {
                return;
            }
            delay(random);
            other(round);
            meeting.come(1);
        }
    }};
    std::minstd_rand random{1};
    const auto end = std::chrono::steady_clock::now() + longest;
    for (std::uint32_t round = 0; round < rounds && std::chrono::steady_clock::now() < end;
         ++round) {
        meeting.come(0);
        delay(random);
        one(round);
        meeting.come(0);
        check(round);  // the other thread waits at the next barrier
    }
    over.store(true, std::memory_order_relaxed);
    meeting.come(0);
    thread.join();
}

}  // namespace pinstrike::actors::litmus
