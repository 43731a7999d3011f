// path: cold
//
// Samples how far processors 0 and 1 are from each other, and how that changes while nothing else
// runs.
//
//     bench_distance [--seconds S] [--json]
//
// The samples are divided into two classes. If the median of the upper class is more than three
// times that of the lower one, samples below the geometric mean of both medians are near.
// Otherwise, samples below three times the median of all samples are near.
#include "tests/bench/distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr auto pause = std::chrono::milliseconds{25};

struct Sample {
    double at_s;
    double bounce_ns;
};

std::vector<Sample> watch(double seconds) {
    std::vector<Sample> samples;
    const auto begun = std::chrono::steady_clock::now();
    double now_s = 0;
    while (now_s < seconds || samples.empty()) {
        samples.push_back({now_s, pinstrike::bench::bounce_ns()});
        std::this_thread::sleep_for(pause);
        now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    }
    return samples;
}

double part_of(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

/// Divides the logarithms into the two classes whose means differ most, weighted by the number of
/// samples in each (Otsu's threshold). Returns the first sample of the upper class.
std::size_t split(const std::vector<double>& sorted) {
    double above = 0;
    for (const double ns : sorted) {
        above += std::log(ns);
    }
    std::size_t best = sorted.size() - 1;
    double best_between = 0;
    double below = 0;
    for (std::size_t count = 1; count < sorted.size(); ++count) {
        below += std::log(sorted[count - 1]);
        above -= std::log(sorted[count - 1]);
        const auto lower = static_cast<double>(count);
        const auto upper = static_cast<double>(sorted.size() - count);
        const double between = lower * upper * std::pow(above / upper - below / lower, 2);
        if (between > best_between) {
            best_between = between;
            best = count;
        }
    }
    return best;
}

/// Samples below this time are near.
double near_to(const std::vector<double>& sorted) {
    constexpr double apart = 3;
    const std::size_t upper = split(sorted);
    const double near = sorted[upper / 2];
    const double far = sorted[(upper + sorted.size()) / 2];
    return far > apart * near ? std::sqrt(near * far) : apart * part_of(sorted, 0.5);
}

void print(const std::vector<Sample>& samples, bool json) {
    std::vector<double> sorted;
    for (const Sample& sample : samples) {
        sorted.push_back(sample.bounce_ns);
    }
    std::sort(sorted.begin(), sorted.end());
    const double near_to_ns = near_to(sorted);
    std::size_t near = 0;
    std::size_t changes = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const bool is_near = samples[i].bounce_ns < near_to_ns;
        near += is_near ? 1 : 0;
        changes += i > 0 && is_near != (samples[i - 1].bounce_ns < near_to_ns) ? 1 : 0;
    }
    const double share = static_cast<double>(near) / static_cast<double>(samples.size());
    if (!json) {
        fmt::print(
            "a line there and one back, ns: lowest fiftieth {:.0f}, median {:.0f}, highest "
            "twentieth {:.0f}\nbelow {:.0f}, which is near: {:.0f} % of the time; changes: "
            "{}\n",
            part_of(sorted, 0.02), part_of(sorted, 0.5), part_of(sorted, 0.98), near_to_ns,
            100 * share, changes);
        return;
    }
    fmt::print("{{\"near_to_ns\": {:.1f}, \"near_share\": {:.4f}, \"changes\": {}, \"samples\": [",
               near_to_ns, share, changes);
    for (const Sample& sample : samples) {
        fmt::print("{}[{:.3f}, {:.1f}]", &sample == samples.data() ? "" : ", ", sample.at_s,
                   sample.bounce_ns);
    }
    fmt::print("]}}\n");
}

}  // namespace

int main(int argc, char** argv) {
    if (std::thread::hardware_concurrency() < 2) {
        fmt::print("skipped: needs two processors\n");
        return 77;
    }
    double seconds = 20;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--json") {
            json = true;
        } else if (word == "--seconds" && i + 1 < argc) {
            seconds = std::atof(argv[++i]);
        } else {
            fmt::print(stderr, "usage: bench_distance [--seconds S] [--json]\n");
            return 2;
        }
    }
    print(watch(seconds), json);
    return 0;
}
