// path: cold
//
// A host as plain data: what `pinstrike doctor` saw of it. Who looks is read_host.h, who judges
// judge.h; tests make hosts by hand. An optional that is empty could not be seen, which is not the
// same as "none" or "zero", and is never judged as good.
#pragma once

#include "actors/topology/feed_config.h"
#include "nic/dpdk/host.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::actors::doctor {

using CpuSet = std::set<CpuIndex>;

/// A state in which an idle processor sleeps.
struct IdleState {
    unsigned number = 0;  ///< of /sys/devices/system/cpu/cpuN/cpuidle/stateK
    std::string name;
    unsigned exit_us = 0;  ///< to wake from it, as the driver states
    bool disabled = false;
};

struct HostCpu {
    CpuIndex index = 0;
    int node = -1;    ///< NUMA; negative: the kernel names none
    CpuSet siblings;  ///< cpus of the same physical core, itself among them
    CpuSet cache;     ///< cpus that share its last cache, itself among them; empty: not visible
    std::string governor;  ///< of its frequency; empty: not visible
    std::vector<IdleState> idle_states;
};

/// A PCI device beside a NIC in its IOMMU group.
struct GroupMember {
    std::string address;
    std::string driver;  ///< empty: none
    bool bridge = false;
};

/// A network device on PCI.
struct HostNic {
    std::string address;  ///< "0000:3b:00.0"
    std::string driver;   ///< empty: bound to none
    std::string driver_version;
    std::string firmware;    ///< empty: no driver of the kernel's is there to ask
    std::string interface;   ///< of the kernel; empty: taken from it
    int node = -1;           ///< NUMA; negative: the kernel names none
    std::string link_speed;  ///< PCIe, "8.0 GT/s PCIe x8"; empty: not told
    std::string link_best;
    std::optional<unsigned> iommu_group;
    std::vector<GroupMember> group_members;  ///< without the NIC itself
};

struct HostInterface {
    bool up = false;
    bool multicast = false;
    bool running = false;  ///< has a carrier, as far as the driver tells
    std::optional<int> reverse_path_filter;
    std::optional<std::vector<std::string>> addresses;  ///< IPv4
    bool default_route = false;
};

struct HostInterrupt {
    unsigned number = 0;
    std::string name;
    CpuSet cpus;  ///< that it is delivered to, or may be
};

/// What the kernel says of its clock (adjtimex).
struct ClockState {
    bool synchronised = false;
    std::int64_t estimated_error_us = 0;
    std::int64_t maximum_error_us = 0;
    std::int64_t offset_ns = 0;  ///< that is still being worked off
};

struct HostDisk {
    std::string path;
    std::uint64_t free_bytes = 0;  ///< to a user without rights
    std::uint64_t total_bytes = 0;
};

/// Limits of a process; nullopt inside: unlimited.
struct HostLimits {
    std::optional<std::uint64_t> locked_bytes;
    std::optional<std::uint64_t> open_files;
};

struct Host {
    // the machine
    bool hypervisor = false;  ///< runs in a virtual machine
    std::string container;    ///< kind of it ("docker"); empty: none seen
    bool battery = false;
    std::string cpu_vendor;  ///< "GenuineIntel"
    std::set<std::string> cpu_flags;

    // processors
    std::vector<HostCpu> cpus;  ///< online, ascending
    CpuSet allowed_cpus;        ///< for this process
    std::optional<CpuSet> isolated;
    std::optional<CpuSet> tickless;         ///< nohz_full; nullopt: the kernel was built without
    std::optional<CpuSet> callback_free;    ///< rcu_nocbs, of the command line
    std::optional<bool> symmetric_threads;  ///< SMT is on

    // memory
    std::vector<nic::dpdk::Hugepages> hugepages;
    std::optional<std::size_t> free_bytes;
    std::string transparent_hugepages;  ///< "madvise"; empty: not visible

    // devices
    std::vector<HostNic> nics;
    std::size_t iommu_groups = 0;
    bool vfio_pci = false;  ///< the driver is there, loaded or built in
    bool vfio_without_iommu = false;
    std::map<std::string, HostInterface> interfaces;

    // interrupts
    std::vector<HostInterrupt> interrupts;
    bool irqbalance_seen = false;             ///< what it was told, where it runs
    std::optional<CpuSet> irqbalance_banned;  ///< cpus it was told to spare; nullopt: none

    // time
    std::string clock_source;
    std::set<std::string> clock_sources;
    std::optional<ClockState> clock;
    std::vector<std::string> hardware_clocks;  ///< "ptp0"

    // limits of the kernel and of this process
    std::map<std::string, std::int64_t> sysctls;  ///< "net.core.rmem_max"; those it has
    std::optional<HostLimits> limits;
    nic::dpdk::Capabilities capabilities;
    std::vector<HostDisk> disks;

    /// Short names of all processes but this one, as far as they can be seen.
    std::set<std::string> processes;

    [[nodiscard]] const HostCpu* find_cpu(CpuIndex index) const;
    [[nodiscard]] const HostNic* find_nic(const std::string& address) const;

    [[nodiscard]] bool runs(const std::string& process) const {
        return processes.contains(process);
    }

    /// Highest NUMA node of a cpu, plus one; at least 1.
    [[nodiscard]] int nodes_count() const;
};

}  // namespace pinstrike::actors::doctor
