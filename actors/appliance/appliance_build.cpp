// path: cold
//
// Builds an appliance from its config: opens the ports, and makes pollers, rings and cores.
#include "actors/appliance/appliance.h"
#include "actors/appliance/venues.h"
#include "actors/host/confine/call_lists.h"
#include "actors/poller/router.h"
#include "actors/threads/ring.h"
#include "actors/topology/actor_kinds.h"
#include "actors/topology/feed_hours.h"
#include "config/check.h"
#include "feed/recovery/passive_source.h"
#include "feed/recovery/recovery_keys.h"
#include "nic/dpdk/eal.h"
#include "nic/open_port.h"
#include "nic/port_kind.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <exception>
#include <new>
#include <optional>
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

/// The trade date of this moment, as 20261127. From 23:00 UTC on it is the next day: New York's
/// regular session has ended by then, and its overnight session has not begun.
std::uint32_t trade_date_now() {
    using namespace std::chrono;
    const year_month_day date{floor<days>(system_clock::now() + hours{1})};
    return static_cast<std::uint32_t>(static_cast<int>(date.year())) * 10000 +
           static_cast<unsigned>(date.month()) * 100 + static_cast<unsigned>(date.day());
}

/// False, with Problems: the memory file cannot be created.
bool open_publisher(const FeedConfig& config, const SeriesList& list, bool live,
                    std::unique_ptr<Publisher>& publisher, Problems& problems) {
    if (!config.publish.on()) {
        return true;
    }
    MemoryPlan plan = memory_plan(config);
    plan.trade_date = live ? trade_date_now() : 0;  // a capture does not state its date
    plan.listed = list.ids;
    plan.nodes = core_nodes(config, read_machine());
    auto file = MemoryFile::make(std::move(plan), problems);
    if (file) {
        publisher = std::make_unique<Publisher>(std::move(file));
    }
    return publisher != nullptr;
}

}  // namespace

Appliance::Appliance(const FeedConfig& config)
    : config_(config), topology_(plan_topology(config)) {}

std::unique_ptr<Appliance> Appliance::build(const FeedConfig& config, Problems& problems,
                                            nic::dpdk::LogSink device_log,
                                            peer::PeerListener peer_log) {
    std::unique_ptr<Appliance> made{new Appliance{config}};
    QueuesByPort queues;
    // Reads the file first, because packets would queue up at open ports in the meantime.
    if (!made->check(problems) || !made->read_series(problems) ||
        !made->open_ports(queues, std::move(device_log), problems)) {
        return nullptr;
    }
    try {
        if (!open_publisher(config, made->series_, !made->replays(), made->publisher_, problems) ||
            !made->open_peers(std::move(peer_log), problems)) {
            return nullptr;
        }
        made->make_threads(std::move(queues));
    } catch (const std::bad_alloc&) {
        add_problem(
            problems, "",
            fmt::format("no memory: rings need {} bytes (and twice that of address space), lines "
                        "{}, actors {}",
                        made->topology_.ring_bytes(), made->topology_.line_bytes,
                        made->topology_.actor_bytes()),
            address_space_is_limited() ? Remedy::change : Remedy::retry);
        return nullptr;
    } catch (const std::system_error& failure) {
        add_problem(problems, "", failure.what(), remedy_of(failure.code().value()));
        return nullptr;
    }
    return made;
}

bool Appliance::check(Problems& problems) {
    Problems found;
    hours_ = hours_of(config_, found).value_or(LineHours{});
    TopologyFindings findings = check_topology(topology_, config_, read_machine_for(config_));
    remarks_ = std::move(findings.remarks);
    found.insert(found.end(), findings.problems.begin(), findings.problems.end());
    problems.insert(problems.end(), found.begin(), found.end());
    return found.empty();
}

bool Appliance::read_series(Problems& problems) {
    Problems found;
    series_ = read_series_list(config_, found);
    problems.insert(problems.end(), found.begin(), found.end());
    return found.empty();
}

bool Appliance::open_ports(QueuesByPort& queues, nic::dpdk::LogSink device_log,
                           Problems& problems) {
    Problems found;
    // The ports share ownership. This one lasts until they are open.
    const auto dpdk = start_dpdk(config_, topology_, std::move(device_log), found);
    const auto sources = frame_sources(config_);
    for (std::size_t i = 0; i < config_.ports.size() && found.empty(); ++i) {
        nic::GroupsByQueue groups;
        for (const std::size_t poller : topology_.port_readers[i]) {
            groups.push_back(groups_at(config_, topology_.pollers[poller], config_.ports[i]));
        }
        if (groups.empty()) {
            remarks_.push_back(fmt::format("port {}: no poller reads it", config_.ports[i].name));
            queues.emplace_back();
            continue;
        }
        queues.push_back(nic::open_port(config_.ports[i], groups, sources, found, replay_start_));
    }
    problems.insert(problems.end(), found.begin(), found.end());
    return found.empty();
}

