// path: cold
#include "actors/topology/topology.h"

#include "actors/poller/history_ring.h"
#include "actors/recovery/recovery_task.h"
#include "actors/threads/ring.h"
#include "actors/topology/actor_kinds.h"
#include "config/joined.h"
#include "config/memory_sizes.h"
#include "config/units.h"
#include "feed/arbitration/arbiter.h"
#include "feed/event/event.h"
#include "feed/recovery/history.h"
#include "feed/recovery/recovery_keys.h"
#include "nic/packet/address.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pinstrike::actors {
namespace {

template <class Items, class Value, class Member>
std::size_t index_of(const Items& items, const Value& value, Member member) {
    return static_cast<std::size_t>(std::ranges::find(items, value, member) - items.begin());
}

PollerPlan plan_poller(const FeedConfig& config, const PollerConfig& poller) {
    PollerPlan plan{poller.name, poller.cpu, poller.wait, {}, {}};
    for (const std::uint16_t number : poller.lines) {
        plan.lines.push_back(index_of(config.lines, number, &feed::LineConfig::number));
    }
    for (const std::string& name : poller.ports) {
        plan.ports.push_back(index_of(config.ports, name, &nic::PortConfig::name));
    }
    return plan;
}

bool reads_captures(const FeedConfig& config) {
    return std::ranges::any_of(
        config.ports, [](const nic::PortConfig& port) { return nic::row_of(port.kind).replays; });
}

/// Descriptors that the process needs: one for each group of a port with kernel sockets. The other
/// 128 are for connections of peers, standard streams, io_uring, endpoints and their connections,
/// devices and captures.
std::size_t plan_open_files(const FeedConfig& config, const Topology& topology) {
    constexpr std::size_t others = 128;
    std::size_t files = others;
    for (std::size_t i = 0; i < config.ports.size(); ++i) {
        if (nic::row_of(config.ports[i].kind).socket_for_each_group) {
            for (const std::size_t poller : topology.port_readers[i]) {
                files += groups_at(config, topology.pollers[poller], config.ports[i]).size();
            }
        }
    }
    return files;
}

/// Captures run on packet time, as fast as they can be read, so no source can be asked in time.
/// Retransmissions in the captures fill holes without requests.
RecoveryPlan plan_recovery(const FeedConfig& config) {
    RecoveryPlan plan;
    plan.runs = !config.recovery.sources.empty() && !reads_captures(config);
    for (const feed::RepairKind source : config.recovery.sources) {
        plan.sources.emplace_back(feed::word_of(source));
    }
    plan.ring_bytes = plan.runs ? repair_rings_bytes() * config.pollers.size() : 0;
    if (config.history.memory_bytes != 0 && !reads_captures(config)) {
        plan.history_bytes = feed::History::claimed_bytes(config.history);
        for (const PollerConfig& poller : config.pollers) {
            plan.ring_bytes += history_slots(config, poller) * sizeof(FirstCopy);
        }
        plan.listens = config.peer.listen == nic::Group{} ? "" : nic::text_of(config.peer.listen);
    }
    if (exchanges_state(config)) {
        for (const CoreConfig& core : config.cores) {
            plan.ring_bytes += transfer_bytes(core, loads_state(config));
        }
    }
    for (const nic::Group& peer : config.peer.connect) {
        plan.peers.push_back(nic::text_of(peer));
    }
    return plan;
}

template <class... Values>
void add_problem(TopologyFindings& findings, fmt::format_string<Values...> text,
                 Values&&... values) {
    pinstrike::add_problem(findings.problems, Place{},
                           fmt::format(text, std::forward<Values>(values)...));
}

template <class... Values>
void add_remark(TopologyFindings& findings, fmt::format_string<Values...> text,
                Values&&... values) {
    findings.remarks.push_back(fmt::format(text, std::forward<Values>(values)...));
}

/// Every thread has a CPU of its own.
void check_cpus(const Topology& topology, const Machine& machine, TopologyFindings& findings) {
    std::map<CpuIndex, std::string> taken;
    std::map<unsigned, std::string> cores;
    const auto take = [&](const std::string& name, CpuIndex cpu) {
        const MachineCpu* known = machine.find(cpu);
        if (cpu >= 0 && known == nullptr) {
            add_problem(findings, "{}: cpu {} is not one that this process may use; there are {}",
                        name, cpu, machine.cpus.size());
        }
        if (cpu < 0 || known == nullptr) {
            return;
        }
        if (const auto [other, fresh] = taken.emplace(cpu, name); !fresh) {
            add_problem(findings, "{}: cpu {} is already used by {}", name, cpu, other->second);
        } else if (const auto [sibling, alone] = cores.emplace(known->core, name); !alone) {
            add_remark(findings, "{}: cpu {} shares its physical core with {}", name, cpu,
                       sibling->second);
        }
    };
    for (const PollerPlan& poller : topology.pollers) {
        take(poller.name, poller.cpu);
    }
    for (const CorePlan& core : topology.cores) {
        take(core.name, core.cpu);
    }
    if (topology.control_cpu >= 0 && machine.find(topology.control_cpu) == nullptr) {
        add_problem(findings, "control: cpu {} is not one that this process may use",
                    topology.control_cpu);
    }
    if (taken.contains(topology.control_cpu)) {
        add_remark(findings, "control: shares cpu {} with {}", topology.control_cpu,
                   taken[topology.control_cpu]);
    }
}

/// The config's keys refuse other kinds; a program that makes a FeedConfig by itself may name one.
void check_actors(const Topology& topology, TopologyFindings& findings) {
    for (const CorePlan& core : topology.cores) {
        for (const std::string& kind : core.actors) {
            if (find_actor_kind(kind) == nullptr) {
                add_problem(findings, "{}: found no actor of kind {}, expected one of {}",
                            core.name, kind, actor_kind_names());
            }
        }
    }
}

void check_nodes(const Topology& topology, const FeedConfig& config, const Machine& machine,
                 TopologyFindings& findings) {
    for (const PollerPlan& poller : topology.pollers) {
        const MachineCpu* cpu = machine.find(poller.cpu);
        for (const std::size_t port : poller.ports) {
            const std::string pci =
                nic::property_of(config.ports[port], &nic::PortKindRow::pci_address);
            const auto node = machine.node_of_pci(pci);
            if (cpu != nullptr && node && *node != cpu->numa_node) {
                add_remark(findings, "{}: cpu {} is on NUMA node {}, port {} ({}) on node {}",
                           poller.name, poller.cpu, cpu->numa_node, config.ports[port].name, pci,
                           *node);
            }
        }
        for (const CorePlan& core : topology.cores) {
            const MachineCpu* other = machine.find(core.cpu);
            if (cpu != nullptr && other != nullptr && cpu->numa_node != other->numa_node) {
                add_remark(findings, "ring {} to {}: crosses from NUMA node {} to {}", poller.name,
                           core.name, cpu->numa_node, other->numa_node);
            }
        }
    }
}

/// Memory of the process that reads recorded state at the start.
std::size_t recovery_bytes(const FeedConfig& config) {
    const FeedConfig other = recovery_config(config);
    return plan_topology(other).memory_bytes() + transfer_bytes(other.cores.front(), true);
}

/// If the program uses more memory than is free, the kernel kills a process, most likely this one.
void check_memory(const Topology& topology, const FeedConfig& config, const Machine& machine,
                  TopologyFindings& findings) {
    const std::size_t free_bytes =
        machine.free_bytes != 0 ? machine.free_bytes : machine.memory_bytes;
    if (free_bytes != 0 && topology.memory_bytes() > free_bytes) {
        pinstrike::add_problem(
            findings.problems, Place{},
            fmt::format("rings need {}, lines {}, actors {}, history {}, recorder {}, published "
                        "memory {}, DPDK {} besides hugepages; of {}'s {} are free {}",
                        memory_text(topology.ring_bytes()), memory_text(topology.line_bytes),
                        memory_text(topology.actor_bytes()),
                        memory_text(topology.recovery.history_bytes),
                        memory_text(topology.record_bytes),
                        memory_text(topology.published_on_hugepages ? 0 : topology.published_bytes),
                        memory_text(topology.dpdk_bytes), machine.memory_owner,
                        memory_text(machine.memory_bytes), memory_text(free_bytes)),
            machine.memory_bytes != 0 && topology.memory_bytes() > machine.memory_bytes
                ? Remedy::change
                : Remedy::retry);
    } else if (recovers_state(config) && free_bytes != 0 &&
               topology.memory_bytes() + recovery_bytes(config) > free_bytes) {
        add_remark(
            findings,
            "record.recover: the process that reads recorded state at the start needs {} more than "
            "the feed, of {} that are free: the books begin empty if it does not get them",
            memory_text(recovery_bytes(config)), memory_text(free_bytes));
    }
}

/// A thread that runs out of descriptors in the middle of its work cannot continue.
void check_open_files(const Topology& topology, const Machine& machine,
                      TopologyFindings& findings) {
    if (machine.open_files_max && *machine.open_files_max < topology.open_files) {
        add_problem(findings,
                    "found a limit of {} open files, expected {} or more: "
                    "LimitNOFILE={} in the service's unit, `ulimit -n {}` in a shell",
                    *machine.open_files_max, topology.open_files, topology.open_files,
                    topology.open_files);
    }
}

std::string cpu_text(CpuIndex cpu) {
    return cpu < 0 ? std::string{"not pinned"} : fmt::format("cpu {}", cpu);
}

std::string poller_text(const PollerPlan& poller, const FeedConfig& config) {
    std::vector<std::uint16_t> numbers;
    for (const std::size_t line : poller.lines) {
        numbers.push_back(config.lines[line].number);
    }
    const auto port_name = [&](std::size_t port) { return config.ports[port].name; };
    return fmt::format("poller {:<10} {}, {}; ports {}; {} lines: {}\n", poller.name,
                       cpu_text(poller.cpu),
                       poller.wait == WaitStrategy::spin ? "spins" : "sleeps when idle",
                       joined(poller.ports, ", ", port_name), numbers.size(), ranges_text(numbers));
}

bool is_loopback(nic::Ipv4 address) {
    return address.value >> 24 == 127;
}

/// True for a loopback address, such as "127.0.0.1:9464", "localhost:9464" or "[::1]:9464".
bool is_loopback(const std::string& listening) {
    return listening.starts_with("127.") || listening.starts_with("localhost:") ||
           listening.starts_with("[::1]:");
}

std::string peers_text(const RecoveryPlan& plan, const FeedConfig& config) {
    std::string text;
    if (plan.history_bytes != 0) {
        text += fmt::format("history           {} for {}; peers ask {}\n",
                            memory_text(plan.history_bytes), duration_text(config.history.keep_ns),
                            plan.listens.empty() ? "nowhere" : "at " + plan.listens);
    }
    if (!plan.peers.empty()) {
        text += fmt::format("peers to ask      {}\n", joined(plan.peers));
    }
    if (takes_state(config)) {
        text += fmt::format("state of series   from a peer at the start, within {}\n",
                            duration_text(config.peer.state_within_ns));
    }
    return text;
}

/// Adds a remark if no port brings one of the two streams.
void check_streams(const FeedConfig& config, TopologyFindings& findings) {
    const feed::StreamsReceived received = streams_received(config);
    for (std::size_t i = 0; i < received.size(); ++i) {
        if (!received[i] && received[1 - i]) {
            add_remark(findings,
                       "ports: none receives stream {}: what is lost on stream {} has no copy",
                       i == 0 ? 'A' : 'B', i == 0 ? 'B' : 'A');
        }
    }
}

void check_reach(const Topology& topology, const FeedConfig& config, TopologyFindings& findings) {
    const bool plain = config.peer.tls == peer::TlsConfig{};
    if (!topology.recovery.listens.empty() && plain && !is_loopback(config.peer.listen.address)) {
        add_remark(findings,
                   "peer: listens at {} without TLS: whoever can change bytes on that network "
                   "can send forged blocks to the peers that ask",
                   topology.recovery.listens);
    }
    const bool far = std::ranges::any_of(
        config.peer.connect, [](const nic::Group& at) { return !is_loopback(at.address); });
    if (!topology.recovery.peers.empty() && plain && far) {
        add_remark(findings,
                   "peer: connects to {} without TLS: whoever can change bytes on that "
                   "network can send forged {} to this instance",
                   joined(topology.recovery.peers),
                   takes_state(config) ? "blocks and states of series" : "blocks");
    }
    if (!config.metrics_address.empty() && !is_loopback(config.metrics_address)) {
        add_remark(findings,
                   "metrics_address: {} is not this host's loopback and has no "
                   "authentication: whoever reaches it can read the metrics",
                   config.metrics_address);
    }
}

void check_confinement(const FeedConfig& config, const Machine& machine,
                       TopologyFindings& findings) {
    if (config.system_calls == SystemCalls::filtered && !machine.no_call_filters.empty()) {
        add_problem(
            findings,
            "system_calls: this kernel has no seccomp filters ({}), expected one built with "
            "CONFIG_SECCOMP_FILTER and nothing that forbids them; or set system_calls: free",
            machine.no_call_filters);
    }
}

}  // namespace

