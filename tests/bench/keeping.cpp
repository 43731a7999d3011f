// path: cold
//
// Measures what recovery and a history cost the poll thread. DPDK's net_pcap replays a capture in
// whole bursts at a rate, and one poller receives them on one core. Another core empties the
// poller's ring. In one trial of three, it also does the work of the recovery thread: it handles
// the notes of missing messages, and copies the blocks of the packets that the port keeps. The
// trials alternate, so that all see the same machine. The third trial does without recovery and
// history, like the first, and shows by how much two paths of the same program differ.
//
//     bench_keeping CAPTURE [--pairs N] [--seconds S] [--rate PACKETS_PER_SECOND] [--hugepages]
//     bench_keeping CAPTURE --alone PACKETS [--keep] [--hugepages]
//
// Prints one JSON object: the time of the poll thread per packet without and with recovery and
// history, in ns (medians), and the ratio of both (median, lowest and highest pair), for the whole
// packet and for the part behind the port. `_same` compares the third trial with the first. A
// trial's figure is the mean of the middle half of its bursts, because the others include
// preemptions. The other core does the work of two threads. If it did not keep up, a ring was full,
// and the figures mean less: `skipped` and `refused` are the shares of all first copies and of all
// messages that found their ring full.
//
// --alone: runs everything in one thread, to count instructions:
//     valgrind --tool=callgrind --toggle-collect='*Poller*::step(long)' bench_keeping ... --alone
//     200000
#include "actors/appliance/venues.h"
#include "actors/core/core.h"
#include "actors/peer/peer_task.h"
#include "actors/poller/poller_task.h"
#include "actors/recovery/recovery_task.h"
#include "actors/threads/ring.h"
#include "actors/topology/machine.h"
#include "feed/opra/opra.h"
#include "feed/recovery/passive_source.h"
#include "nic/clock.h"
#include "tests/bench/measure.h"
#include "tests/bench/poll_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::bench {
namespace {

struct Options {
    std::string capture;
    int pairs = 11;
    double seconds = 1;
    double rate = 500'000;
    double alone_packets = 0;
    bool keep = false;
    bool hugepages = false;
};

constexpr std::size_t burst_packets = 64;

/// Passes on whole bursts of another port, which outlives it, at a rate. Does not make up for
/// bursts that are late.
class BurstPort final : public nic::Port {
  public:
    BurstPort(nic::Port& inner, double packets_per_second)
        : Port("bursts"),
          inner_(inner),
          interval_ns_(static_cast<std::int64_t>(1e9 * burst_packets / packets_per_second)) {}

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        if (now_ns < due_ns_) {
            return 0;
        }
        due_ns_ = now_ns + interval_ns_;
        if (std::exchange(keeps_burst_, false)) {
            inner_.keep_burst();
        }
        inner_.give_back(std::exchange(given_back_, 0));
        const std::size_t received = inner_.receive(burst, now_ns);
        receive_ns_ = clock_.wall_ns() - now_ns;
        return received;
    }

    /// The time that the other port, and the call of it, took for the last burst.
    [[nodiscard]] std::int64_t receive_ns() const { return receive_ns_; }

    [[nodiscard]] bool keeps() const override { return inner_.keeps(); }

    /// Delivers no burst before this time.
    void wait_until(std::int64_t due_ns) { due_ns_ = due_ns; }

  private:
    nic::Port& inner_;
    nic::Clock clock_;
    std::int64_t interval_ns_;
    std::int64_t due_ns_ = 0;
    std::int64_t receive_ns_ = 0;
};

/// The work of the recovery thread for one poller: recovery with a source that never answers, and a
/// history.
class Keeper {
  public:
    explicit Keeper(actors::PollerSetup& setup) {
        std::vector<std::uint16_t> lines;
        for (const feed::LineConfig& line : setup.lines) {
            lines.push_back(line.number);
        }
        auto [poller_rings, own_rings] = actors::make_repair_rings(lines);
        setup.repair_rings = std::move(poller_rings);
        std::vector<actors::RecoveryRepairRings> repair_rings;
        repair_rings.push_back(std::move(own_rings));
        std::vector<std::unique_ptr<feed::RepairSource>> sources;
        sources.push_back(std::make_unique<feed::PassiveSource>("retransmission"));
        recovery_ = std::make_unique<actors::RecoveryTask>(
            feed::RecoveryConfig{}, std::move(repair_rings), std::move(sources), feed::Numbering{});

        auto ring = actors::Ring<actors::FirstCopy>::make(
            actors::Ring<actors::FirstCopy>::slots_for(actors::HistoryRingWriter::keeping_slots));
        setup.history = std::make_unique<actors::HistoryRingWriter>(std::move(ring.producer));
        history_ = std::make_unique<actors::peer::PeerTask>(
            std::make_unique<feed::History>(
                lines,
                feed::HistoryConfig{.keep_ns = 10'000'000'000,
                                    .memory_bytes = std::size_t{1} << 28},
                feed::Numbering{}),
            nullptr);
        history_->add_history_ring({lines, std::move(ring.consumer)});
    }

