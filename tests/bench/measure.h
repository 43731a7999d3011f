// path: cold
//
// Shared by all benchmarks: repeated runs, medians and spread, and output with one row per figure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace pinstrike::bench {

/// Keeps the compiler from removing a value that the program does not read.
template <class T>
inline void keep(const T& value) {
    asm volatile("" : : "r,m"(value) : "memory");
}

/// Processor time of this thread. Measured with it, the work of a single thread excludes the time
/// that other threads took from its core.
inline double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Spread {
    double min = 0;
    double median = 0;
    double max = 0;
};

inline Spread spread_of(std::vector<double> figures) {
    std::sort(figures.begin(), figures.end());
    return {figures.front(), figures[figures.size() / 2], figures.back()};
}

/// Calls `run`, which returns how many operations it did, again and again for about `seconds` in
/// each of `runs` runs. Returns millions of operations per second.
template <class Run>
Spread rate_millions(Run&& run, double seconds = 0.3, int runs = 7) {
    std::vector<double> rates;
    run();  // warm-up
    for (int i = 0; i < runs; ++i) {
        const double begin = cpu_seconds();
        double end = begin;
        std::uint64_t done = 0;
        while (end - begin < seconds) {
            done += run();
            end = cpu_seconds();
        }
        rates.push_back(static_cast<double>(done) / (end - begin) / 1e6);
    }
    return spread_of(rates);
}

inline void print_row(const std::string& what, const Spread& spread, const char* unit) {
    std::printf("%-64s %10.2f %10.2f %10.2f  %s\n", what.c_str(), spread.min, spread.median,
                spread.max, unit);
}

inline void print_head(const char* subject) {
    std::printf("%-64s %10s %10s %10s\n", subject, "min", "median", "max");
}

}  // namespace pinstrike::bench
