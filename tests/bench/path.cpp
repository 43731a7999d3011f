// path: cold
//
// Measures the whole poll path and a book on two cores. DPDK's net_pcap replays a capture forever,
// a token bucket limits its rate, one poller receives it, and one actor core keeps the book.
//
// The result is the highest offered rate at which no message is refused or lost. The bucket is as
// deep as a large NIC's receive ring. Packets that overflow it are counted as missed, because a NIC
// would have dropped them. A message that finds its ring full is refused.
//
// If more than a millisecond passes from one burst to the next, the hypervisor had preempted the
// poller's processor, because a step takes a hundredth of that. If the core has begun no step for
// as long, the hypervisor had preempted the core's processor, because a step with a book takes a
// hundredth as well. Packets that would have arrived meanwhile are not offered, and the time does
// not count. `stood_still` is the share of this time.
//
// A trial counts after its first 40,000 packets. The capture continues where the previous trial
// stopped. An arbiter that starts in the middle of a loop recognises the loop only when that point
// comes again, and has then lost the messages in between (feed/arbitration/reset_inference.h). By
// then, all memory has been touched and the book is filled.
//
// A rate holds if two of at most three trials lose nothing, so that one preempted trial never
// decides. The search bisects between the last rate that held and the last that did not, below a
// rate that did not hold. Two preempted trials make a rate fail, and the search then stays below
// it. A single search therefore errs downwards, and path.py makes several.
//
//     bench_path CAPTURE [--seconds S] [--series N] [--no-book] [--trusting] [--hugepages]
//                [--published table|stream] [--hugetlbfs] [--rate PACKETS_PER_SECOND]
//                [--distance FROM:TO]
//
// Prints one JSON object. `limit` is what failed above the rate: "missed" (the poller was too slow)
// or "refused" (the core was). --no-book: the core has no actor and only empties its ring.
// --trusting: the poller does not verify UDP and IP checksums, as if the NIC did (net_pcap does
// not). It always verifies block checksums. --published: the book's memory is a file that readers
// could map, in a hugetlbfs with --hugetlbfs; with `stream` the core also writes every message to
// its stream. --rate: runs one trial at that rate. --distance: a
// trial counts only if the two processors were at this distance, in nanoseconds, before and after
// it (distance.h). `taken_again` is the number of trials that were repeated for this reason.
// `gave_up` is true if the processors took too long to reach this distance.
#include "actors/appliance/thread_loops.h"
#include "actors/appliance/venues.h"
#include "actors/book/book.h"
#include "actors/book/book_config.h"
#include "actors/core/core.h"
#include "actors/poller/poller_task.h"
#include "actors/publish/memory_file.h"
#include "actors/threads/ring.h"
#include "actors/topology/machine.h"
#include "config/print_problems.h"
#include "feed/opra/opra.h"
#include "nic/clock.h"
#include "nic/port.h"
#include "tests/bench/distance.h"
#include "tests/bench/poll_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

namespace pinstrike::bench {
namespace {

using feed::Event;

struct Options {
    std::string capture;
    double seconds = 1;
    std::size_t series = 1'500'000;
    double rate = 0;
    Distances distances;
    bool hugepages = false;
    bool book = true;
    std::string published;  ///< "table", "stream" (and table), or empty: nothing
    actors::PublishMemory memory = actors::PublishMemory::shm;
    nic::ChecksumCheck udp_checksum = nic::ChecksumCheck::software;
};

/// No step of a poller or core takes a tenth of this time. A longer pause is a preemption.
constexpr std::int64_t longest_step_ns = 1'000'000;

/// Whether the core makes progress, as the poller sees it. The poller reads the core's counter
/// rarely, because each read takes the cache line of that counter away from the core.
class CoreWatch {
  public:
    explicit CoreWatch(const Counter& steps) : steps_(steps) {}

    [[nodiscard]] bool stands_still(std::int64_t now_ns) {
        if (now_ns - looked_ns_ >= look_every_ns) {
            looked_ns_ = now_ns;
            const std::uint64_t steps = steps_.read();
            if (steps != last_steps_) {
                last_steps_ = steps;
                moved_ns_ = now_ns;
            }
        }
        return now_ns - moved_ns_ > longest_step_ns;
    }

