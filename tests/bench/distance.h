// path: cold
//
// Measures how far processors 0 and 1 are from each other while a benchmark uses both. A hypervisor
// moves its virtual processors. For some seconds they share a cache, then they do not, and data
// that one thread passes to another takes four times as long. A figure belongs to one of these
// distances, so a benchmark of two threads must state which.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <thread>

namespace pinstrike::bench {

inline void place_on(std::size_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/// Nanoseconds for a cache line there and another back: each thread writes one and waits for the
/// other's. Returns the quickest of several short stretches, which no preemption interrupted. Takes
/// a millisecond, and leaves the calling thread on processor 0.
inline double bounce_ns() {
    constexpr int stretches = 5;
    constexpr std::uint64_t trips = 300;

    struct alignas(128) Line {
        std::atomic<std::uint64_t> count{0};  // relaxed, because it orders no other data
    };

    Line to;
    Line back;
    const auto wait_for = [](const Line& line, std::uint64_t count) {
        while (line.count.load(std::memory_order_relaxed) < count) {
        }
    };
    std::thread other{[&] {
        place_on(1);
        for (std::uint64_t trip = 1; trip <= stretches * trips; ++trip) {
            wait_for(to, trip);
            back.count.store(trip, std::memory_order_relaxed);
        }
    }};
    place_on(0);
    double quickest_ns = std::numeric_limits<double>::infinity();
    for (std::uint64_t trip = 0; trip < stretches * trips;) {
        const auto begun = std::chrono::steady_clock::now();
        for (const std::uint64_t end = trip + trips; trip < end;) {
            to.count.store(++trip, std::memory_order_relaxed);
            wait_for(back, trip);
        }
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - begun;
        quickest_ns = std::min(quickest_ns, took.count() / trips);
    }
    other.join();
    return quickest_ns;
}

/// The distances at which a figure counts, as round trips.
struct Distances {
    double from_ns = 0;
    double to_ns = std::numeric_limits<double>::infinity();

    [[nodiscard]] bool hold(double ns) const { return from_ns <= ns && ns < to_ns; }
};

/// Parses "FROM:TO" in nanoseconds. False if the text is not valid.
inline bool read(const char* text, Distances& distances) {
    return std::sscanf(text, "%lf:%lf", &distances.from_ns, &distances.to_ns) == 2 &&
           distances.from_ns < distances.to_ns;
}

/// Measures figures at these distances only. It waits until the processors are at such a distance,
/// and repeats a measurement if they no longer are afterwards.
class AtDistance {
  public:
    explicit AtDistance(const Distances& distances) : distances_(distances) {}

    template <class Measure>
    auto measure(Measure&& measure) {
        for (;;) {
            wait();
            auto figure = measure();
            if (waited_s_ > patience_s || distances_.hold(bounce_ns())) {
                return figure;
            }
            ++taken_again_;
        }
    }

    [[nodiscard]] int taken_again() const { return taken_again_; }

    /// The processors took too long to reach such a distance, so that some figures are of others.
    [[nodiscard]] bool gave_up() const { return waited_s_ > patience_s; }

  private:
    static constexpr double patience_s = 120;

    void wait() {
        constexpr double pause_s = 0.05;
        while (waited_s_ <= patience_s && !distances_.hold(bounce_ns())) {
            std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
            waited_s_ += pause_s;
        }
    }

    Distances distances_;
    double waited_s_ = 0;
    int taken_again_ = 0;
};

/// Printed after the rows of a benchmark: how often a measurement was repeated.
inline void print_distance(const AtDistance& at_distance) {
    std::printf("taken again, as the distance had changed: %d%s\n", at_distance.taken_again(),
                at_distance.gave_up() ? "; given up: not all figures are of the distance" : "");
}

}  // namespace pinstrike::bench
