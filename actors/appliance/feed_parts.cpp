// path: cold
//
#include "actors/appliance/feed_parts.h"

#include "actors/appliance/venues.h"
#include "actors/host/confine/call_lists.h"
#include "actors/poller/router.h"
#include "actors/threads/ring.h"
#include "actors/topology/actor_kinds.h"
#include "actors/topology/feed_hours.h"
#include "config/check.h"
#include "feed/recording/moment.h"
#include "feed/recovery/passive_source.h"
#include "feed/recovery/recovery_keys.h"
#include "feed/venue_services.h"
#include "nic/dpdk/eal.h"
#include "nic/open_port.h"
#include "nic/port_kind.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <new>
#include <system_error>
#include <utility>

namespace pinstrike::actors {
namespace {

/// The most lines that a reload can add to a poller. Its tables reserve space for them at the
/// start.
constexpr std::size_t more_lines_max = 32;
static_assert(4 * more_lines_max <= nic::more_groups_max);

/// If the address space is limited, a retry does not help against a lack of memory.
bool address_space_is_limited() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Starts DPDK once for all its ports. Null if there are none, or with Problems if the start fails.
std::shared_ptr<nic::dpdk::Eal> start_dpdk(const FeedConfig& config, const Topology& topology,
                                           nic::dpdk::LogSink log, Problems& problems) {
    nic::dpdk::EalConfig eal;
    eal.ports = dpdk_demands(config, topology);
    eal.log = std::move(log);
    if (eal.ports.empty()) {
        return nullptr;
    }
    if (config.control_cpu >= 0) {
        eal.housekeeping_cpus.push_back(static_cast<unsigned>(config.control_cpu));
    }
    return nic::dpdk::Eal::start(eal, problems);
}

/// Sources in the order of the config; `peers` stands for all peers that are asked.
std::vector<std::unique_ptr<feed::RepairSource>> repair_sources(const FeedConfig& config,
                                                                peer::Peers* peers) {
    std::vector<std::unique_ptr<feed::RepairSource>> sources;
    for (const feed::RepairKind kind : config.recovery.sources) {
        if (kind == feed::RepairKind::peer) {
            for (auto& source : peers->sources()) {
                sources.push_back(std::move(source));
            }
            continue;
        }
        PINSTRIKE_CHECK(kind == feed::RepairKind::retransmission);
        sources.push_back(std::make_unique<feed::PassiveSource>(feed::word_of(kind)));
    }
    return sources;
}

std::vector<std::uint16_t> configured_lines(const FeedConfig& config) {
    std::vector<std::uint16_t> numbers;
    for (const feed::LineConfig& line : config.lines) {
        numbers.push_back(line.number);
    }
    return numbers;
}

/// A source whose packets the ports take.
nic::Ipv4 allowed_source(const std::vector<PollerPort>& ports) {
    for (const PollerPort& port : ports) {
        if (!port.sources.empty()) {
            return port.sources.front().address;
        }
    }
    return {};
}

/// Null if all system calls are allowed.
std::unique_ptr<CallFilter> filter_of(const FeedConfig& config,
                                      std::vector<nic::SystemCall> allowed) {
    return CallFilter::in_this_build && config.system_calls == SystemCalls::filtered
               ? std::make_unique<CallFilter>(std::move(allowed))
               : nullptr;
}

/// Any thread may call this. The pollers must record.
std::uint64_t received_packets(const FeedParts& parts) {
    std::uint64_t packets = 0;
    for (const PollerThread& poller : parts.pollers) {
        const PacketRecorder& recorder = *poller.task->recorder();
        packets += recorder.recorded().read() + recorder.not_recorded().read();
    }
    return packets;
}

/// Makes the parts of a feed. make_parts() has the order of the calls.
class PartsBuilder {
  public:
    explicit PartsBuilder(FeedParts& parts) : parts_{parts}, config_{parts.config} {}

