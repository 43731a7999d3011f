// path: cold
//
// What one or several configs need of the host that runs them together.
#pragma once

#include "actors/host/doctor/host.h"
#include "actors/topology/feed_config.h"
#include "nic/dpdk/memory_need.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace pinstrike::actors::doctor {

/// A poll or actor thread.
struct HotThread {
    std::string name;  ///< "poller0"; of several configs "opra/poller0"
    CpuIndex cpu = -1;
    bool spins = true;
    std::vector<std::string> nics;  ///< PCI addresses that it polls
};

struct PortNeed {
    std::string name;
    nic::PortConfig config;
    std::string interface;    ///< of the kernel; empty: needs none
    std::size_t sockets = 0;  ///< uring: one a group
};

struct Need {
    std::size_t configs = 0;  ///< 0: nothing is known of what will run
    std::vector<HotThread> threads;
    std::map<CpuIndex, std::string> control;  ///< cpus of the control threads
    std::vector<PortNeed> ports;
    std::vector<nic::dpdk::PortDemand> dpdk;            ///< that take hugepages
    std::size_t dpdk_programs = 0;                      ///< that begin DPDK with hugepages
    std::multimap<std::string, std::string> endpoints;  ///< of metrics, and the feeds that listen
    std::size_t memory_bytes = 0;                       ///< ordinary
    std::size_t open_files = 0;

    /// Of hot threads that are pinned.
    [[nodiscard]] CpuSet hot_cpus() const;

    /// Who runs on a cpu, "poller0"; empty: no hot thread.
    [[nodiscard]] std::string who_on(CpuIndex cpu) const;
};

/// Pure, but that captures which a DPDK port preloads are counted, and where its device is, looked
/// up (topology.h).
[[nodiscard]] Need need_of(const std::vector<FeedConfig>& configs);

}  // namespace pinstrike::actors::doctor
