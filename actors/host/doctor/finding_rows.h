// path: cold
//
// The texts of all checks of a host: one row for each check, and one for each case of a check that
// has other texts. The functions in judge_*.cpp only measure: they return how good the host is, the
// value they found, and the commands that change it.
#pragma once

#include <array>
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
        "processors, interrupts, limits and the clock are the host's: what is seen here may not " \
        "be all, and much of it cannot be fixed from inside", \
        "run doctor on the host itself as well") \
    ROW(machine_is_virtual, "", "", "", \
        "a hypervisor stops processors for tens of microseconds, unseen from inside; frequency " \
        "and sleep states are its own", \
        "dedicated processors, pinned by the hypervisor; or bare metal") \
    ROW(machine_is_laptop, "", "", "", \
        "its frequency follows heat and charge: no latency of it can be relied on", \
        "good for development; measure and trade elsewhere") \
    ROW(config, "config", "config", "pinstrike doctor CONFIG", \
        "which processors poll, which NICs, how much memory and which buffers are needed stands " \
        "there: none of it was judged", "") \
    ROW(hugepages, "hugepages{of_node}", "hugepages{on_node}", \
        "{need_mib} MiB free ({need_pages} pages of 2 MiB)", \
        "NICs write packets into them; short of them, or on another node than the NIC, the " \
        "program does not start, or each packet crosses between sockets", "") \
    ROW(memory, "memory", "memory beside hugepages", "{need_mib} MiB free", \
        "rings, books and histories are claimed at the start; with more than is free the kernel " \
        "kills something, most likely this", \
        "more memory, or less of ring_slots, series_capacity, hold") \
    ROW(transparent_hugepages, "transparent_hugepages", "transparent hugepages", "madvise", \
        "with always, the kernel moves memory of any program together and stops its threads " \
        "meanwhile; with madvise only what asks for it, as the book's tables do", "") \
    ROW(numa_balancing, "numa_balancing", "automatic NUMA balancing", "off", \
        "the kernel takes pages away to see who misses them: hot threads stop for page faults", \
        "") \
    ROW(iommu, "iommu", "IOMMU", "on", \
        "vfio-pci gives a NIC to a program only through it; without it the NIC could write to " \
        "any memory", "") \
    ROW(vfio, "vfio", "driver vfio-pci", "loaded at every boot", \
        "through it a NIC leaves the kernel and comes to the program", "") \
    ROW(binding, "binding.{nic}", "binding of {port} ({nic})", \
        "vfio-pci, or a driver that shares the device (mlx5_core)", \
        "while the kernel's driver holds the NIC, DPDK cannot open it", "") \
    ROW(binding_to_uio, "", "", "", \
        "with uio the NIC can write to any memory, and the program needs root's rights", "") \
    ROW(binding_of_absent_nic, "", "NIC of {port} ({nic})", "one", "the port cannot be opened", \
        "`lspci -D` lists those there are; write the address into `pci`") \
    ROW(iommu_group, "iommu_group.{nic}", "IOMMU group of {port} ({nic})", \
        "alone, or with devices on vfio-pci or without driver", \
        "a group goes to one program as a whole: while the kernel holds another device of it, " \
        "vfio refuses the NIC", \
        "bind those too (driverctl set-override ADDRESS vfio-pci), or put the NIC into a slot " \
        "whose port has ACS") \
    ROW(nic_node, "nic_node.{nic}", "NUMA node of {port} ({nic})", \
        "that of the processors which poll it", \
        "across sockets each packet costs a trip of 100 ns and more, and the link between them " \
        "is shared", \
        "in the config, pollers and cores on processors of node {node} (pinstrike plan)") \
    ROW(pcie, "pcie.{nic}", "PCIe link of {port} ({nic})", "{best_link}", \
        "a slower or narrower link than the NIC has fills up in bursts, and the NIC drops " \
        "(missed)", \
        "a slot with as many lanes; seat the card again") \
    ROW(firmware, "firmware.{nic}", "firmware of {port} ({nic})", \
        "what DPDK's page of the NIC's driver names", \
        "steering by group and checksum verdicts need a firmware that has them; no table here " \
        "knows which", "") \
    ROW(pinning, "pinning", "threads pinned", "every poller and core with a `cpu`", \
        "a thread that is not pinned is moved and interrupted at will, and its memory may be on " \
        "another node", \
        "`cpu: N` in the config (pinstrike plan shows them)") \
    ROW(processors, "processors", "processors of the config", \
        "online, allowed, one hot thread each", \
        "the program does not start on a processor it may not use, and two spinning threads on " \
        "one stop each other for milliseconds", \
        "other processors in the config (there are {allowed}), or of the service or container: " \
        "AllowedCPUs=, --cpuset-cpus") \
    ROW(smt, "smt", "SMT siblings of hot cpus", "offline, or isolated and unused", \
        "two threads of one core share its units and caches: each then has about half, whenever " \
        "the other works", \
        "in the config, processors of different cores (pinstrike plan)") \
    ROW(cache, "cache", "last cache of hot cpus", \
        "one for pollers and cores, where it has so many", \
        "what a poller hands to a core goes from cache to cache, and takes several times as " \
        "long where they share none", "") \
    ROW(cache_too_small, "", "", \
        "as few as hold all pollers and cores: none has so many processors", "", "") \
    ROW(control, "control.cpu{cpu}", "processor of {thread}", "one without a hot thread", \
        "metrics, log and DPDK's housekeeping would stop a hot thread", \
        "another `control_cpu` in the config") \
    ROW(isolcpus, "isolcpus", "hot cpus isolated", "cpus {hot}", \
        "the scheduler puts any program on a processor that is not: each turn of it stops the " \
        "feed for up to milliseconds", "") \
    ROW(nohz_full, "nohz_full", "hot cpus without tick", "cpus {hot}", \
        "the tick stops a thread 100 to 1000 times a second, a few microseconds each", "") \
    ROW(rcu_nocbs, "rcu_nocbs", "hot cpus without RCU's work", "cpus {hot}", \
        "what the kernel frees late is otherwise freed on the hot processor", "") \
    ROW(governor, "governor", "frequency of hot cpus", "governor performance", \
        "others let the frequency sink in quiet times, and the burst that follows is taken " \
        "slowly", "") \
    ROW(c_states, "c_states", "sleep states of hot cpus", \
        "none that takes more than {exit_us} us to wake", \
        "a processor that sleeps deeply answers late; threads that spin never sleep, but those " \
        "that park do", "") \
    ROW(interrupts, "interrupts", "interrupts on hot cpus", "none", \
        "each stops the thread for microseconds, and brings softirq work that stops it for " \
        "longer", \
        "leave the kernel a processor without a hot thread") \
    ROW(irqbalance, "irqbalance", "irqbalance", "not there, or told to spare hot cpus", \
        "it moves interrupts to processors that look idle to it; also back to those they were " \
        "taken from", "") \
    ROW(clock_source, "clock_source", "clock source of the kernel", "tsc", \
        "the program's clock is the time stamp counter, set by the kernel's: with another " \
        "source the two drift, and each reading costs a microsecond", \
        "`dmesg | grep -i tsc` says why it was given up; often an old firmware") \
    ROW(tsc, "tsc", "time stamp counter", "constant_tsc and nonstop_tsc", \
        "a counter that follows the frequency, or stops in sleep, gives wrong times and wrong " \
        "waits", \
        "another processor: this one is too old") \
    ROW(clock, "clock", "clock set by NTP or PTP", "synchronised, error below {error_us} us", \
        "latency from the exchange's time, hours of sessions and logs are as good as this clock", \
        "`chronyc tracking`; a nearer server, or PTP") \
    ROW(clock_by_timesyncd, "", "", "", \
        "timesyncd asks one server now and then and states no error: a few milliseconds may be " \
        "hidden", "") \
    ROW(interface, "interface.{interface}", "interface {interface} of {port}", \
        "up, multicast, with carrier", \
        "groups are joined on an interface by its number, whatever the routes: it must be up " \
        "and able to", \
        "cable, transceiver, the switch's port") \
    ROW(address, "address.{interface}", "address of {port} ({interface})", "{address}", \
        "IGMP reports come from it; with none they come from 0.0.0.0, which some switches and " \
        "routers do not heed", "") \
    ROW(rp_filter, "rp_filter.{interface}", "reverse path filter of {interface}", \
        "off (0), or loose (2) with a route to the senders", \
        "strict, it drops multicast from senders that are not routed over the interface, and " \
        "counts it nowhere", "") \
    ROW(rmem_max, "rmem_max", "largest socket buffer, bytes", "{least} or more", \
        "kernel_buffer asks for this, and gets no more than the limit: a shorter stop of the " \
        "poller then loses packets", "") \
    ROW(rmem_max_as_net_admin, "", "", "", \
        "kernel_buffer asks for this; with CAP_NET_ADMIN, as here, it is granted beyond the " \
        "limit, but a service may not have it", "") \
    ROW(igmp_max_memberships, "igmp_max_memberships", "groups a socket may join", \
        "{least} or more", \
        "a uring port joins one group a socket, so any limit will do", "") \
    ROW(netdev_max_backlog, "netdev_max_backlog", "packets that wait for a softirq", \
        "{least} or more", \
        "behind virtual interfaces, and with receive packet steering, packets wait here; what " \
        "finds it full is dropped", "") \
    ROW(membership, "membership.{port}", "groups joined by {port}", \
        "the switch sends every group to this NIC", \
        "past the kernel nothing here knows of memberships; what the switch does shows only " \
        "when the program runs", "") \
    ROW(metrics_address, "metrics_address", "addresses of metrics", "one for each feed", \
        "the feed that starts second finds its address taken and does not start", \
        "another `metrics_address` in all but one of the configs") \
    ROW(memlock, "memlock", "memory that may be locked, bytes", "unlimited, or CAP_IPC_LOCK", \
        "a NIC writes to its buffers by physical address: they are locked, and vfio counts them " \
        "against the limit", \
        "LimitMEMLOCK=infinity in the service's unit; `ulimit -l unlimited` in a shell of root's") \
    ROW(nofile, "nofile", "files that may be open", "{grouped} or more", \
        "a uring port has a socket for each group; the last ones are not opened, and the " \
        "program does not start", \
        "LimitNOFILE={need} in the service's unit; `ulimit -n {need}` in a shell") \
    ROW(disk, "disk{of_path}", "free disk{in_path}", "{good_mib} MiB", \
        "the journal is kept there, and captures: full, what happened is lost", \
        "`journalctl --vacuum-size=1G`; a larger disk; `du -xh` there") \
    ROW(disk_not_visible, "", "", "room in /var/log and /var/lib", \
        "the journal and captures are kept there", "") \
    ROW(start, "start.{feed}", "start of feed {feed}", "nothing that forbids it", \
        "the program would end with status 78, and not be started again", "")
// clang-format on

#define PINSTRIKE_CHECK_NAME(name, ...) name,
#define PINSTRIKE_CHECK_ROW(name, ...) CheckRow{__VA_ARGS__},

/// A row of the table.
enum class Check : unsigned char { PINSTRIKE_CHECKS(PINSTRIKE_CHECK_NAME) };

inline constexpr std::array check_rows{PINSTRIKE_CHECKS(PINSTRIKE_CHECK_ROW)};

#undef PINSTRIKE_CHECK_NAME
#undef PINSTRIKE_CHECK_ROW

constexpr const CheckRow& row_of(Check check) {
    return check_rows[static_cast<std::size_t>(check)];
}

}  // namespace pinstrike::actors::doctor