    ~Keeper() {
        recovery_->finish();
        history_->finish();
    }

    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    void step(std::int64_t now_ns) {
        recovery_->step(now_ns);
        history_->step(now_ns);
    }

  private:
    std::unique_ptr<actors::RecoveryTask> recovery_;
    std::unique_ptr<actors::peer::PeerTask> history_;
};

struct Trial {
    double packets = 0;
    double packet_ns = 0;
    double behind_port_ns = 0;  ///< packet_ns without the port's part
    double messages = 0;
    double refused = 0;
    double skipped = 0;
};

/// A poller, the core that it feeds, and the keeper if there is one.
class Path {
  public:
    Path(nic::Port& port, double rate, bool keeps) {
        auto ring = actors::Ring<feed::Event>::make(std::size_t{1} << 16);
        auto bursts = std::make_unique<BurstPort>(port, rate);
        bursts_ = bursts.get();
        actors::PollerSetup setup = poller_setup(std::move(bursts), nic::ChecksumCheck::software);
        if (keeps) {
            keeper_ = std::make_unique<Keeper>(setup);
        }
        poller_ = actors::make_poller(feed::opra::Opra::name, std::move(setup),
                                      router_to(std::move(ring.producer)));
        std::vector<actors::Consumer<feed::Event>> rings;
        rings.push_back(std::move(ring.consumer));
        core_ = std::make_unique<actors::Core>(actors::CoreOptions{.info = {"core0", 0, 1}},
                                               std::move(rings),
                                               std::vector<std::unique_ptr<actors::Actor>>{});
        core_->start();
    }

    std::size_t poll(std::int64_t now_ns) {
        last_ns_ = now_ns;
        return poller_->step(now_ns);
    }

    [[nodiscard]] std::int64_t receive_ns() const { return bursts_->receive_ns(); }

    void step_other_side(std::int64_t now_ns) {
        core_->step(now_ns);
        if (keeper_ != nullptr) {
            keeper_->step(now_ns);
        }
    }

    /// Called between two trials, when the threads of a trial have ended. Afterwards, nothing reads
    /// the port's packets any more, and another path may use the port.
    void rest() {
        bursts_->wait_until(never_ns);
        step_other_side(last_ns_);
        poll(last_ns_);
        bursts_->wait_until(0);
    }

    void finish() {
        poller_->finish();
        core_->drain(0);
        core_->stop();
    }

    [[nodiscard]] Trial figures() const {
        Trial trial;
        const actors::RingCounters& ring = poller_->router().counters(0);
        trial.messages = static_cast<double>(ring.read(actors::RingCount::routed));
        trial.refused = static_cast<double>(ring.read(actors::RingCount::refused));
        if (keeper_ != nullptr) {
            trial.skipped = static_cast<double>(poller_->history()->skipped().read());
        }
        return trial;
    }

  private:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    BurstPort* bursts_ = nullptr;  ///< owned by the poller
    std::int64_t last_ns_ = 0;
    std::unique_ptr<actors::PollerTask> poller_;
    std::unique_ptr<actors::Core> core_;
    std::unique_ptr<Keeper> keeper_;  // is destroyed before the poller and its port
};