  private:
    static constexpr std::int64_t look_every_ns = 100'000;

    const Counter& steps_;
    std::uint64_t last_steps_ = ~std::uint64_t{0};
    std::int64_t looked_ns_ = 0;
    std::int64_t moved_ns_ = 0;
};

/// Limits another port to a rate. If the poller lags by more than `depth_packets`, packets are
/// missed.
class PacedPort final : public nic::Port {
  public:
    static constexpr double depth_packets = 32768;

    PacedPort(nic::Port& inner, double packets_per_second, const Counter& core_steps)
        : Port("paced"),
          inner_(inner),
          packets_per_ns_(packets_per_second * 1e-9),
          core_(core_steps) {}

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        const bool core_stands = core_.stands_still(now_ns);
        if (last_ns_ != 0) {
            tokens_ +=
                static_cast<double>(offered_ns(now_ns - last_ns_, core_stands)) * packets_per_ns_;
        }
        last_ns_ = now_ns;
        if (core_stands) {
            return 0;
        }
        if (tokens_ > depth_packets) {
            missed_ += static_cast<std::uint64_t>(tokens_ - depth_packets);
            tokens_ = depth_packets;
        }
        const auto wanted = std::min(burst.size(), static_cast<std::size_t>(tokens_));
        const std::size_t got = wanted == 0 ? 0 : inner_.receive(burst.first(wanted), now_ns);
        tokens_ -= static_cast<double>(got);
        packets_ += got;
        return got;
    }

    /// Forgets the tokens and counts from before.
    void begin() {
        tokens_ = 0;
        missed_ = packets_ = 0;
        stood_still_ns_ = 0;
    }

    /// The time since begin() in which the hypervisor had preempted the poller or the core.
    [[nodiscard]] std::int64_t stood_still_ns() const { return stood_still_ns_; }

    [[nodiscard]] std::uint64_t missed() const { return missed_; }

    [[nodiscard]] std::uint64_t packets() const { return packets_; }

  private:
    std::int64_t offered_ns(std::int64_t passed_ns, bool core_stands) {
        if (passed_ns <= longest_step_ns && !core_stands) {
            return passed_ns;
        }
        stood_still_ns_ += passed_ns;
        return 0;
    }

    nic::Port& inner_;
    double packets_per_ns_;
    CoreWatch core_;
    double tokens_ = 0;
    std::int64_t last_ns_ = 0;
    std::uint64_t missed_ = 0;
    std::uint64_t packets_ = 0;
    std::int64_t stood_still_ns_ = 0;
};

struct Trial {
    double seconds = 0;  ///< time in which packets were offered
    double stood_still_seconds = 0;
    double packets = 0;
    double messages = 0;
    std::uint64_t missed = 0;
    std::uint64_t refused = 0;
    std::uint64_t lost = 0;

    [[nodiscard]] bool clean() const { return missed == 0 && refused == 0 && lost == 0; }

    /// Leaves the counts since `earlier`, a moment of the same trial.
    void subtract(const Trial& earlier) {
        messages -= earlier.messages;
        refused -= earlier.refused;
        lost -= earlier.lost;
    }
};

/// More packets than two turns of a capture have.
constexpr std::uint64_t packets_before_counting = 40'000;

class Bench {
  public:
    Bench(const Options& options, nic::Port& port)
        : options_(options), port_(port), at_distance_(options.distances) {}

    Trial run(double packets_per_second) {
        return at_distance_.measure([&] { return offer(packets_per_second); });
    }

    [[nodiscard]] const AtDistance& at_distance() const { return at_distance_; }

