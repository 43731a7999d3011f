// path: cold
//
// Figures of several runs, and their output as one row each.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

inline double seconds_of(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Seconds of processor time of this thread, which exclude what other threads took from it.
inline double thread_seconds() {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

inline double wall_seconds() {
    return seconds_of(CLOCK_MONOTONIC);
}

inline double median(std::vector<double> figures) {
    std::sort(figures.begin(), figures.end());
    return figures.empty() ? 0 : figures[figures.size() / 2];
}

inline void print_row_head() {
    fmt::print("{:<60}{:>12}{:>12}{:>12}\n", "", "lowest", "median", "highest");
}

inline void print_row(std::string_view what, std::vector<double> figures, std::string_view unit) {
    std::sort(figures.begin(), figures.end());
    if (!figures.empty()) {
        fmt::print("{:<60}{:>12.3f}{:>12.3f}{:>12.3f}  {}\n", what, figures.front(),
                   median(figures), figures.back(), unit);
    }
}

/// The ratios of two rows whose runs alternated.
inline std::vector<double> ratios(const std::vector<double>& of, const std::vector<double>& to) {
    std::vector<double> out;
    for (std::size_t i = 0; i < std::min(of.size(), to.size()); ++i) {
        out.push_back(of[i] / to[i]);
    }
    return out;
}

}  // namespace pinstrike::actors