std::string memory_text(std::size_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / static_cast<double>(mebibyte));
}

feed::StreamsReceived streams_received(const FeedConfig& config) {
    feed::StreamsReceived received{};
    for (const nic::PortConfig& port : config.ports) {
        received[0] = received[0] || port.streams.find('A') != std::string::npos;
        received[1] = received[1] || port.streams.find('B') != std::string::npos;
    }
    return received;
}

std::vector<nic::Group> groups_at(const FeedConfig& config, const PollerPlan& poller,
                                  const nic::PortConfig& port) {
    std::vector<nic::Group> groups;
    for (const std::size_t index : poller.lines) {
        const feed::LineConfig& line = config.lines[index];
        for (std::size_t stream = 0; stream < feed::streams_count; ++stream) {
            if (port.streams.find(stream == 0 ? 'A' : 'B') == std::string::npos) {
                continue;
            }
            groups.push_back(line.streams[stream]);
            if (line.retransmission[stream].port != 0) {
                groups.push_back(line.retransmission[stream]);
            }
        }
    }
    return groups;
}

bool takes_state(const FeedConfig& config) {
    return config.peer.present() && config.peer.state && !config.peer.connect.empty() &&
           !reads_captures(config);
}

bool takes_snapshots(const FeedConfig& config) {
    const bool has_state = std::ranges::any_of(
        config.cores, [](const CoreConfig& core) { return transfer_bytes(core, false) != 0; });
    return config.record.on && config.record.snapshot_interval_ns != 0 && has_state &&
           !reads_captures(config);
}

