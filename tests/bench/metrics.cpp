// path: cold
//
// Measures the cost of counting: our counter and histogram compared with those of prometheus-cpp,
// in one thread, without a reader.
#include "config/counter.h"
#include "config/histogram.h"
#include "tests/bench/measure.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace pinstrike::bench {
namespace {

constexpr std::size_t values_count = 4096;

/// Typical latencies: about a microsecond, with a long tail.
std::array<std::int64_t, values_count> latencies_ns() {
    std::mt19937_64 random{1};
    std::lognormal_distribution<double> spread{7, 1};
    std::array<std::int64_t, values_count> values{};
    for (std::int64_t& value : values) {
        value = static_cast<std::int64_t>(spread(random));
    }
    return values;
}

/// Prints the nanoseconds of one operation. `run` does values_count operations.
template <class Run>
void print_cost(const std::string& what, Run&& run) {
    const Spread rate = rate_millions([&] {
        run();
        return values_count;
    });
    print_row(what, {1e3 / rate.max, 1e3 / rate.median, 1e3 / rate.min}, "ns");
}

void counters() {
    Counter ours;
    print_cost("counter: pinstrike", [&] {
        for (std::size_t i = 0; i < values_count; ++i) {
            ours.add();
            // Stores each value, as if another thread could read it.
            asm volatile("" : : : "memory");
        }
    });
    prometheus::Counter theirs;
    print_cost("counter: prometheus-cpp", [&] {
        for (std::size_t i = 0; i < values_count; ++i) {
            theirs.Increment();
        }
    });
}

void histograms() {
    const auto values = latencies_ns();
    Histogram ours;
    print_cost("histogram: pinstrike, 544 buckets", [&] {
        for (const std::int64_t value : values) {
            ours.record(value);
            // Stores each value, as if another thread could read it.
            asm volatile("" : : : "memory");
        }
    });
    prometheus::Histogram::BucketBoundaries bounds;
    for (double bound = 64; bound < 1e6; bound *= 2) {
        bounds.push_back(bound);
    }
    prometheus::Histogram theirs{bounds};
    print_cost("histogram: prometheus-cpp, 15 buckets", [&] {
        for (const std::int64_t value : values) {
            theirs.Observe(static_cast<double>(value));
        }
    });
}

}  // namespace
}  // namespace pinstrike::bench

int main() {
    pinstrike::bench::print_head("metrics");
    pinstrike::bench::counters();
    pinstrike::bench::histograms();
}
