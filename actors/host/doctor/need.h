// path: cold
//
// The needs of one or several configs that run together on a host.
#pragma once

#include "actors/host/doctor/host.h"
#include "actors/topology/feed_config.h"
#include "nic/dpdk/memory_need.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::doctor {

/// A poll or actor thread.
struct HotThread {
    std::string name;  ///< "poller0"; with several configs "opra/poller0"
    CpuIndex cpu = -1;
    bool spins = true;
    std::vector<std::string> nics;  ///< PCI addresses of the NICs that it polls
};

struct PortNeed {
    std::string name;
    nic::PortConfig config;
    std::string interface;    ///< of the kernel; empty: the port needs none
    std::string pci_address;  ///< of its NIC; empty: it has none
};

struct RecordingNeed {
    std::string feed;
    std::string folder;
    std::uint64_t least_bytes = 0;           ///< of free space
    std::optional<double> bytes_per_second;  ///< nullopt: the rate is unknown
};

struct Need {
    std::size_t configs = 0;  ///< 0: the configs that will run are unknown
    std::vector<HotThread> threads;
    std::map<CpuIndex, std::string> control;  ///< CPUs of the control threads
    std::vector<PortNeed> ports;
    std::vector<nic::dpdk::PortDemand> dpdk;  ///< ports that use hugepages
    std::size_t dpdk_programs = 0;            ///< programs that start DPDK with hugepages
    std::multimap<std::string, std::string>
        endpoints;                        ///< metrics addresses, with the feeds that listen there
    std::size_t memory_bytes = 0;         ///< ordinary memory
    std::size_t open_files = 0;           ///< of the config that opens most: a limit is per process
    std::size_t published_shm_bytes = 0;  ///< published memory in /dev/shm
    std::size_t published_huge_bytes = 0;  ///< published memory on hugepages
    std::vector<RecordingNeed> recordings;

    /// The CPUs of pinned hot threads.
    [[nodiscard]] CpuSet hot_cpus() const;

    /// The name of the hot thread on a CPU, such as "poller0"; empty: none.
    [[nodiscard]] std::string who_on(CpuIndex cpu) const;
};

/// Pure, except that it counts captures that a DPDK port preloads and looks up the location of its
/// device (topology.h).
/// `messages_per_second`: of each feed, for its recording; nullopt: that of its sim ports, if any.
[[nodiscard]] Need need_of(const std::vector<FeedConfig>& configs,
                           std::optional<double> messages_per_second = {});

}  // namespace pinstrike::actors::doctor
