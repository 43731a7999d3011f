// path: cold
//
// Measures the whole poll path and a book on one processor. Poller and core take turns in one
// thread, burst by burst, and DPDK's net_pcap replays a capture forever. No cache line moves from
// one core to another, and no thread waits for another. The figure is the baseline to which more
// threads must be compared.
//
//     bench_one_thread CAPTURE [--runs N] [--seconds S] [--series N] [--hugepages]
//
// Prints one JSON object: millions of messages per second of the thread's processor time, for each
// run.
#include "actors/appliance/venues.h"
#include "actors/book/book_config.h"
#include "actors/core/core.h"
#include "actors/poller/poller_task.h"
#include "actors/threads/ring.h"
#include "actors/topology/actor_kinds.h"
#include "actors/topology/machine.h"
#include "config/check.h"
#include "feed/opra/opra.h"
#include "nic/clock.h"
#include "tests/bench/measure.h"
#include "tests/bench/poll_path.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::bench {
namespace {

using feed::Event;

struct Options {
    std::string capture;
    int runs = 5;
    double seconds = 0.5;
    std::size_t series = 1'500'000;
    bool hugepages = false;
};

actors::Core make_core(const Options& options, const nic::Clock& clock,
                       actors::Consumer<Event> consumer) {
    actors::FeedConfig config;
    config.actors.get<actors::BookConfig>().series_capacity = options.series;
    config.cores.resize(1);
    std::vector<actors::Consumer<Event>> consumers;
    consumers.push_back(std::move(consumer));
    std::vector<std::unique_ptr<actors::Actor>> list;
    list.push_back(actors::make_actor("book", config));
    actors::CoreOptions core_options;
    core_options.info = {"core0", 0, 1};
    core_options.clock = &clock;
    return {std::move(core_options), std::move(consumers), std::move(list)};
}

/// Millions of messages per second in each run. The book is filled before the first run.
std::vector<double> measure(const Options& options, nic::Port& port) {
    const nic::Clock clock;
    auto ring = actors::Ring<Event>::make(std::size_t{1} << 14);
    const auto poller = actors::make_poller(
        feed::opra::Opra::name,
        poller_setup(std::make_unique<LentPort>(port), nic::ChecksumCheck::software),
        router_to(std::move(ring.producer)));
    actors::Core core = make_core(options, clock, std::move(ring.consumer));
    core.start();
    std::vector<double> rates;
    for (int run = -1; run < options.runs; ++run) {
        const std::uint64_t before = poller->router().counters(0).read(actors::RingCount::routed);
        const double begin = cpu_seconds();
        double end = begin;
        while (end - begin < options.seconds) {
            for (int turn = 0; turn < 64; ++turn) {
                poller->step(clock.wall_ns());
                while (core.step(clock.wall_ns()) != 0) {
                }
            }
            end = cpu_seconds();
        }
        const std::uint64_t routed =
            poller->router().counters(0).read(actors::RingCount::routed) - before;
        if (run >= 0) {
            rates.push_back(static_cast<double>(routed) / (end - begin) / 1e6);
        }
    }
    PINSTRIKE_CHECK(poller->router().counters(0).read(actors::RingCount::refused) == 0);
    return rates;
}

int run(const Options& options) {
    const actors::LoopedCaptures capture = open_one(options.capture, {options.hugepages, false});
    if (capture.ports.empty()) {
        return 1;
    }
    actors::place_this_thread(0, "one");
    const char* before = "{\"millions_per_second\": [";
    for (const double rate : measure(options, *capture.ports.front())) {
        fmt::print("{}{:.3f}", std::exchange(before, ", "), rate);
    }
    fmt::print("]}}\n");
    return 0;
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    pinstrike::bench::Options options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            options.runs = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            options.seconds = std::atof(argv[++i]);
        } else if (std::strcmp(argv[i], "--series") == 0 && i + 1 < argc) {
            options.series = static_cast<std::size_t>(std::atoll(argv[++i]));
        } else if (std::strcmp(argv[i], "--hugepages") == 0) {
            options.hugepages = true;
        } else {
            options.capture = argv[i];
        }
    }
    if (options.capture.empty() || options.runs < 1) {
        fmt::print(stderr,
                   "usage: bench_one_thread CAPTURE [--runs N] [--seconds S] [--series N] "
                   "[--hugepages]\n");
        return 2;
    }
    return pinstrike::bench::run(options);
}