  private:
    Trial offer(double packets_per_second) {
        auto ring = actors::Ring<Event>::make(std::size_t{1} << 19);
        actors::Core core = make_core(std::move(ring.consumer));
        auto paced = std::make_unique<PacedPort>(port_, packets_per_second, core.counters().steps);
        PacedPort& bucket = *paced;
        const auto poller = actors::make_poller(
            feed::opra::Opra::name, poller_setup(std::move(paced), options_.udp_checksum),
            router_to(std::move(ring.producer)));
        actors::ThreadControl control;
        std::thread thread{[&] { actors::run_core(core, 1, nullptr, clock_, control); }};
        while (!control.started.load(std::memory_order_acquire)) {
            std::this_thread::yield();
        }
        while (bucket.packets() < packets_before_counting) {
            poller->step(clock_.wall_ns());
        }
        bucket.begin();
        const Trial before = so_far(*poller);
        const std::int64_t begin_ns = clock_.wall_ns();
        const std::int64_t end_ns = begin_ns + static_cast<std::int64_t>(options_.seconds * 1e9);
        std::int64_t now_ns = begin_ns;
        while (now_ns < end_ns) {
            poller->step(now_ns);
            now_ns = clock_.wall_ns();
        }
        poller->finish();
        control.stop.store(true, std::memory_order_release);
        thread.join();
        Trial trial = so_far(*poller);
        trial.subtract(before);
        trial.stood_still_seconds = static_cast<double>(bucket.stood_still_ns()) * 1e-9;
        trial.seconds = static_cast<double>(now_ns - begin_ns) * 1e-9 - trial.stood_still_seconds;
        trial.packets = static_cast<double>(bucket.packets());
        trial.missed = bucket.missed();
        return trial;
    }

    template <class Poller>
    static Trial so_far(Poller& poller) {
        Trial trial;
        trial.refused = poller.router().counters(0).read(actors::RingCount::refused);
        for (std::size_t i = 0; i < poller.lines_count(); ++i) {
            const auto& counters = poller.line(i).arbiter.counters();
            trial.messages += static_cast<double>(counters.read(feed::LineCount::delivered));
            trial.lost += counters.read(feed::LineCount::lost);
        }
        return trial;
    }

    /// The book, in private memory or in a file, which replaces that of the trial before.
    std::unique_ptr<actors::Actor> make_book() {
        const actors::BookConfig config{.series_capacity = options_.series};
        if (options_.published.empty()) {
            return std::make_unique<actors::Book>(config, 1);
        }
        actors::MemoryPlan plan{.feed = "bench-path",
                                .memory = options_.memory,
                                .cores = {"core0"},
                                .nodes = {},
                                .shape = actors::book_shape(config, 1)};
        plan.shape.stream_records =
            options_.published == "stream" ? actors::PublishConfig{}.stream_records : 0;
        Problems problems;
        file_.reset();
        file_ = actors::MemoryFile::make(std::move(plan), problems);
        if (file_ == nullptr) {
            print_problems(problems);
            std::exit(1);
        }
        file_->set_live();
        return std::make_unique<actors::Book>(config, file_->core(0));
    }

    actors::Core make_core(actors::Consumer<Event> consumer) {
        std::vector<actors::Consumer<Event>> consumers;
        consumers.push_back(std::move(consumer));
        std::vector<std::unique_ptr<actors::Actor>> list;
        if (options_.book) {
            list.push_back(make_book());
        }
        actors::CoreOptions options;
        options.info = {"core0", 0, 1};
        options.clock = &clock_;
        return {std::move(options), std::move(consumers), std::move(list)};
    }

    const Options& options_;
    nic::Port& port_;
    nic::Clock clock_;
    std::unique_ptr<actors::MemoryFile> file_;
    AtDistance at_distance_;
};

/// Finds the highest rate that holds.
class Search {
  public:
    explicit Search(Bench& bench) : bench_(bench) {}

    void run() {
        constexpr double unlimited = 1e9;
        constexpr int halvings = 5;  // reach a hundredth; the spread is wider
        const Trial free_run = bench_.run(unlimited);
        double low = 0;
        double high = free_run.packets / free_run.seconds;
        while (holds(high)) {  // the free run was preempted
            low = high;
            high *= 1.25;
        }
        for (int i = 0; i < halvings; ++i) {
            const double rate = low == 0 ? high * 0.8 : (low + high) / 2;
            (holds(rate) ? low : high) = rate;
        }
    }

