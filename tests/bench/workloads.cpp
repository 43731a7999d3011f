// Runs the classic workload (workloads.h) in all its cells, with the runtime and with its peers, in
// alternating runs.
//
//     bench_workloads [--runs N] [--work sum100|sum1000|sha512] [--actors T] [--bound 0|100]
//     [--no-peers] [--json]
//
// --json prints one object per row, for a report. --no-peers omits the rows of the peers.
//
// If the runs of a peer in one cell have taken longer than patience_s together, the peer does not
// run again in that cell, and its median is that of the runs so far. With a thread for each of 100
// actors, a run takes minutes.
#include "tests/bench/workloads.h"

#include "tests/bench/allocations.h"
#include "tests/bench/measure.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pinstrike::bench {
namespace {

struct Options {
    int runs = 5;
    std::string_view work;  ///< empty: all kinds
    std::size_t actors = 0;
    int bound = -1;
    bool peers = true;
    bool json = false;
};

constexpr double patience_s = 5;

struct Contender {
    std::string_view name;
    Outcome (*run)(const Cell& cell);
};

/// The results of one contender in all runs of a cell.
struct Row {
    Contender contender;
    std::vector<double> seconds{};
    std::vector<double> ratios{};  ///< relative to the work alone in the same run
    std::uint64_t allocations = 0;
    std::uint64_t parks = 0;
    std::uint64_t refusals = 0;  ///< this and the two above are of the last run

    [[nodiscard]] bool has_time_left() const {
        return std::accumulate(seconds.begin(), seconds.end(), 0.0) < patience_s;
    }
};

/// Lets the system place this thread, and the threads that it starts, on any processor.
void roam() {
    cpu_set_t set;
    std::memset(&set, 0xff, sizeof(set));
    sched_setaffinity(0, sizeof(set), &set);
}

void measure(Row& row, const Cell& cell) {
    roam();
    const std::uint64_t allocations_before = allocations();
    const std::uint64_t parks_before = parks();
    const Outcome outcome = row.contender.run(cell);
    row.seconds.push_back(outcome.seconds);
    row.allocations = allocations() - allocations_before;
    row.parks = parks() - parks_before;
    row.refusals = outcome.refusals;
}

/// The number of actors on the sender's core for which both cores have equally much to do, judged
/// by the times of the work alone and of the sender alone.
std::size_t beside_sender(const Cell& cell, double work_seconds, double sender_seconds) {
    constexpr double taking_ns = 2.5;  // per message received, in the runtime (bench actor empty)
    const double messages = static_cast<double>(cell.actors * cell.each);
    const double work = 2 * work_seconds + messages * taking_ns * 1e-9;
    const double share = (1 - sender_seconds / work) / 2;
    return share <= 0 ? 0
                      : static_cast<std::size_t>(share * static_cast<double>(cell.actors) + 0.5);
}

void print(const Row& row, std::string_view work, const Cell& cell, const Options& options) {
    const Spread seconds = spread_of(row.seconds);
    const double ratio = spread_of(row.ratios).median;
    if (options.json) {
        fmt::print(R"({{"subject":"workloads","work":"{}","actors":{},"messages_each":{},)"
                   R"("bound":{},"who":"{}","seconds":{:.6f},"seconds_min":{:.6f},)"
                   R"("seconds_max":{:.6f},"runs":{},"ratio":{:.3f},"allocations":{},"parks":{},)"
                   R"("refusals":{}}})"
                   "\n",
                   work, cell.actors, cell.each, cell.bound, row.contender.name, seconds.median,
                   seconds.min, seconds.max, row.seconds.size(), ratio, row.allocations, row.parks,
                   row.refusals);
    } else {
        fmt::print("{:<16} {:>10.4f} {:>10.4f} {:>10.4f} {:>5} {:>8.2f} {:>12} {:>9} {:>9}\n",
                   row.contender.name, seconds.min, seconds.median, seconds.max, row.seconds.size(),
                   ratio, row.allocations, row.parks, row.refusals);
    }
    std::fflush(stdout);
}

template <class Work>
void measure_cell(std::string_view work, Cell cell, const Options& options) {
    std::array<Row, 7> rows{
        Row{{"work alone", work_alone<Work>}},      Row{{"sender alone", sender_alone}},
        Row{{"pinstrike", pinstrike_actors<Work>}}, Row{{"caf", caf_actors<Work>}},
        Row{{"caf detached", caf_detached<Work>}},  Row{{"moodycamel", moodycamel_queues<Work>}},
        Row{{"mutex+deque", locked_queues<Work>}}};
    for (int run = 0; run < options.runs; ++run) {
        for (Row& row : rows) {
            const bool peer = &row > &rows[2];
            if (peer && (!options.peers || !row.has_time_left())) {
                continue;
            }
            if (&row == &rows[2]) {
                cell.beside_sender =
                    beside_sender(cell, rows[0].seconds.back(), rows[1].seconds.back());
            }
            measure(row, cell);
            row.ratios.push_back(row.seconds.back() / rows[0].seconds.back());
        }
    }
    if (!options.json) {
        fmt::print("\n{}, {} actors x {} messages, {}; {} beside the sender\n", work, cell.actors,
                   cell.each,
                   cell.bound == 0 ? "unbounded" : fmt::format("bounded to {}", cell.bound),
                   cell.beside_sender);
        fmt::print("{:<16} {:>10} {:>10} {:>10} {:>5} {:>8} {:>12} {:>9} {:>9}\n", "", "min s",
                   "median s", "max s", "runs", "ratio", "allocations", "parks", "refusals");
    }
    for (const Row& row : rows) {
        if (!row.seconds.empty()) {
            print(row, work, cell, options);
        }
    }
}

struct Work {
    std::string_view name;
    void (*measure)(std::string_view work, Cell cell, const Options& options);
};

constexpr std::array workloads{
    Work{"sum100", measure_cell<Sum100>},
    Work{"sum1000", measure_cell<Sum1000>},
    Work{"sha512", measure_cell<Sha512>},
};

void measure_all(const Options& options) {
    for (const Work& work : workloads) {
        for (const std::size_t actors : {1U, 15U, 20U, 30U, 100U}) {
            for (const std::size_t bound : {0U, 100U}) {
                const bool wanted = (options.work.empty() || options.work == work.name) &&
                                    (options.actors == 0 || options.actors == actors) &&
                                    (options.bound < 0 || options.bound == static_cast<int>(bound));
                if (wanted) {
                    work.measure(work.name, {.actors = actors, .bound = bound}, options);
                }
            }
        }
    }
}

bool parse(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--json") {
            options.json = true;
            continue;
        }
        if (word == "--no-peers") {
            options.peers = false;
            continue;
        }
        if (i + 1 == argc) {
            return false;
        }
        const char* value = argv[++i];
        if (word == "--runs") {
            options.runs = std::max(std::atoi(value), 1);
        } else if (word == "--work") {
            options.work = value;
        } else if (word == "--actors") {
            options.actors = static_cast<std::size_t>(std::atoi(value));
        } else if (word == "--bound") {
            options.bound = std::atoi(value);
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    pinstrike::bench::Options options;
    if (!pinstrike::bench::parse(argc, argv, options)) {
        fmt::print(stderr,
                   "usage: {} [--runs N] [--work sum100|sum1000|sha512] [--actors T] "
                   "[--bound 0|100] [--no-peers] [--json]\n",
                   argv[0]);
        return 2;
    }
    if (std::thread::hardware_concurrency() < 2) {
        fmt::print("skipped: needs two processors\n");
        return 77;
    }
    pinstrike::bench::measure_all(options);
    return 0;
}