bool recovers_state(const FeedConfig& config) {
    return config.record.recover && takes_snapshots(config);
}

FeedConfig recovery_config(const FeedConfig& config) {
    FeedConfig other = config;
    other.ports.clear();
    other.pollers.assign(1, {});
    other.pollers.front().name = "poller";
    for (const feed::LineConfig& line : config.lines) {
        other.pollers.front().lines.push_back(line.number);
    }
    other.cores.assign(1, {});
    other.cores.front().name = "core";
    other.cores.front().actors.clear();
    for (const ActorKind* kind : actor_kinds()) {
        if (kind->transfer_bytes(true) != 0) {
            other.cores.front().actors.emplace_back(kind->name());
        }
    }
    other.when_full = WhenFull::wait;
    other.recovery = {};
    other.history = {};
    other.peer = {};
    other.publish = {};
    other.record = {};
    other.series_map.clear();
    other.metrics_address.clear();
    return other;
}

bool loads_state(const FeedConfig& config) {
    return takes_state(config) || config.replay_from.has_value();
}

bool exchanges_state(const FeedConfig& config) {
    const bool to_peers = config.peer.present() && config.peer.state && !reads_captures(config);
    return to_peers || takes_snapshots(config) || loads_state(config);
}

std::size_t history_slots(const FeedConfig& config, const PollerConfig& poller) {
    const bool keeps = std::ranges::any_of(config.ports, [&](const nic::PortConfig& port) {
        return nic::row_of(port.kind).keeps_packets &&
               std::ranges::count(poller.ports, port.name) != 0;
    });
    return Ring<FirstCopy>::slots_for(keeps ? HistoryRingWriter::keeping_slots
                                            : HistoryRingWriter::copying_slots);
}