    /// The trial of the highest rate that held.
    [[nodiscard]] const Trial& clean() const { return clean_; }

    /// The trial of the lowest rate that did not hold.
    [[nodiscard]] const Trial& unclean() const { return unclean_; }

  private:
    /// Whether two of at most three trials lose nothing.
    bool holds(double rate) {
        int good = 0;
        int bad = 0;
        Trial clean;
        Trial unclean;
        while (good < 2 && bad < 2) {
            const Trial trial = bench_.run(rate);
            ++(trial.clean() ? good : bad);
            (trial.clean() ? clean : unclean) = trial;
        }
        (good == 2 ? clean_ : unclean_) = good == 2 ? clean : unclean;
        return good == 2;
    }

    Bench& bench_;
    Trial clean_;
    Trial unclean_;
};

void print(const char* what, const Trial& trial, const char* limit, const AtDistance& at_distance) {
    const double seconds = std::max(trial.seconds, 1e-9);  // 0: no rate held
    fmt::print(
        "{{\"{}\": {{\"packets_per_second\": {:.0f}, \"messages_per_second\": {:.0f}, "
        "\"missed\": {}, \"refused\": {}, \"lost\": {}, \"stood_still\": {:.4f}, \"limit\": "
        "\"{}\", \"taken_again\": {}, \"gave_up\": {}}}}}\n",
        what, trial.packets / seconds, trial.messages / seconds, trial.missed, trial.refused,
        trial.lost, trial.stood_still_seconds / (seconds + trial.stood_still_seconds), limit,
        at_distance.taken_again(), at_distance.gave_up());
}

const char* limit_of(const Trial& unclean) {
    return unclean.refused != 0 ? "refused" : unclean.missed != 0 ? "missed" : "none";
}

int run(const Options& options) {
    const actors::LoopedCaptures capture = open_one(options.capture, {options.hugepages, false});
    if (capture.ports.empty()) {
        return 1;
    }
    actors::place_this_thread(0, "poller0");
    Bench bench{options, *capture.ports.front()};
    if (options.rate > 0) {
        const Trial trial = bench.run(options.rate);
        print("trial", trial, limit_of(trial), bench.at_distance());
    } else {
        Search search{bench};
        search.run();
        print("nothing_lost", search.clean(), limit_of(search.unclean()), bench.at_distance());
    }
    return 0;
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    pinstrike::bench::Options options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            options.seconds = std::atof(argv[++i]);
        } else if (std::strcmp(argv[i], "--series") == 0 && i + 1 < argc) {
            options.series = static_cast<std::size_t>(std::atoll(argv[++i]));
        } else if (std::strcmp(argv[i], "--rate") == 0 && i + 1 < argc) {
            options.rate = std::atof(argv[++i]);
        } else if (std::strcmp(argv[i], "--distance") == 0 && i + 1 < argc &&
                   read(argv[i + 1], options.distances)) {
            ++i;
        } else if (std::strcmp(argv[i], "--hugepages") == 0) {
            options.hugepages = true;
        } else if (std::strcmp(argv[i], "--published") == 0 && i + 1 < argc) {
            options.published = argv[++i];
        } else if (std::strcmp(argv[i], "--hugetlbfs") == 0) {
            options.memory = pinstrike::actors::PublishMemory::hugetlbfs;
        } else if (std::strcmp(argv[i], "--no-book") == 0) {
            options.book = false;
        } else if (std::strcmp(argv[i], "--trusting") == 0) {
            options.udp_checksum = pinstrike::nic::ChecksumCheck::off;
        } else {
            options.capture = argv[i];
        }
    }
    const bool known =
        options.published.empty() || options.published == "table" || options.published == "stream";
    if (options.capture.empty() || !known) {
        fmt::print(stderr,
                   "usage: bench_path CAPTURE [--seconds S] [--series N] [--no-book] [--trusting] "
                   "[--hugepages] [--published table|stream] [--hugetlbfs] [--rate R] "
                   "[--distance FROM:TO]\n");
        return 2;
    }
    return pinstrike::bench::run(options);
}
