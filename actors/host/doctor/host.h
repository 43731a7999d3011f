// path: cold
//
// A host as plain data, for `pinstrike doctor`. read_host.h reads it, judge.h judges it, and tests
// describe hosts by hand. An empty optional means that the value could not be read, which differs
// from "none" or "zero" and never counts as good.
#pragma once

#include "actors/recorder/recording_disk.h"
#include "actors/topology/feed_config.h"
#include "nic/dpdk/host.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::actors::doctor {

using CpuSet = std::set<CpuIndex>;

/// A sleep state of an idle CPU.
struct IdleState {
    unsigned number = 0;  ///< as in /sys/devices/system/cpu/cpuN/cpuidle/stateK
    std::string name;
    unsigned exit_us = 0;  ///< time to wake up, according to the driver
    bool disabled = false;
};

struct HostCpu {
    CpuIndex index = 0;
    int node = -1;    ///< NUMA node; negative: the kernel names none
    CpuSet siblings;  ///< CPUs of the same physical core, itself included
    CpuSet cache;     ///< CPUs that share the last-level cache, itself included; empty: not visible
    std::string governor;  ///< frequency governor; empty: not visible
    std::vector<IdleState> idle_states;
    bool can_go_offline = true;  ///< x86 has no switch for cpu 0
};

/// Another PCI device in a NIC's IOMMU group.
struct GroupMember {
    std::string address;
    std::string driver;  ///< empty: none
    bool bridge = false;
};

/// A PCI network device.
struct HostNic {
    std::string address;  ///< "0000:3b:00.0"
    std::string driver;   ///< empty: no driver
    std::string driver_version;
    std::string firmware;    ///< empty: no kernel driver that could report it
    std::string interface;   ///< kernel interface; empty: there is none
    int node = -1;           ///< NUMA node; negative: the kernel names none
    std::string link_speed;  ///< PCIe link, "8.0 GT/s PCIe x8"; empty: unknown
    std::string link_best;
    std::optional<unsigned> iommu_group;
    std::vector<GroupMember> group_members;  ///< without the NIC itself
};

struct HostInterface {
    bool up = false;
    bool multicast = false;
    bool running = false;  ///< has a carrier, according to the driver
    std::optional<int> reverse_path_filter;
    std::optional<std::vector<std::string>> addresses;  ///< IPv4
    bool default_route = false;                         ///< of IPv4
    bool other_default_route = false;  ///< of IPv6, or of a bond, bridge or VLAN on top of it
};

struct HostInterrupt {
    unsigned number = 0;
    std::string name;
    CpuSet cpus;  ///< CPUs that it is or may be delivered to
};

/// The state of the kernel's clock (adjtimex).
struct ClockState {
    bool synchronised = false;
    std::int64_t estimated_error_us = 0;
    std::int64_t maximum_error_us = 0;
    std::int64_t offset_ns = 0;  ///< offset that the kernel has yet to correct
};

struct HostDisk {
    std::string path;
    std::uint64_t free_bytes = 0;  ///< available to a user without rights
    std::uint64_t total_bytes = 0;
};

/// The owner and rights of a folder.
struct HostFolder {
    std::string user;
    std::string group;
    unsigned mode = 0;  ///< 02750
};

/// The disk of a recording.
struct HostRecording {
    RecordingDisk disk;
    MeasuredWrites writes;
};

/// Limits of a process. nullopt: unlimited.
struct HostLimits {
    std::optional<std::uint64_t> locked_bytes;
    std::optional<std::uint64_t> open_files;
};

struct Host {
    // the machine
    bool hypervisor = false;  ///< runs in a virtual machine
    std::string container;    ///< its kind ("docker"); empty: none detected
    bool battery = false;
    std::string cpu_vendor;  ///< "GenuineIntel"
    std::set<std::string> cpu_flags;

    // processors
    std::vector<HostCpu> cpus;  ///< online, ascending
    CpuSet allowed_cpus;        ///< CPUs this process may use
    std::optional<CpuSet> isolated;
    std::optional<CpuSet> tickless;         ///< nohz_full; nullopt: not supported by the kernel
    std::optional<CpuSet> callback_free;    ///< rcu_nocbs on the command line
    std::optional<bool> symmetric_threads;  ///< SMT is on

    // memory
    std::vector<nic::dpdk::Hugepages> hugepages;
    std::optional<std::size_t> free_bytes;
    std::string transparent_hugepages;    ///< "madvise"; empty: not visible
    std::string shm_huge_pages;           ///< policy of /dev/shm, "never"; empty: not visible
    bool hugetlbfs = false;               ///< one is mounted
    std::optional<HostDisk> shm;          ///< /dev/shm
    std::optional<HostFolder> published;  ///< of published memory; nullopt: there is none

    // devices
    std::vector<HostNic> nics;
    std::size_t iommu_groups = 0;
    bool vfio_pci = false;  ///< the driver is available, loaded or built in
    bool vfio_without_iommu = false;
    std::map<std::string, HostInterface> interfaces;

    // interrupts
    std::vector<HostInterrupt> interrupts;
    bool irqbalance_seen = false;  ///< whether the options of the running irqbalance could be read
    std::optional<CpuSet> irqbalance_banned;  ///< CPUs excluded by its options; nullopt: none

    // time
    std::string clock_source;
    std::set<std::string> clock_sources;
    std::optional<ClockState> clock;

    // limits of the kernel and of this process
    std::map<std::string, std::int64_t> sysctls;  ///< "net/core/rmem_max"; only those that exist
    std::optional<HostLimits> limits;
    nic::dpdk::Capabilities capabilities;
    std::vector<HostDisk> disks;
    std::map<std::string, HostRecording> recordings;  ///< by folder; only those that were examined
    std::set<std::string> writable_folders;           ///< ReadWritePaths in drop-ins of the unit

    /// Short names of all visible processes except this one.
    std::set<std::string> processes;

    /// nullptr: there is none.
    [[nodiscard]] const HostCpu* find_cpu(CpuIndex index) const {
        const auto found = std::ranges::find(cpus, index, &HostCpu::index);
        return found == cpus.end() ? nullptr : &*found;
    }

    [[nodiscard]] const HostNic* find_nic(const std::string& address) const {
        const auto found = std::ranges::find(nics, address, &HostNic::address);
        return found == nics.end() ? nullptr : &*found;
    }

    [[nodiscard]] bool runs(const std::string& process) const {
        return processes.contains(process);
    }

    /// Highest NUMA node of any CPU, plus one; at least 1.
    [[nodiscard]] int nodes_count() const {
        const auto highest = std::ranges::max_element(cpus, {}, &HostCpu::node);
        return highest == cpus.end() ? 1 : std::max(highest->node, 0) + 1;
    }
};

}  // namespace pinstrike::actors::doctor
