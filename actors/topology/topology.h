// path: cold
//
// Which threads there are, where they run, and what joins them: data, made from the config, checked
// against the machine, shown to people, and only then started (appliance.h). Pure functions, but
// that captures which a DPDK port preloads are counted.
#pragma once

#include "actors/topology/feed_config.h"
#include "actors/topology/machine.h"
#include "config/problem.h"
#include "feed/lines/line_watch.h"
#include "nic/dpdk/memory_need.h"
#include "nic/port.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// A thread that polls: which lines, from which ports.
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
    std::vector<std::string> actors;  ///< kinds
    std::size_t actor_bytes = 0;      ///< memory of its actors
};

/// A ring, from one thread to another.
struct RingPlan {
    std::string from;
    std::string to;
    std::size_t slots = 0;
    std::size_t bytes = 0;
};

/// The thread that asks for what is missing.
struct RecoveryPlan {
    bool runs = false;                 ///< not without sources, nor on captures
    std::vector<std::string> sources;  ///< as in the config
    std::size_t ring_bytes = 0;        ///< rings from and to all pollers
    std::size_t history_bytes = 0;     ///< 0: nothing is kept
    std::vector<std::string> peers;    ///< whom it asks
    std::string listens;               ///< where peers ask; empty: nowhere
};

struct Topology {
    std::vector<PollerPlan> pollers;
    std::vector<CorePlan> cores;
    std::vector<RingPlan> rings;  ///< poller by poller, in the order of the cores
    CpuIndex control_cpu = -1;
    std::size_t line_bytes = 0;  ///< of all lines, for what waits and for what is missing
    std::size_t dpdk_bytes = 0;  ///< ordinary memory of DPDK; 0 where it takes hugepages
    RecoveryPlan recovery;
    std::size_t open_files = 0;  ///< descriptors that must be allowed

    /// For each port the pollers that read it, a queue each, in the order of the pollers.
    std::vector<std::vector<std::size_t>> port_readers;

    [[nodiscard]] std::size_t ring_bytes() const;
    [[nodiscard]] std::size_t actor_bytes() const;

    /// Of rings, lines, actors and DPDK, hugepages not counted.
    [[nodiscard]] std::size_t memory_bytes() const;
};

/// What a topology is like on a machine: `problems` forbid the start, `remarks` do not.
struct TopologyFindings {
    Problems problems;
    std::vector<std::string> remarks;
};

/// Whether the state of series is taken from a peer at the start.
[[nodiscard]] bool takes_state(const FeedConfig& config);

/// Records of the ring from a poller to the history: few and small where the ports keep packets.
[[nodiscard]] std::size_t history_slots(const FeedConfig& config, const PollerConfig& poller);

/// Expects a config that was checked (load_config.h).
[[nodiscard]] Topology plan_topology(const FeedConfig& config);

/// The streams that some port brings.
[[nodiscard]] feed::StreamsReceived streams_received(const FeedConfig& config);

/// The groups of a poller's lines that come at a port.
[[nodiscard]] std::vector<nic::Group> groups_at(const FeedConfig& config, const PollerPlan& poller,
                                                const nic::PortConfig& port);

/// What the config's ports of kind dpdk want of DPDK, in their order.
[[nodiscard]] std::vector<nic::dpdk::PortDemand> dpdk_demands(const FeedConfig& config,
                                                              const Topology& topology);

/// One producer and one consumer a ring, every ring drained, no cpu twice, every cpu there; ports,
/// pollers and cores on one NUMA node; enough memory and descriptors.
[[nodiscard]] TopologyFindings check_topology(const Topology& topology, const FeedConfig& config,
                                              const Machine& machine);

/// For people: ports, pollers, rings, cores, memory; lines of at most 100 columns.
[[nodiscard]] std::string to_text(const Topology& topology, const FeedConfig& config);

}  // namespace pinstrike::actors