PollerSetup Appliance::poller_setup(std::size_t index, QueuesByPort& queues) const {
    const PollerPlan& plan = topology_.pollers[index];
    PollerSetup setup;
    setup.name = plan.name;
    setup.arbitration = config_.arbitration;
    setup.silence = config_.silence;
    setup.received = streams_received(config_);
    setup.hours = hours_;
    setup.block_checksum = config_.block_checksum;
    setup.test_symbols = config_.test_symbols;
    setup.marks = config_.peer.state && !replays();
    setup.due = due();
    for (const std::size_t line : plan.lines) {
        setup.lines.push_back(config_.lines[line]);
    }
    for (const std::size_t port : plan.ports) {
        const nic::PortConfig& config = config_.ports[port];
        const auto& readers = topology_.port_readers[port];
        const auto queue = static_cast<std::size_t>(
            std::find(readers.begin(), readers.end(), index) - readers.begin());
        setup.ports.push_back({config.name, std::move(queues[port][queue]), config.udp_checksum,
                               config.sources, config.burst_packets});
    }
    return setup;
}

bool Appliance::open_peers(peer::PeerListener listener, Problems& problems) {
    if (replays() || !config_.peer.present()) {
        return true;
    }
    std::unique_ptr<feed::History> history;
    if (config_.history.memory_bytes != 0) {
        std::vector<std::uint16_t> lines;
        for (const feed::LineConfig& line : config_.lines) {
            lines.push_back(line.number);
        }
        history =
            std::make_unique<feed::History>(lines, config_.history, numbering_of(config_.kind));
    }
    if (!listener) {
        listener = [](const peer::PeerEvent& /*nobody listens*/) {};
    }
    if (config_.peer.state) {
        make_state_exchange(listener);
    }
    auto peers = peer::Peers::open(config_.peer, config_.name, config_.kind, history.get(),
                                   {recovery_.exchange.get(), recovery_.transfer.get()},
                                   std::move(listener), problems);
    if (peers) {
        recovery_.peers = std::make_unique<peer::PeerTask>(std::move(history), std::move(peers));
        recovery_.peers->add_state(recovery_.exchange.get(), recovery_.transfer.get());
    }
    return recovery_.peers != nullptr;
}

/// Makes the rings to the actor of each core that exchanges state, and, if there is a peer to ask,
/// the transfer.
void Appliance::make_state_exchange(const peer::PeerListener& listener) {
    std::vector<std::optional<StateRings>> ends;
    std::vector<std::uint16_t> lines;
    for (const CoreConfig& core : config_.cores) {
        ends.emplace_back();
        state_rings_.emplace_back();
        if (transfer_bytes(core, takes_state(config_)) != 0) {
            auto [near, far] = StateRings::make();
            state_rings_.back().emplace(std::move(near));
            ends.back().emplace(std::move(far));
        }
    }
    for (const feed::LineConfig& line : config_.lines) {
        lines.push_back(line.number);
    }
    recovery_.exchange = std::make_unique<peer::StateExchange>(config_.sharding, std::move(ends));
    if (takes_state(config_)) {
        recovery_.transfer = std::make_unique<peer::StateTransfer>(
            *recovery_.exchange, lines, config_.peer.state_within_ns, listener);
    }
}

