// path: cold
//
// The texts of all checks of a host: one row for each check, and one for each case of a check that
// has other texts. The functions in judge_*.cpp only measure: they return how good the host is, the
// value they found, and the commands that change it.
#pragma once

#include "config/rows.h"

#include <string_view>

namespace pinstrike::actors::doctor {

/// Names in braces stand for values that judge_*.cpp supply.
struct CheckRow {
    std::string_view id;      ///< empty: a case of the check above, with its other empty texts
    std::string_view what;    ///< what is checked
    std::string_view wanted;  ///< the good value
    std::string_view why;     ///< what happens otherwise
    std::string_view fix;     ///< in words, of findings whose measurement has no fix of its own
};

// clang-format off
#define PINSTRIKE_CHECKS(ROW) \
    ROW(machine, "machine", "kind of machine", "bare metal that does nothing else", "", "") \
    ROW(machine_in_container, "", "", "", \
        "a container shows the processors, interrupts, limits and the clock of its host only " \
        "in part, and can change few of their settings", "run doctor on the host as well") \
    ROW(machine_is_virtual, "", "", "", \
        "a hypervisor preempts processors for tens of microseconds, which is invisible inside, " \
        "and controls their frequency and sleep states", \
        "let the hypervisor dedicate and pin processors, or use bare metal") \
    ROW(machine_is_laptop, "", "", "", \
        "its frequency follows temperature and battery charge, so no latency is reliable", \
        "use it for development; measure and trade on another machine") \
    ROW(config, "config", "config", "pinstrike doctor CONFIG", \
        "the config says which processors poll, which NICs are used, and how much memory and " \
        "which buffers are needed; none of this was checked", "") \
    ROW(hugepages, "hugepages{of_node}", "hugepages{on_node}", \
        "{need_mib} MiB free ({need_pages} pages of 2 MiB)", \
        "NICs write packets into hugepages, and published memory may lie in them; with too few " \
        "the program does not start, and with pages on another node than the NIC each packet " \
        "crosses between sockets", "") \
    ROW(memory, "memory", "memory beside hugepages", "{need_mib} MiB free", \
        "the program allocates rings, books and histories at its start; if they exceed the " \
        "free memory, the kernel kills a process, most likely this one", \
        "add memory, or lower ring_slots, series_capacity, hold or history.memory") \
    ROW(transparent_hugepages, "transparent_hugepages", "transparent hugepages", "madvise", \
        "with always, the kernel compacts the memory of any program and stops its threads " \
        "meanwhile; with madvise, only memory that asks for it, such as the book's tables", "") \
    ROW(numa_balancing, "numa_balancing", "automatic NUMA balancing", "off", \
        "the kernel unmaps pages to learn which node uses them, so hot threads stop for page " \
        "faults", "") \
    ROW(published_hugetlbfs, "published_hugetlbfs", "hugetlbfs for published memory", "mounted", \
        "with publish.memory: hugetlbfs the memory is a file there; the program does not start " \
        "without", "") \
    ROW(published_space, "published_space", "published memory in /dev/shm", \
        "{need_mib} MiB free, and {twice_mib} MiB in all", \
        "the program allocates published memory at its start, and does not start without", "") \
    ROW(published_space_for_one, "", "", "", \
        "while readers map the memory of an earlier start, the next start needs as much again; " \
        "it fails until they release that memory", "") \
    ROW(published_huge_pages, "published_huge_pages", "huge pages of /dev/shm", \
        "advise (or within_size, always)", \
        "with publish.memory: shm the book's tables lie in /dev/shm; on pages of 4 KiB most " \
        "quotes miss the TLB", "") \
    ROW(published_folder, "published_folder", "folder of published memory", \
        "{folder} of pinstrike, pinstrike-data, mode 2750", \
        "members of the group pinstrike-data can read what the service publishes only there; " \
        "other users publish in a folder of their own, for themselves", \
        "`systemd-tmpfiles --create pinstrike.conf` (the package's file makes it at each boot)") \
    ROW(record_folder, "record_folder.{feed}", "folder of the recording of {feed}", \
        "below /var/lib/pinstrike, or in the unit's ReadWritePaths", \
        "the service may write to no other folder; started by hand, the program may", "") \
    ROW(record_direct, "record_direct.{feed}", "file system of the recording of {feed}", \
        "on a disk, with O_DIRECT (ext4, xfs)", \
        "without O_DIRECT each chunk is copied into the page cache, which is written in bursts " \
        "and takes memory from other programs; a tmpfs is memory itself, and lost at a boot", \
        "set record.folder to a folder of a local disk") \
    ROW(record_cache, "record_cache.{feed}", "write cache below the recording of {feed}", \
        "write through", \
        "a power failure takes what a disk has confirmed and has only in its cache (write back); " \
        "besides, a short measurement rates this cache and not the disk", \
        "use a disk that is protected against power failures; measure one with a cache for " \
        "minutes, for example by fio") \
    ROW(record_space, "record_space.{feed}", "space for the recording of {feed}", "{wanted}", \
        "the oldest segments are removed when space is short, and nothing is recorded when there " \
        "is none", \
        "use a larger disk, or record less (record.streams, record.lines)") \
    ROW(record_speed, "record_speed.{feed}", "writes of the recording of {feed}", "{wanted}", \
        "packets that find the recorder's memory full are not recorded; bursts exceed the " \
        "average several times", \
        "use a faster disk, or record less (record.streams, record.lines)") \
    ROW(iommu, "iommu", "IOMMU", "on", \
        "vfio-pci gives a NIC to a program only through the IOMMU; without it the NIC could " \
        "write to any memory", "") \
    ROW(vfio, "vfio", "driver vfio-pci", "loaded at every boot", \
        "vfio-pci takes a NIC from the kernel and gives it to the program", "") \
    ROW(binding, "binding.{nic}", "binding of {port} ({nic})", \
        "vfio-pci, or a driver that shares the device (mlx5_core)", \
        "DPDK cannot open the NIC while the kernel's driver holds it", "") \
    ROW(binding_to_uio, "", "", "", \
        "with uio the NIC can write to any memory, and the program needs root's rights", "") \
    ROW(binding_of_absent_nic, "", "NIC of {port} ({nic})", "a network device of this address", \
        "the program cannot open the port", \
        "`lspci -D` lists the devices; write the right address into `pci`") \
    ROW(iommu_group, "iommu_group.{nic}", "IOMMU group of {port} ({nic})", \
        "alone, or with devices that use vfio-pci or no driver", \
        "vfio gives a group to one program as a whole, and refuses the NIC while the kernel " \
        "holds another device of the group", \
        "bind those devices too (driverctl set-override ADDRESS vfio-pci), or put the NIC into " \
        "a slot whose port has ACS") \
    ROW(nic_node, "nic_node.{nic}", "NUMA node of {port} ({nic})", \
        "the node of the processors that poll it", \
        "each packet that crosses between sockets costs 100 ns or more, and all of them share " \
        "one link", \
        "in the config, move pollers and cores to processors of node {node} (see pinstrike " \
        "plan)") \
    ROW(pcie, "pcie.{nic}", "PCIe link of {port} ({nic})", "{best_link}", \
        "a link that is slower or narrower than the NIC fills up in bursts, and the NIC drops " \
        "packets (missed)", "use a slot with as many lanes, or remove and insert the card again") \
    ROW(firmware, "firmware.{nic}", "firmware of {port} ({nic})", \
        "the version that DPDK's guide to the NIC's driver names", \
        "steering by group and checksum verdicts need a firmware that supports them; doctor " \
        "has no list of versions", "") \
    ROW(pinning, "pinning", "threads pinned", "every poller and core with a `cpu`", \
        "the kernel moves and interrupts a thread that is not pinned, and its memory may be on " \
        "another node", "set `cpu: N` in the config (pinstrike plan shows the processors)") \
    ROW(processors, "processors", "processors of the config", \
        "online, allowed, one hot thread each", \
        "the program does not start on a processor that it may not use, and two spinning " \
        "threads on one processor preempt each other for milliseconds", \
        "use other processors in the config (there are {allowed}), or allow more to the " \
        "service (AllowedCPUs=) or container (--cpuset-cpus)") \
    ROW(smt, "smt", "SMT siblings of hot cpus", "offline, or isolated and unused", \
        "two threads of one core share its units and caches, so each has about half of them " \
        "while the other works", \
        "use processors of different cores in the config (see pinstrike plan)") \
    ROW(cache, "cache", "last-level cache of hot cpus", \
        "one for all pollers and cores, if it has enough processors", \
        "data that a poller passes to a core moves from cache to cache, which takes several " \
        "times as long if they share none", "") \
    ROW(cache_too_small, "", "", \
        "as few as hold all pollers and cores, because none has enough processors", "", "") \
    ROW(control, "control.cpu{cpu}", "processor of {thread}", "one without a hot thread", \
        "metrics, log and DPDK's housekeeping would preempt a hot thread", \
        "set another `control_cpu` in the config") \
    ROW(isolcpus, "isolcpus", "hot cpus isolated", "cpus {hot}", \
        "the scheduler runs any program on a processor that is not isolated, which stops the " \
        "feed for up to milliseconds", "") \
    ROW(nohz_full, "nohz_full", "hot cpus without tick", "cpus {hot}", \
        "the tick stops a thread 100 to 1000 times a second, for a few microseconds each", "") \
    ROW(rcu_nocbs, "rcu_nocbs", "hot cpus without RCU callbacks", "cpus {hot}", \
        "RCU callbacks, which free memory of the kernel, otherwise run on the hot processor", "") \
    ROW(governor, "governor", "frequency of hot cpus", "governor performance", \
        "other governors lower the frequency in quiet times, and the next burst is processed " \
        "slowly", "") \
    ROW(c_states, "c_states", "sleep states of hot cpus", \
        "none that takes more than {exit_us} us to wake", \
        "a processor in a deep sleep state answers late; threads that spin never sleep, but " \
        "threads that park do", "") \
    ROW(interrupts, "interrupts", "interrupts on hot cpus", "none", \
        "each interrupt stops the thread for microseconds, and its softirq work stops it for " \
        "longer", "leave the kernel a processor without a hot thread") \
    ROW(irqbalance, "irqbalance", "irqbalance", "not running, or excluding hot cpus", \
        "irqbalance moves interrupts to processors that look idle, even back to those that " \
        "they were moved from", "") \
    ROW(clock_source, "clock_source", "clock source of the kernel", "tsc", \
        "the program reads the time stamp counter and sets it by the kernel's clock; with " \
        "another source the two drift apart, and each reading costs a microsecond", \
        "`dmesg | grep -i tsc` says why the kernel gave it up, often because of an old firmware") \
    ROW(tsc, "tsc", "time stamp counter", "constant_tsc and nonstop_tsc", \
        "a counter that follows the frequency, or stops in sleep states, gives wrong times and " \
        "wrong waits", "use another processor, because this one is too old") \
    ROW(clock, "clock", "clock set by NTP or PTP", "synchronised, error below {error_us} us", \
        "latency from the exchange's time, session hours and logs are only as accurate as this " \
        "clock", "see `chronyc tracking`; use a nearer server, or PTP") \
    ROW(clock_by_timesyncd, "", "", "", \
        "timesyncd asks one server now and then and reports no error, so the clock may be " \
        "wrong by milliseconds", "") \
    ROW(interface, "interface.{interface}", "interface {interface} of {port}", \
        "up, multicast, with carrier", \
        "the program joins groups on this interface, whatever the routes are, so it must be up " \
        "and support multicast", "check cable, transceiver and the switch's port") \
    ROW(address, "address.{interface}", "address of {port} ({interface})", "{address}", \
        "IGMP reports have this source address; without one they have 0.0.0.0, which some " \
        "switches and routers ignore", "") \
    ROW(rp_filter, "rp_filter.{interface}", "reverse path filter of {interface}", \
        "off (0), or loose (2) with a route to the senders", \
        "a strict filter drops multicast from senders that are not routed over the interface, " \
        "and no counter of the interface shows it", "") \
    ROW(rmem_max, "rmem_max", "largest socket buffer, bytes", "{least} or more", \
        "kernel_buffer asks for this, and the kernel grants no more than the limit; with a " \
        "smaller buffer, a shorter stall of the poller loses packets", "") \
    ROW(rmem_max_as_net_admin, "", "", "", \
        "kernel_buffer asks for this; with CAP_NET_ADMIN, as here, the kernel grants it beyond " \
        "the limit, but a service may not have it", "") \
    ROW(igmp_max_memberships, "igmp_max_memberships", "groups a socket may join", \
        "{least} or more", "each socket of a uring port joins one group, so any limit is enough", \
        "") \
    ROW(netdev_max_backlog, "netdev_max_backlog", "packets that wait for a softirq", \
        "{least} or more", \
        "packets wait in this queue behind virtual interfaces and with receive packet " \
        "steering; the kernel drops packets if it is full", "") \
    ROW(membership, "membership.{port}", "groups joined by {port}", \
        "the switch sends every group to this NIC", \
        "this port bypasses the kernel, which has no list of its groups; what the switch sends " \
        "is visible only while the program runs", "") \
    ROW(metrics_address, "metrics_address", "addresses of metrics", "one for each feed", \
        "the feed that starts second finds its address taken and does not start", \
        "set another `metrics_address` in all but one of the configs") \
    ROW(memlock, "memlock", "memory that may be locked, bytes", "unlimited, or CAP_IPC_LOCK", \
        "a NIC writes to its buffers by physical address, so they are locked, and vfio counts " \
        "them against the limit", \
        "set LimitMEMLOCK=infinity in the service's unit, or run `ulimit -l unlimited` in a " \
        "root shell") \
    ROW(nofile, "nofile", "files that may be open", "{grouped} or more", \
        "a uring port opens a socket for each group; if the limit is too low, the program does " \
        "not start", \
        "set LimitNOFILE={need} in the service's unit, or run `ulimit -n {need}` in a shell") \
    ROW(disk, "disk{of_path}", "free disk{in_path}", "{good_mib} MiB", \
        "the journal and captures are stored there, and a full disk loses them", \
        "run `journalctl --vacuum-size=1G`, look for large files by `du -xh`, or use a larger " \
        "disk") \
    ROW(disk_not_visible, "", "", "free space in /var/log and /var/lib", \
        "the journal and captures are stored there", "") \
    ROW(start, "start.{feed}", "start of feed {feed}", "nothing that prevents it", \
        "the program would end with status 78, and not be restarted", "")
// clang-format on

#define PINSTRIKE_CHECK_ROW(name, ...) CheckRow{__VA_ARGS__},

PINSTRIKE_TABLE(Check, CheckRow, PINSTRIKE_CHECKS, PINSTRIKE_CHECK_ROW)

}  // namespace pinstrike::actors::doctor
