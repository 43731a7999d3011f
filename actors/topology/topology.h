// path: cold
//
// The plan of an appliance: its threads, their CPUs, and the rings between them. It is plain data,
// made from the config, checked against the machine, shown to people, and then started
// (appliance.h). The functions are pure, except that they count the captures that a DPDK port
// preloads.
#pragma once

#include "actors/publish/memory_file.h"
#include "actors/topology/feed_config.h"
#include "actors/topology/machine.h"
#include "config/problem.h"
#include "feed/lines/line_watch.h"
#include "nic/dpdk/memory_need.h"
#include "nic/port.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// A poll thread: its lines and ports.
struct PollerPlan {
    std::string name;
    CpuIndex cpu = -1;
    WaitStrategy wait = WaitStrategy::spin;
    std::vector<std::size_t> lines;  ///< indices into FeedConfig::lines
    std::vector<std::size_t> ports;  ///< indices into FeedConfig::ports
};

/// A thread that runs actors.
struct CorePlan {
    std::string name;
    CpuIndex cpu = -1;
    WaitStrategy wait = WaitStrategy::spin;
    std::vector<std::string> actors;  ///< kinds of actors
    std::size_t actor_bytes = 0;      ///< memory of the core's actors
};

/// A ring from one thread to another.
struct RingPlan {
    std::string from;
    std::string to;
    std::size_t slots = 0;
    std::size_t bytes = 0;
};

/// The thread that requests missing messages.
struct RecoveryPlan {
    bool runs = false;                 ///< false without sources, and for captures
    std::vector<std::string> sources;  ///< as in the config
    std::size_t ring_bytes = 0;        ///< rings from and to all pollers
    std::size_t history_bytes = 0;     ///< 0: no history is kept
    std::vector<std::string> peers;    ///< the peers that it asks
    std::string listens;               ///< where it listens for requests of peers; empty: nowhere
};

struct Topology {
    std::vector<PollerPlan> pollers;
    std::vector<CorePlan> cores;
    std::vector<RingPlan> rings;  ///< ordered by poller, then by core
    CpuIndex control_cpu = -1;
    std::size_t line_bytes = 0;           ///< of all lines, for held blocks and lists of gaps
    std::size_t dpdk_bytes = 0;           ///< ordinary memory of DPDK; 0 if it uses hugepages
    std::size_t published_bytes = 0;      ///< of the memory file
    std::size_t record_bytes = 0;         ///< packets that wait for the disk; 0: none is recorded
    bool published_on_hugepages = false;  ///< it is not in ordinary memory
    RecoveryPlan recovery;
    std::size_t open_files = 0;  ///< number of descriptors the process needs

    /// For each port the pollers that read it, one queue each, in the order of the pollers.
    std::vector<std::vector<std::size_t>> port_readers;

    [[nodiscard]] std::size_t ring_bytes() const;
    [[nodiscard]] std::size_t actor_bytes() const;

    /// Memory of rings, lines, actors and DPDK, without hugepages.
    [[nodiscard]] std::size_t memory_bytes() const;
};

/// The result of checking a topology on a machine: `problems` prevent the start, `remarks` do not.
struct TopologyFindings {
    Problems problems;
    std::vector<std::string> remarks;
};

/// Whether the appliance requests the state of series from a peer at the start.
[[nodiscard]] bool takes_state(const FeedConfig& config);

/// Whether the books get state, from a peer or from a snapshot that a replay begins with.
[[nodiscard]] bool loads_state(const FeedConfig& config);

/// Whether the books get state, or give theirs to peers or for snapshots on disk.
[[nodiscard]] bool exchanges_state(const FeedConfig& config);

/// Whether snapshots of the books are written beside the recording.
[[nodiscard]] bool takes_snapshots(const FeedConfig& config);

/// Whether the books take, at the start, the state that the feed recorded before.
[[nodiscard]] bool recovers_state(const FeedConfig& config);

/// The config of the process that reads it: all lines at one poller, and one core. It has no port.
[[nodiscard]] FeedConfig recovery_config(const FeedConfig& config);

/// Records in the ring from a poller to the history. Fewer are needed if the ports keep packets.
[[nodiscard]] std::size_t history_slots(const FeedConfig& config, const PollerConfig& poller);

/// Expects a config that was checked (load_config.h).
[[nodiscard]] Topology plan_topology(const FeedConfig& config);

/// The plan of the memory file of a config that publishes something.
/// Without the trade date and the ids of the day's list.
[[nodiscard]] MemoryPlan memory_plan(const FeedConfig& config);

/// The NUMA node of each core's thread; -1: the thread is not pinned.
[[nodiscard]] std::vector<int> core_nodes(const FeedConfig& config, const Machine& machine);

/// This machine, with the space for what the config publishes. The memory of an earlier start
/// counts as free, because the next start gives it back.
[[nodiscard]] Machine read_machine_for(const FeedConfig& config);

/// The streams that at least one port receives.
[[nodiscard]] feed::StreamsReceived streams_received(const FeedConfig& config);

/// The groups of a poller's lines that arrive at a port.
[[nodiscard]] std::vector<nic::Group> groups_at(const FeedConfig& config, const PollerPlan& poller,
                                                const nic::PortConfig& port);

/// What the config's ports of kind dpdk need from DPDK, in their order.
[[nodiscard]] std::vector<nic::dpdk::PortDemand> dpdk_demands(const FeedConfig& config,
                                                              const Topology& topology);

/// The number of hugepages of 2 MiB that ports and published memory need, by NUMA node. Key -1 has
/// the pages that may be on any node.
[[nodiscard]] std::map<int, std::size_t> hugepages_needed(const FeedConfig& config,
                                                          const Topology& topology);

/// Checks that actors are of known kinds, that each CPU exists and is used once, that ports,
/// pollers and cores are on one NUMA node, and that memory and descriptors suffice.
[[nodiscard]] TopologyFindings check_topology(const Topology& topology, const FeedConfig& config,
                                              const Machine& machine);

/// "12.5 MiB".
[[nodiscard]] std::string memory_text(std::size_t bytes);

/// A text for people: ports, pollers, rings, cores and memory, in lines of at most 100 columns.
[[nodiscard]] std::string to_text(const Topology& topology, const FeedConfig& config);

}  // namespace pinstrike::actors