void Appliance::make_threads(QueuesByPort queues) {
    const bool live = !replays();
    std::vector<std::vector<Consumer<feed::Event>>> inputs(config_.cores.size());
    std::vector<Parking*> core_wakers;
    for (const CoreConfig& core : config_.cores) {
        CoreThread thread;
        thread.config = core;
        if (core.wait == WaitStrategy::park) {
            thread.bell = std::make_unique<Parking>();
        }
        core_wakers.push_back(thread.bell.get());
        cores_.push_back(std::move(thread));
    }
    make_pollers(std::move(queues), inputs, core_wakers);
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        std::vector<std::unique_ptr<Actor>> actors;
        std::vector<std::string_view> calls;
        std::optional<CoreMemory> memory;
        if (publisher_) {
            memory = publisher_->core(i);
        }
        for (const std::string& kind : cores_[i].config.actors) {
            actors.push_back(make_actor(kind, config_, memory ? &*memory : nullptr));
            const std::vector<std::string_view> more = actors.back()->system_calls();
            calls.insert(calls.end(), more.begin(), more.end());
            if (recovery_.exchange && state_rings_[i] &&
                actors.back()->join_transfer(takes_state(config_), *state_rings_[i])) {
                state_rings_[i].reset();
            }
        }
        if (filters_calls()) {
            cores_[i].control->filter = std::make_unique<CallFilter>(core_calls(calls));
        }
        CoreOptions options;
        options.info = {cores_[i].config.name, static_cast<unsigned>(i),
                        static_cast<unsigned>(cores_.size())};
        options.clock = &clock_;
        options.live = live;
        options.due = due();
        cores_[i].core =
            std::make_unique<Core>(std::move(options), std::move(inputs[i]), std::move(actors));
        cores_[i].core->announce(std::move(series_.by_core[i]));
        std::vector<const LoopCounters*> producers;
        for (const PollerThread& poller : pollers_) {
            producers.push_back(&poller.task->counters());
        }
        cores_[i].core->know_producers(std::move(producers));
    }
}

void Appliance::make_pollers(QueuesByPort queues,
                             std::vector<std::vector<Consumer<feed::Event>>>& inputs,
                             const std::vector<Parking*>& core_wakers) {
    const bool keeps = recovery_.peers && recovery_.peers->history() != nullptr;
    std::vector<RecoveryRepairRings> repair_rings;
    for (std::size_t i = 0; i < config_.pollers.size(); ++i) {
        std::vector<Producer<feed::Event>> outputs;
        for (auto& input : inputs) {
            auto ring = Ring<feed::Event>::make(Ring<feed::Event>::slots_for(config_.ring_slots));
            outputs.push_back(std::move(ring.producer));
            input.push_back(std::move(ring.consumer));
        }
        PollerThread thread;
        thread.config = config_.pollers[i];
        PollerSetup setup = poller_setup(i, queues);
        if (topology_.recovery.runs) {
            auto [ends, others] = make_repair_rings(config_.pollers[i].lines);
            setup.repair_rings = std::move(ends);
            repair_rings.push_back(std::move(others));
        }
        std::optional<Ring<FirstCopy>::Halves> ring;
        if (keeps) {
            ring = Ring<FirstCopy>::make(history_slots(config_, config_.pollers[i]));
            setup.history = std::make_unique<HistoryRingWriter>(std::move(ring->producer));
        }
        const RouterConfig routing{config_.sharding, config_.when_full,
                                   setup.lines.size() + more_lines_max};
        if (!replays()) {
            auto tap = Ring<TappedPacket>::make(Ring<TappedPacket>::slots_for(PacketTap::slots));
            setup.tap = std::make_unique<PacketTap>(std::move(tap.producer));
            thread.tapped.emplace(std::move(tap.consumer));
        }
        thread.task = make_poller(config_.kind, std::move(setup),
                                  Router{routing, std::move(outputs), core_wakers});
        PINSTRIKE_CHECK(thread.task != nullptr);  // load_config checks the venue
        if (filters_calls()) {
            thread.control->filter =
                std::make_unique<CallFilter>(poller_calls(config_, topology_.pollers[i].ports));
        }
        pollers_.push_back(std::move(thread));
        if (keeps) {
            recovery_.peers->add_history_ring(
                {config_.pollers[i].lines, std::move(ring->consumer)});
        }
    }
    if (topology_.recovery.runs) {
        recovery_.task = std::make_unique<RecoveryTask>(
            config_.recovery, std::move(repair_rings),
            repair_sources(config_, recovery_.peers ? recovery_.peers->peers() : nullptr),
            numbering_of(config_.kind));
    }
}

nic::DueTimes Appliance::due() const {
    nic::DueTimes due;
    for (const nic::PortConfig& port : config_.ports) {
        if (nic::row_of(port.kind).replays) {
            const nic::Pace pace = nic::property_of(port, &nic::PortKindRow::pace);
            const bool same = !due.known() || due.pace.factor == pace.factor;
            if (pace.factor <= 0 || !same) {
                return {};
            }
            due = {replay_start_.get(), pace};
        }
    }
    return due;
}

}  // namespace pinstrike::actors