std::size_t Topology::ring_bytes() const {
    std::size_t bytes = recovery.ring_bytes;
    for (const RingPlan& ring : rings) {
        bytes += ring.bytes;
    }
    return bytes;
}

std::size_t Topology::actor_bytes() const {
    std::size_t bytes = 0;
    for (const CorePlan& core : cores) {
        bytes += core.actor_bytes;
    }
    return bytes;
}

std::size_t Topology::memory_bytes() const {
    return ring_bytes() + line_bytes + actor_bytes() + dpdk_bytes + recovery.history_bytes +
           record_bytes + (published_on_hugepages ? 0 : published_bytes);
}

std::vector<nic::dpdk::PortDemand> dpdk_demands(const FeedConfig& config,
                                                const Topology& topology) {
    std::vector<nic::dpdk::PortDemand> demands;
    for (std::size_t i = 0; i < config.ports.size(); ++i) {
        if (nic::row_of(config.ports[i].kind).uses_eal) {
            demands.push_back(nic::dpdk::demand_of(
                config.ports[i], static_cast<unsigned>(topology.port_readers[i].size())));
        }
    }
    return demands;
}

std::map<int, std::size_t> hugepages_needed(const FeedConfig& config, const Topology& topology) {
    std::map<int, std::size_t> pages = nic::dpdk::hugepages_needed(dpdk_demands(config, topology));
    if (topology.published_on_hugepages) {  // readers may still map that of the previous start
        // A memory file is a multiple of a huge page.
        pages[-1] += 2 * topology.published_bytes / huge_page_bytes;
    }
    return pages;
}