    // False, with Problems: the feed cannot start.
    bool check(Problems& problems);
    bool read_series(Problems& problems);
    bool read_left_out(Problems& problems);
    bool open_ports(nic::dpdk::LogSink device_log, Problems& problems);
    bool open_publisher(Problems& problems);
    bool open_peers(peer::PeerListener listener, Problems& problems);
    void make_state_recovery(RecoveredListener listener);
    bool make_recorder(RecorderListener listener, Problems& problems);

    void make_threads();

  private:
    bool make_state_exchange(const peer::PeerListener& listener, Problems& problems);
    bool make_loader(Problems& problems);
    void make_pollers(const std::vector<Parking*>& wakers);
    [[nodiscard]] PollerSetup poller_setup(std::size_t index);
    [[nodiscard]] std::vector<Producer<feed::Event>> rings_to_cores();
    void make_core(std::size_t index);

    /// Whether the core's rings for state are still to be given to one of its actors.
    [[nodiscard]] bool has_rings(std::size_t core) const {
        return !state_rings_.empty() && state_rings_[core].has_value();
    }

    [[nodiscard]] bool give_rings(Actor& actor, std::size_t core);

    FeedParts& parts_;
    const FeedConfig& config_;
    LineHours hours_;
    feed::LeftOutByLine left_out_;
    std::vector<std::vector<std::unique_ptr<nic::Port>>> queues_;  ///< by port, then by poller
    std::vector<std::vector<Consumer<feed::Event>>> inputs_;       ///< by core, then by poller
    std::vector<RecorderInput> recorder_inputs_;                   ///< by poller; empty: none
    std::vector<std::optional<StateRings>> state_rings_;  ///< by core; nullopt: none, or taken
};

bool PartsBuilder::check(Problems& problems) {
    const std::size_t before = problems.size();
    hours_ = hours_of(config_, problems).value_or(LineHours{});
    TopologyFindings findings = check_topology(parts_.topology, config_, read_machine_for(config_));
    parts_.remarks = std::move(findings.remarks);
    problems.insert(problems.end(), findings.problems.begin(), findings.problems.end());
    return problems.size() == before;
}

bool PartsBuilder::read_series(Problems& problems) {
    const std::size_t before = problems.size();
    parts_.series = read_series_list(config_, problems);
    return problems.size() == before;
}

bool PartsBuilder::read_left_out(Problems& problems) {
    const std::size_t before = problems.size();
    for (const nic::PortConfig& port : config_.ports) {
        const auto files = nic::property_of(port, &nic::PortKindRow::files);
        for (auto& [line, ranges] : feed::left_out_of(files, problems)) {
            std::vector<feed::LeftOutRange>& known = left_out_[line];
            known.insert(known.end(), ranges.begin(), ranges.end());
        }
    }
    return problems.size() == before;
}

bool PartsBuilder::open_ports(nic::dpdk::LogSink device_log, Problems& problems) {
    const std::size_t before = problems.size();
    const Topology& topology = parts_.topology;
    // The ports share ownership. This one lasts until they are open.
    const auto dpdk = start_dpdk(config_, topology, std::move(device_log), problems);
    const auto sources = frame_sources(config_);
    for (std::size_t i = 0; i < config_.ports.size() && problems.size() == before; ++i) {
        nic::GroupsByQueue groups;
        for (const std::size_t poller : topology.port_readers[i]) {
            groups.push_back(groups_at(config_, topology.pollers[poller], config_.ports[i]));
        }
        if (groups.empty()) {
            parts_.remarks.push_back(
                fmt::format("port {}: no poller reads it", config_.ports[i].name));
            queues_.emplace_back();
            continue;
        }
        queues_.push_back(
            nic::open_port(config_.ports[i], groups, sources, problems, parts_.replay_start));
    }
    return problems.size() == before;
}

bool PartsBuilder::open_publisher(Problems& problems) {
    if (!config_.publish.on()) {
        return true;
    }
    MemoryPlan plan = memory_plan(config_);
    plan.trade_date =  // a capture does not state its date
        parts_.replays() ? 0 : feed::trade_date_of(parts_.clock.wall_ns());
    plan.number_last = numbering_of(config_.kind).last;
    plan.listed = std::move(parts_.series.listed);
    plan.nodes = core_nodes(config_, read_machine());
    auto file = MemoryFile::make(std::move(plan), problems);
    if (file) {
        parts_.publisher = std::make_unique<Publisher>(std::move(file));
    }
    return parts_.publisher != nullptr;
}

bool PartsBuilder::open_peers(peer::PeerListener listener, Problems& problems) {
    if (exchanges_state(config_) && !make_state_exchange(listener, problems)) {
        return false;
    }
    if (parts_.replays() || !config_.peer.present()) {
        return true;
    }
    RecoveryThread& recovery = parts_.recovery;
    std::unique_ptr<feed::History> history;
    if (config_.history.memory_bytes != 0) {
        history = std::make_unique<feed::History>(configured_lines(config_), config_.history,
                                                  numbering_of(config_.kind));
    }
    // Without peer.state, peers neither get nor give state.
    peer::StateExchange* const exchange = config_.peer.state ? recovery.exchange.get() : nullptr;
    auto peers =
        peer::Peers::open(config_.peer, config_.name, config_.kind, history.get(),
                          {exchange, recovery.transfer.get()}, std::move(listener), problems);
    if (peers) {
        recovery.peers = std::make_unique<peer::PeerTask>(std::move(history), std::move(peers));
        recovery.peers->add_state(exchange, recovery.transfer.get());
    }
    return recovery.peers != nullptr;
}

/// Makes the rings to the actor of each core that exchanges state, and, if there is a peer to ask,
/// the transfer. Without one, the state before the next start of day is partial.
bool PartsBuilder::make_state_exchange(const peer::PeerListener& listener, Problems& problems) {
    std::vector<std::optional<StateRings>> ends;
    for (const CoreConfig& core : config_.cores) {
        ends.emplace_back();
        state_rings_.emplace_back();
        if (transfer_bytes(core, loads_state(config_)) != 0) {
            auto [near, far] = StateRings::make();
            state_rings_.back().emplace(std::move(near));
            ends.back().emplace(std::move(far));
        }
    }
    RecoveryThread& recovery = parts_.recovery;
    recovery.exchange = std::make_unique<peer::StateExchange>(config_.sharding, std::move(ends));
    if (takes_state(config_)) {
        recovery.transfer = std::make_unique<peer::StateTransfer>(
            *recovery.exchange, configured_lines(config_), config_.peer.state_within_ns, listener);
    } else if (config_.replay_from) {
        return make_loader(problems);
    } else {
        for (const std::uint16_t line : configured_lines(config_)) {
            recovery.exchange->post_to_all(StateRecord::Kind::partial, line);
        }
    }
    return true;
}

/// The books of a start take what the feed recorded before it.
void PartsBuilder::make_state_recovery(RecoveredListener listener) {
    if (!recovers_state(config_)) {
        return;
    }
    StateRecoverySetup setup;
    setup.lines = configured_lines(config_);
    setup.listener = std::move(listener);
    setup.first_of = [&pollers = parts_.pollers](std::uint16_t number) -> std::uint64_t {
        for (const PollerThread& poller : pollers) {
            for (std::size_t i = 0; i < poller.task->lines_count(); ++i) {
                if (const PollerLine& line = poller.task->line(i); line.number == number) {
                    return line.marker.first();
                }
            }
        }
        return 0;
    };
    RecoveryThread& recovery = parts_.recovery;
    recovery.earlier = std::make_unique<StateRecovery>(std::move(setup), *recovery.exchange,
                                                       recovery.transfer.get());
}

bool PartsBuilder::make_loader(Problems& problems) {
    auto file = feed::StateFile::open(config_.replay_from->snapshot, problems);
    if (!file) {
        return false;
    }
    ReplayProgress progress;
    progress.marked = [&pollers = parts_.pollers] {
        std::uint64_t least = UINT64_MAX;
        for (const PollerThread& poller : pollers) {
            least = std::min(least, poller.task->counters().marked.read());
        }
        return least;
    };
    progress.drained = [&pollers = parts_.pollers] {
        return std::all_of(pollers.begin(), pollers.end(), [](const PollerThread& poller) {
            const Router& router = poller.task->router();
            for (std::size_t ring = 0; ring < router.rings_count(); ++ring) {
                if (!router.is_empty(ring)) {
                    return false;
                }
            }
            return true;
        });
    };
    std::map<std::uint16_t, const feed::LineCounters*> counters;
    for (const PollerThread& poller : parts_.pollers) {
        for (std::size_t i = 0; i < poller.task->lines_count(); ++i) {
            PollerLine& line = poller.task->line(i);
            counters[line.number] = &line.arbiter.counters();
        }
    }
    progress.changes = [counters = std::move(counters)](std::uint16_t line) {
        const auto found = counters.find(line);
        return found == counters.end() ? 0 : found->second->sum();
    };
    parts_.recovery.loader = std::make_unique<SnapshotLoader>(
        SnapshotReader{std::move(*file)}, *config_.replay_from,
        SnapshotSelection{configured_lines(config_), config_.replayed_underlyings},
        *parts_.recovery.exchange, std::move(progress));
    return true;
}

void PartsBuilder::make_threads() {
    inputs_.resize(config_.cores.size());
    std::vector<Parking*> wakers;
    for (const CoreConfig& core : config_.cores) {
        CoreThread thread;
        thread.config = core;
        if (core.wait == WaitStrategy::park) {
            thread.waker = std::make_unique<Parking>();
        }
        wakers.push_back(thread.waker.get());
        parts_.cores.push_back(std::move(thread));
    }
    make_pollers(wakers);
    for (std::size_t i = 0; i < config_.cores.size(); ++i) {
        make_core(i);
    }
}

void PartsBuilder::make_pollers(const std::vector<Parking*>& wakers) {
    RecoveryThread& recovery = parts_.recovery;
    const bool with_history = recovery.peers && recovery.peers->history() != nullptr;
    std::vector<RecoveryRepairRings> repair_rings;
    for (std::size_t i = 0; i < config_.pollers.size(); ++i) {
        PollerThread thread;
        thread.config = config_.pollers[i];
        PollerSetup setup = poller_setup(i);
        if (parts_.topology.recovery.runs) {
            auto [ends, others] = make_repair_rings(thread.config.lines);
            setup.repair_rings = std::move(ends);
            repair_rings.push_back(std::move(others));
        }
        if (with_history) {
            auto ring = Ring<FirstCopy>::make(history_slots(config_, thread.config));
            setup.history = std::make_unique<HistoryRingWriter>(std::move(ring.producer));
            recovery.peers->add_history_ring({thread.config.lines, std::move(ring.consumer)});
        }
        if (!parts_.replays()) {
            auto tap = Ring<TappedPacket>::make(Ring<TappedPacket>::slots_for(PacketTap::slots));
            setup.tap = std::make_unique<PacketTap>(std::move(tap.producer));
            thread.tapped.emplace(std::move(tap.consumer));
        }
        if (parts_.topology.record_bytes != 0) {
            std::vector<std::uint16_t> numbers;
            for (const feed::LineConfig& line : setup.lines) {
                numbers.push_back(line.number);
            }
            auto [recorder, ends] = make_recorder_ends(
                thread.config.name, config_.record, numbers,
                {feed::venue_services(config_.kind).published_line, allowed_source(setup.ports)});
            setup.recorder = std::move(recorder);
            recorder_inputs_.push_back(std::move(ends));
        }
        const RouterConfig routing{config_.sharding, config_.when_full,
                                   setup.lines.size() + more_lines_max};
        thread.task =
            make_poller(config_.kind, std::move(setup), Router{routing, rings_to_cores(), wakers});
        PINSTRIKE_CHECK(thread.task != nullptr);  // load_config checks the venue
        thread.control->filter =
            filter_of(config_, poller_calls(config_, parts_.topology.pollers[i].ports));
        parts_.pollers.push_back(std::move(thread));
    }
    if (parts_.topology.recovery.runs) {
        recovery.task = std::make_unique<RecoveryTask>(
            config_.recovery, std::move(repair_rings),
            repair_sources(config_, recovery.peers ? recovery.peers->peers() : nullptr),
            numbering_of(config_.kind));
    }
}

bool PartsBuilder::make_recorder(RecorderListener listener, Problems& problems) {
    if (recorder_inputs_.empty()) {
        return true;
    }
    for (std::size_t i = 0; i < recorder_inputs_.size(); ++i) {
        recorder_inputs_[i].lines = [task = parts_.pollers[i].task.get()] {
            return line_numbers_of(*task);
        };
    }
    RecorderSetup setup{config_.name, config_.record, feed::venue_services(config_.kind).numbers_of,
                        std::move(listener)};
    if (takes_snapshots(config_)) {
        auto [chunks, written] = make_state_chunks();
        setup.states.emplace(std::move(written));
        parts_.recovery.snapshots = std::make_unique<SnapshotTask>(
            SnapshotSetup{config_.record.snapshot_interval_ns,
                          [&parts = parts_] { return received_packets(parts); }},
            *parts_.recovery.exchange, std::move(chunks));
    }
    parts_.recorder.task =
        RecorderTask::open(std::move(setup), std::move(recorder_inputs_), problems);
    return parts_.recorder.task != nullptr;
}

PollerSetup PartsBuilder::poller_setup(std::size_t index) {
    const PollerPlan& plan = parts_.topology.pollers[index];
    PollerSetup setup;
    setup.name = plan.name;
    setup.arbitration = config_.arbitration;
    setup.silence = config_.silence;
    setup.received = streams_received(config_);
    setup.hours = hours_;
    setup.block_checksum = config_.block_checksum;
    setup.test_symbols = config_.test_symbols;
    setup.marks = exchanges_state(config_);
    setup.gate = config_.replay_from ? config_.replay_from->gate.get() : nullptr;
    setup.due = parts_.due();
    setup.left_out = &left_out_;
    for (const std::size_t line : plan.lines) {
        setup.lines.push_back(config_.lines[line]);
    }
    for (const std::size_t port : plan.ports) {
        const nic::PortConfig& config = config_.ports[port];
        const auto& readers = parts_.topology.port_readers[port];
        const auto queue = static_cast<std::size_t>(
            std::find(readers.begin(), readers.end(), index) - readers.begin());
        setup.ports.push_back({config.name, std::move(queues_[port][queue]), config.udp_checksum,
                               config.sources, config.burst_packets});
    }
    return setup;
}

/// Makes a ring from one poller to each core.
std::vector<Producer<feed::Event>> PartsBuilder::rings_to_cores() {
    std::vector<Producer<feed::Event>> outputs;
    for (auto& input : inputs_) {
        auto ring = Ring<feed::Event>::make(Ring<feed::Event>::slots_for(config_.ring_slots));
        outputs.push_back(std::move(ring.producer));
        input.push_back(std::move(ring.consumer));
    }
    return outputs;
}

void PartsBuilder::make_core(std::size_t index) {
    CoreThread& thread = parts_.cores[index];
    std::optional<CoreMemory> memory;
    if (parts_.publisher) {
        memory = parts_.publisher->core(index);
    }
    std::vector<std::unique_ptr<Actor>> actors;
    std::vector<std::string_view> calls;
    std::optional<std::size_t> with_state;  // the actor that has the core's rings
    for (const std::string& kind : thread.config.actors) {
        actors.push_back(make_actor(kind, config_, memory ? &*memory : nullptr));
        with_state = give_rings(*actors.back(), index) ? actors.size() - 1 : with_state;
        const std::vector<std::string_view> more = actors.back()->system_calls();
        calls.insert(calls.end(), more.begin(), more.end());
    }
    if (thread.config.make_own) {
        actors.push_back(thread.config.make_own());
        with_state = give_rings(*actors.back(), index) ? actors.size() - 1 : with_state;
    }
    CoreOptions options;
    options.info = {thread.config.name, static_cast<unsigned>(index),
                    static_cast<unsigned>(parts_.cores.size())};
    options.clock = &parts_.clock;
    options.live = !parts_.replays();
    options.due = parts_.due();
    options.underlyings = config_.replayed_underlyings;
    thread.core =
        std::make_unique<Core>(std::move(options), std::move(inputs_[index]), std::move(actors));
    for (std::size_t i = 0; parts_.recovery.loader && i < thread.core->actors_count(); ++i) {
        if (i != with_state) {
            thread.core->hold_back(i, parts_.recovery.loader->begins());
        }
    }
    if (!thread.core->is_offline()) {
        thread.control->filter = filter_of(config_, core_calls(calls));
    }
    thread.core->announce(std::move(parts_.series.by_core[index]));
    std::vector<const LoopCounters*> producers;
    for (const PollerThread& poller : parts_.pollers) {
        producers.push_back(&poller.task->counters());
    }
    thread.core->set_producer_counters(std::move(producers));
}

/// The first actor of a core that exchanges state gets the core's rings to the peers' thread.
bool PartsBuilder::give_rings(Actor& actor, std::size_t core) {
    const bool given =
        has_rings(core) && actor.join_transfer(loads_state(config_), *state_rings_[core]);
    if (given) {
        state_rings_[core].reset();
    }
    return given;
}

}  // namespace

bool FeedParts::replays() const {
    return std::any_of(config.ports.begin(), config.ports.end(),
                       [](const nic::PortConfig& port) { return nic::row_of(port.kind).replays; });
}

nic::DueTimes FeedParts::due() const {
    nic::DueTimes due;
    for (const nic::PortConfig& port : config.ports) {
        if (nic::row_of(port.kind).replays) {
            const nic::Pace pace = nic::property_of(port, &nic::PortKindRow::pace);
            const bool same = !due.known() || due.pace.factor == pace.factor;
            if (pace.factor <= 0 || !same) {
                return {};
            }
            due = {replay_start.get(), pace};
        }
    }
    return due;
}

std::vector<std::uint16_t> line_numbers_of(const PollerTask& poller) {
    std::vector<std::uint16_t> numbers(poller.lines_count());
    for (std::size_t line = 0; line < numbers.size(); ++line) {
        numbers[line] = poller.line(line).number;
    }
    return numbers;
}

std::unique_ptr<FeedParts> make_parts(const FeedConfig& config, Problems& problems,
                                      FeedListeners listeners) {
    auto parts = std::make_unique<FeedParts>(config);
    PartsBuilder builder{*parts};
    // Reads the list of series first, because packets would queue up at open ports in the meantime.
    if (!builder.check(problems) || !builder.read_series(problems) ||
        !builder.read_left_out(problems) ||
        !builder.open_ports(std::move(listeners.device), problems)) {
        return nullptr;
    }
    try {
        if (!builder.open_publisher(problems) ||
            !builder.open_peers(std::move(listeners.peer), problems)) {
            return nullptr;
        }
        builder.make_state_recovery(std::move(listeners.recovered));
        builder.make_threads();
        if (!builder.make_recorder(std::move(listeners.recorder), problems)) {
            return nullptr;
        }
    } catch (const std::bad_alloc&) {
        add_problem(
            problems, "",
            fmt::format("no memory: rings need {} bytes (and twice that of address space), lines "
                        "{}, actors {}, history {}, recorder {}",
                        parts->topology.ring_bytes(), parts->topology.line_bytes,
                        parts->topology.actor_bytes(), parts->topology.recovery.history_bytes,
                        parts->topology.record_bytes),
            address_space_is_limited() ? Remedy::change : Remedy::retry);
        return nullptr;
    } catch (const std::system_error& failure) {
        add_problem(problems, "", failure.what(), remedy_of(failure.code().value()));
        return nullptr;
    }
    return parts;
}

}  // namespace pinstrike::actors