/// The mean of the middle half of the figures.
double middle_mean(std::vector<double> figures) {
    std::sort(figures.begin(), figures.end());
    const std::size_t quarter = figures.size() / 4;
    const auto begin = figures.begin() + static_cast<std::ptrdiff_t>(quarter);
    const auto end = figures.end() - static_cast<std::ptrdiff_t>(quarter);
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

Trial run_on_two_cores(Path& path, const Options& options) {
    nic::Clock clock;
    std::atomic<bool> stop{false};  // relaxed, because it orders no other data
    std::thread other{[&] {
        actors::place_this_thread(1, "other");
        while (!stop.load(std::memory_order_relaxed)) {
            path.step_other_side(clock.wall_ns());
        }
    }};
    std::int64_t now_ns = clock.wall_ns();
    const std::int64_t end_ns = now_ns + static_cast<std::int64_t>(options.seconds * 1e9);
    std::vector<double> burst_ns;
    std::vector<double> behind_port_ns;
    while (now_ns < end_ns) {
        const std::size_t packets = path.poll(now_ns);
        const std::int64_t after_ns = clock.wall_ns();
        if (packets == burst_packets) {
            burst_ns.push_back(static_cast<double>(after_ns - now_ns));
            behind_port_ns.push_back(static_cast<double>(after_ns - now_ns - path.receive_ns()));
        }
        now_ns = after_ns;
    }
    stop.store(true, std::memory_order_relaxed);
    other.join();
    path.rest();
    Trial trial;
    trial.packets = static_cast<double>(burst_ns.size() * burst_packets);
    trial.packet_ns = middle_mean(std::move(burst_ns)) / burst_packets;
    trial.behind_port_ns = middle_mean(std::move(behind_port_ns)) / burst_packets;
    return trial;
}

Trial run_in_one_thread(nic::Port& port, bool keeps, double packets_wanted) {
    constexpr double unlimited = 1e18;
    Path path{port, unlimited, keeps};
    nic::Clock clock;
    double packets = 0;
    while (packets < packets_wanted) {
        const std::int64_t now_ns = clock.wall_ns();
        packets += static_cast<double>(path.poll(now_ns));
        for (int i = 0; i < 16; ++i) {  // a burst of full blocks is about ten batches
            path.step_other_side(now_ns);
        }
    }
    path.finish();
    Trial trial = path.figures();
    trial.packets = packets;
    return trial;
}

/// The median of the ratios of the pairs, and the medians of both sides.
std::string compared(const char* what, const std::vector<double>& without_ns,
                     const std::vector<double>& with_ns) {
    std::vector<double> costs;
    for (std::size_t i = 0; i < without_ns.size(); ++i) {
        costs.push_back(with_ns[i] / without_ns[i]);
    }
    const Spread cost = spread_of(costs);
    return fmt::format(
        "\"{}\": {{\"without_ns\": {:.1f}, \"with_ns\": {:.1f}, \"cost\": {:.3f}, \"lowest\": "
        "{:.3f}, "
        "\"highest\": {:.3f}}}",
        what, spread_of(without_ns).median, spread_of(with_ns).median, cost.median, cost.min,
        cost.max);
}

/// Runs three paths whose trials alternate. `again` is a second path without recovery and history.
/// It differs from `bare` only in the place of its memory.
void compare(const Options& options, nic::Port& port) {
    Path bare{port, options.rate, false};
    Path kept{port, options.rate, true};
    Path again{port, options.rate, false};
    const std::array paths{&bare, &kept, &again};
    for (Path* path : paths) {  // warm-up: touches the history's memory once
        run_on_two_cores(*path, options);
    }
    const Trial warm = kept.figures();
    std::array<std::vector<double>, 3> whole_ns;
    std::array<std::vector<double>, 3> behind_ns;
    double packets = 0;
    for (int i = 0; i < options.pairs; ++i) {
        for (std::size_t of = 0; of < paths.size(); ++of) {
            const Trial trial = run_on_two_cores(*paths[of], options);
            whole_ns[of].push_back(trial.packet_ns);
            behind_ns[of].push_back(trial.behind_port_ns);
            packets += paths[of] == &kept ? trial.packets : 0;
        }
    }
    for (Path* path : paths) {
        path->finish();
    }
    const Trial figures = kept.figures();
    fmt::print("{{\"pairs\": {}, {}, {}, {}, {}, \"skipped\": {:.4f}, \"refused\": {:.4f}}}\n",
               options.pairs, compared("packet", whole_ns[0], whole_ns[1]),
               compared("behind_port", behind_ns[0], behind_ns[1]),
               compared("packet_same", whole_ns[0], whole_ns[2]),
               compared("behind_port_same", behind_ns[0], behind_ns[2]),
               (figures.skipped - warm.skipped) / packets,
               (figures.refused - warm.refused) / (figures.messages - warm.messages));
}

int run(const Options& options) {
    const actors::LoopedCaptures capture = open_one(options.capture, {options.hugepages, true});
    if (capture.ports.empty()) {
        return 1;
    }
    actors::place_this_thread(0, "poller0");
    if (options.alone_packets == 0) {
        compare(options, *capture.ports.front());
        return 0;
    }
    const Trial trial =
        run_in_one_thread(*capture.ports.front(), options.keep, options.alone_packets);
    fmt::print(
        "{{\"packets\": {:.0f}, \"messages\": {:.0f}, \"refused\": {:.0f}, "
        "\"skipped\": {:.0f}}}\n",
        trial.packets, trial.messages, trial.refused, trial.skipped);
    return 0;
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    pinstrike::bench::Options options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--pairs") == 0 && i + 1 < argc) {
            options.pairs = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            options.seconds = std::atof(argv[++i]);
        } else if (std::strcmp(argv[i], "--rate") == 0 && i + 1 < argc) {
            options.rate = std::atof(argv[++i]);
        } else if (std::strcmp(argv[i], "--alone") == 0 && i + 1 < argc) {
            options.alone_packets = std::atof(argv[++i]);
        } else if (std::strcmp(argv[i], "--keep") == 0) {
            options.keep = true;
        } else if (std::strcmp(argv[i], "--hugepages") == 0) {
            options.hugepages = true;
        } else {
            options.capture = argv[i];
        }
    }
    if (options.capture.empty() || options.pairs < 1) {
        fmt::print(
            stderr,
            "usage: bench_keeping CAPTURE [--pairs N] [--seconds S] [--rate R] [--hugepages]\n"
            "       bench_keeping CAPTURE --alone PACKETS [--keep] [--hugepages]\n");
        return 2;
    }
    return pinstrike::bench::run(options);
}