MemoryPlan memory_plan(const FeedConfig& config) {
    MemoryPlan plan;
    plan.feed = config.publish.name.empty() ? config.name : config.publish.name;
    plan.memory = config.publish.memory;
    for (const CoreConfig& core : config.cores) {
        plan.cores.push_back(core.name);
    }
    plan.shape = published_shape(config).value_or(CoreShape{});
    plan.by_underlying = config.sharding == Sharding::underlying;
    plan.kept = config.publish.kept;
    return plan;
}

std::vector<int> core_nodes(const FeedConfig& config, const Machine& machine) {
    std::vector<int> nodes;
    for (const CoreConfig& core : config.cores) {
        const MachineCpu* const cpu = machine.find(core.cpu);
        nodes.push_back(cpu == nullptr ? -1 : static_cast<int>(cpu->numa_node));
    }
    return nodes;
}

Machine read_machine_for(const FeedConfig& config) {
    Machine machine = read_machine();
    if (published_shape(config)) {
        machine.publish_space = publish_space(memory_plan(config).feed, config.publish.memory);
        if (machine.publish_space && machine.free_bytes != 0 &&
            config.publish.memory == PublishMemory::shm) {
            machine.free_bytes += machine.publish_space->own_bytes;
        }
    }
    return machine;
}

Topology plan_topology(const FeedConfig& config) {
    Topology topology;
    topology.control_cpu = config.control_cpu;
    topology.port_readers.resize(config.ports.size());
    for (const PollerConfig& poller : config.pollers) {
        topology.pollers.push_back(plan_poller(config, poller));
        topology.line_bytes +=
            topology.pollers.back().lines.size() * feed::Arbiter::memory_bytes(config.arbitration);
        for (const std::size_t port : topology.pollers.back().ports) {
            topology.port_readers[port].push_back(topology.pollers.size() - 1);
        }
    }
    for (const CoreConfig& core : config.cores) {
        CorePlan plan{core.name, core.cpu, core.wait, core.actors, 0};
        for (const std::string& kind : core.actors) {
            plan.actor_bytes += actor_bytes(kind, config);
        }
        topology.cores.push_back(std::move(plan));
    }
    if (published_shape(config)) {
        topology.published_bytes = MemoryFile::bytes_for(memory_plan(config));
        topology.published_on_hugepages = config.publish.memory == PublishMemory::hugetlbfs;
    }
    const std::size_t slots = Ring<feed::Event>::slots_for(config.ring_slots);
    for (const PollerPlan& poller : topology.pollers) {
        for (const CorePlan& core : topology.cores) {
            topology.rings.push_back({poller.name, core.name, slots, slots * sizeof(feed::Event)});
        }
    }
    const auto demands = dpdk_demands(config, topology);
    if (!demands.empty() && !nic::dpdk::uses_hugepages(demands)) {
        topology.dpdk_bytes = nic::dpdk::memory_need_bytes(demands);
    }
    topology.recovery = plan_recovery(config);
    if (config.record.on && !reads_captures(config)) {
        topology.record_bytes =
            (config.record.memory_bytes + config.record.copies_bytes()) * config.pollers.size();
    }
    topology.open_files = plan_open_files(config, topology);
    return topology;
}

TopologyFindings check_topology(const Topology& topology, const FeedConfig& config,
                                const Machine& machine) {
    TopologyFindings findings;
    check_actors(topology, findings);
    check_cpus(topology, machine, findings);
    check_nodes(topology, config, machine, findings);
    check_memory(topology, config, machine, findings);
    check_open_files(topology, machine, findings);
    if (machine.publish_space && topology.published_bytes != 0) {
        check_space(*machine.publish_space, topology.published_bytes, findings.problems);
    }
    if (!topology.recovery.sources.empty() && !topology.recovery.runs) {
        add_remark(findings,
                   "recovery: not run with captures; retransmitted messages in them fill gaps");
    }
    if (config.history.memory_bytes != 0 && topology.recovery.history_bytes == 0) {
        add_remark(findings, "history: not kept with captures");
    }
    if (config.record.on && topology.record_bytes == 0) {
        add_remark(findings, "record: captures are not recorded again");
    }
    check_streams(config, findings);
    check_reach(topology, config, findings);
    check_confinement(config, machine, findings);
    return findings;
}

std::string to_text(const Topology& topology, const FeedConfig& config) {
    std::string text;
    for (std::size_t i = 0; i < config.ports.size(); ++i) {
        const nic::PortConfig& port = config.ports[i];
        const nic::PortKindRow& kind = nic::row_of(port.kind);
        text += fmt::format("port   {:<10} {} {}; streams {}; {} queue{}\n", port.name, kind.word,
                            kind.source(port), port.streams, topology.port_readers[i].size(),
                            topology.port_readers[i].size() == 1 ? "" : "s");
    }
    for (const PollerPlan& poller : topology.pollers) {
        text += poller_text(poller, config);
    }
    for (const RingPlan& ring : topology.rings) {
        text += fmt::format("ring   {} to {}: {} records, {}\n", ring.from, ring.to, ring.slots,
                            memory_text(ring.bytes));
    }
    for (const CorePlan& core : topology.cores) {
        text += fmt::format("core   {:<10} {}, {}; actors {}; {}\n", core.name, cpu_text(core.cpu),
                            core.wait == WaitStrategy::spin ? "spins" : "spins, then parks",
                            core.actors.empty() ? "of the command" : joined(core.actors),
                            memory_text(core.actor_bytes));
    }
    if (topology.recovery.runs) {
        text += fmt::format("recovery          {}; asks {}; rings {}\n",
                            cpu_text(topology.control_cpu), joined(topology.recovery.sources),
                            memory_text(topology.recovery.ring_bytes));
    }
    text += peers_text(topology.recovery, config);
    if (topology.record_bytes != 0) {
        text += fmt::format("recorder          {}; writes to {}; memory {}\n",
                            cpu_text(topology.control_cpu), config.record.folder_of(config.name),
                            memory_text(topology.record_bytes));
    }
    if (config.record.on && config.record.compress_level != 0) {
        text += fmt::format("compressor        {}, at idle priority; at most {} %\n",
                            cpu_text(topology.control_cpu), config.record.compress_cpu_percent);
    }
    if (takes_snapshots(config)) {
        text += fmt::format("snapshots         of the books each {}\n",
                            duration_text(config.record.snapshot_interval_ns));
    }
    if (recovers_state(config)) {
        text += fmt::format("recorded state    taken at the start; its process needs {}\n",
                            memory_text(recovery_bytes(config)));
    }
    text += fmt::format(
        "memory rings {}, lines {}, actors {}{}{}; control {}\n",
        memory_text(topology.ring_bytes()), memory_text(topology.line_bytes),
        memory_text(topology.actor_bytes()),
        topology.dpdk_bytes == 0 ? "" : ", DPDK " + memory_text(topology.dpdk_bytes),
        topology.published_bytes == 0 ? "" : ", published " + memory_text(topology.published_bytes),
        cpu_text(topology.control_cpu));
    return text;
}

}  // namespace pinstrike::actors
