// path: cold
//
// Hosts that are written by hand, and configs for them: one poller and one core, or a NIC for each
// stream.
#pragma once

#include "actors/host/doctor/judge.h"
#include "actors/topology/load_config.h"
#include "tests/config/problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pinstrike::actors::doctor {

inline FeedConfig config_of(const std::string& text) {
    Problems problems;
    auto config = parse_config(text, "f", problems);
    EXPECT_TRUE(config) << text_of(problems);
    return config.value_or(FeedConfig{});
}

/// Two NICs by vfio, on node 1; poller on cpu 9, core on cpu 11, control on cpu 1.
inline Need two_nics() {
    return need_of({config_of(R"(lines: 1-4
ports:
  - {name: a, kind: dpdk, pci: "0000:3b:00.0", streams: A, source_address: 10.0.0.1}
  - {name: b, kind: dpdk, pci: "0000:5e:00.0", streams: B, source_address: 10.0.0.2}
pollers: [{name: p, cpu: 9, ports: [a, b]}]
cores: [{name: c, cpu: 11}]
control_cpu: 1
)")});
}

inline Need one_interface(const std::string& more = "") {
    return need_of(
        {config_of("lines: 1-4\nports: [{name: u, kind: uring, interface: eth1}]\n"
                   "pollers: [{name: p, cpu: 2}]\ncores: [{name: c, cpu: 3}]\n" +
                   more)});
}

/// A feed that publishes about 1 GiB.
inline Need publisher(const std::string& memory) {
    return one_interface("book: {series_capacity: 4000000}\npublish: {memory: " + memory + "}\n");
}

/// A feed that records into a folder of its own.
inline Need recorder(double messages_per_second, const std::string& folder = "/data/record") {
    return need_of({config_of("lines: 1-4\nports: [{name: u, kind: uring, interface: eth1}]\n"
                              "pollers: [{name: p, cpu: 2}]\ncores: [{name: c, cpu: 3}]\n"
                              "record: {folder: " +
                              folder + "}\n")},
                   messages_per_second);
}

/// A disk of 4 TB that takes 2 GB/s.
inline HostRecording fast_disk() {
    constexpr std::uint64_t giga = 1'000'000'000;
    return {{"/data/record", "xfs", 3000 * giga, 4000 * giga, 500 * giga, false, "write through"},
            {true, 256 << 20, 2e9, ""}};
}

inline HostNic nic(const std::string& address, unsigned group) {
    return {.address = address,
            .driver = "vfio-pci",
            .driver_version = "",
            .firmware = "",
            .interface = "",
            .node = 1,
            .link_speed = "16.0 GT/s PCIe x16",
            .link_best = "16.0 GT/s PCIe x16",
            .iommu_group = group,
            .group_members = {}};
}

/// Two sockets of 8 cores, each with a last-level cache; SMT is off, odd cpus are on node 1. All
/// settings are as the feed needs them.
inline Host tuned_server() {
    Host host;
    host.cpu_vendor = "GenuineIntel";
    host.cpu_flags = {"constant_tsc", "nonstop_tsc"};
    for (CpuIndex cpu = 0; cpu < 16; ++cpu) {
        host.cpus.push_back({.index = cpu,
                             .node = cpu % 2,
                             .siblings = {cpu},
                             .cache = cpu % 2 == 0 ? CpuSet{0, 2, 4, 6, 8, 10, 12, 14}
                                                   : CpuSet{1, 3, 5, 7, 9, 11, 13, 15},
                             .governor = "performance",
                             .idle_states = {{0, "POLL", 0, false},
                                             {1, "C1", 2, false},
                                             {2, "C6", 133, cpu == 9 || cpu == 11}}});
        host.allowed_cpus.insert(cpu);
    }
    host.symmetric_threads = false;
    host.isolated = host.tickless = host.callback_free = CpuSet{9, 11, 13, 15};
    constexpr std::size_t two_mebibytes = 2 << 20;
    host.hugepages = {{two_mebibytes, 0, 64, 64}, {two_mebibytes, 1, 512, 512}};
    host.free_bytes = std::size_t{200} << 30;
    host.transparent_hugepages = "madvise";
    host.nics = {nic("0000:3b:00.0", 40), nic("0000:5e:00.0", 61)};
    host.iommu_groups = 120;
    host.vfio_pci = true;
    host.interfaces["eno1"] = {.up = true,
                               .multicast = true,
                               .running = true,
                               .reverse_path_filter = 1,
                               .addresses = {{"10.9.9.9"}},
                               .default_route = true};
    host.interrupts = {{24, "nvme0q1", {0}}, {25, "eno1-rx-0", {1, 2}}};
    host.clock_source = "tsc";
    host.clock_sources = {"tsc", "hpet"};
    host.clock = ClockState{true, 12, 300, 40};
    host.sysctls = {{"net/core/rmem_max", 268435456},
                    {"net/core/netdev_max_backlog", 32768},
                    {"net/ipv4/igmp_max_memberships", 20},
                    {"kernel/numa_balancing", 0}};
    host.limits = HostLimits{std::nullopt, 1048576};
    host.disks = {{"/var/log", std::uint64_t{50} << 30, std::uint64_t{100} << 30}};
    host.shm_huge_pages = "advise";
    host.hugetlbfs = true;
    host.shm = HostDisk{"/dev/shm", std::uint64_t{90} << 30, std::uint64_t{100} << 30};
    host.published = HostFolder{"pinstrike", "pinstrike-data", 02750};
    host.processes = {"systemd", "chronyd"};
    host.recordings["/data/record"] = fast_disk();
    host.writable_folders = {"/data"};
    return host;
}

/// The same machine with its settings as delivered.
inline Host untuned_server() {
    Host host = tuned_server();
    for (HostCpu& cpu : host.cpus) {
        cpu.governor = "powersave";
        cpu.idle_states[2].disabled = false;
    }
    // SMT on: cpu N and N + 16 are one core.
    for (CpuIndex cpu = 0; cpu < 16; ++cpu) {
        host.cpus[static_cast<std::size_t>(cpu)].siblings = {cpu, cpu + 16};
    }
    for (CpuIndex cpu = 16; cpu < 32; ++cpu) {
        host.cpus.push_back({cpu, cpu % 2, {cpu - 16, cpu}, {}, "powersave", {}});
        host.allowed_cpus.insert(cpu);
    }
    host.symmetric_threads = true;
    host.isolated = host.tickless = host.callback_free = CpuSet{};
    for (nic::dpdk::Hugepages& pages : host.hugepages) {
        pages.total_count = pages.free_count = 0;
    }
    host.transparent_hugepages = "always";
    host.iommu_groups = 0;
    host.vfio_pci = false;
    for (HostNic& card : host.nics) {
        card.driver = "ice";
        card.interface = card.address == "0000:3b:00.0" ? "ens1" : "ens2";
        card.firmware = "4.40";
        card.node = 0;
        card.iommu_group.reset();
    }
    host.nics[1].link_speed = "8.0 GT/s PCIe x8";
    host.interfaces["ens1"] = {true, true, true, 1, std::vector<std::string>{}, false};
    host.interfaces["ens2"] = {true, true, true, 1, std::vector<std::string>{}, true};
    host.interrupts = {{24, "nvme0q1", {0}}, {25, "ens1-rx-0", {8, 9}}, {26, "nvme0q9", {11}}};
    host.processes = {"systemd", "irqbalance", "systemd-timesyn"};
    host.irqbalance_seen = true;
    host.clock_source = "hpet";
    host.clock = ClockState{false, 16000000, 16000000, 0};
    host.sysctls["kernel/numa_balancing"] = 1;
    host.sysctls["net/core/rmem_max"] = 212992;
    host.sysctls["net/core/netdev_max_backlog"] = 1000;
    host.limits = HostLimits{8 << 20, 1024};
    host.disks[0].free_bytes = 100 << 20;
    host.shm_huge_pages = "never";
    host.hugetlbfs = false;
    host.shm = HostDisk{"/dev/shm", 64 << 20, 64 << 20};
    host.published = HostFolder{"root", "root", 0755};
    host.recordings["/data/record"] = {{"/data", "tmpfs", 1 << 20, 1 << 20, 0, true, "write back"},
                                       {false, 256 << 20, 10e6, ""}};
    host.writable_folders.clear();
    return host;
}

/// A virtual machine with four processors and an interface for the feed.
inline Host virtual_machine() {
    Host host;
    host.hypervisor = true;
    host.cpu_vendor = "AuthenticAMD";
    host.cpu_flags = {"hypervisor", "constant_tsc"};
    for (CpuIndex cpu = 0; cpu < 4; ++cpu) {
        host.cpus.push_back({cpu, 0, {cpu}, {0, 1, 2, 3}, "", {}});
        host.allowed_cpus.insert(cpu);
    }
    host.symmetric_threads = false;
    host.isolated = CpuSet{};
    host.callback_free = CpuSet{};
    host.hugepages = {{2 << 20, 0, 0, 0}};
    host.free_bytes = std::size_t{8} << 30;
    host.transparent_hugepages = "madvise";
    host.interfaces["eth1"] = {true, true, true, 1, std::vector<std::string>{"10.0.0.5"}, false};
    host.interrupts = {{24, "virtio0-input", {0}}};
    host.clock_source = "kvm-clock";
    host.clock_sources = {"kvm-clock", "tsc"};
    host.clock = ClockState{true, 20, 200, 0};
    host.sysctls = {{"net/core/rmem_max", 212992},
                    {"net/core/netdev_max_backlog", 1000},
                    {"net/ipv4/igmp_max_memberships", 20}};
    host.limits = HostLimits{8 << 20, 1024};
    host.disks = {{"/var/log", std::uint64_t{2} << 30, std::uint64_t{10} << 30}};
    host.processes = {"chronyd"};
    return host;
}

/// A container on that machine with two of its processors, which hides most of the host.
inline Host container() {
    Host host = virtual_machine();
    host.container = "docker";
    host.allowed_cpus = {0, 1};
    host.isolated = host.callback_free = std::nullopt;
    host.interrupts.clear();
    host.hugepages.clear();
    host.clock.reset();
    host.limits.reset();
    host.disks.clear();
    host.processes = {"sh"};
    host.sysctls = {{"net/ipv4/igmp_max_memberships", 20}};  // the others are hidden
    host.interfaces.at("eth1").reverse_path_filter.reset();
    host.interfaces.at("eth1").addresses.reset();
    return host;
}

/// Two cores with SMT; a battery.
inline Host laptop() {
    Host host = virtual_machine();
    host.hypervisor = false;
    host.battery = true;
    host.cpu_flags = {"constant_tsc", "nonstop_tsc"};
    for (HostCpu& cpu : host.cpus) {
        cpu.siblings = cpu.index < 2 ? CpuSet{0, 1} : CpuSet{2, 3};
        cpu.governor = "powersave";
        cpu.idle_states = {{0, "POLL", 0, false}, {3, "C10", 890, false}};
    }
    host.symmetric_threads = true;
    host.clock_source = "tsc";
    host.processes = {"systemd-timesyn"};
    return host;
}

/// The finding of an id; the test fails if there is none.
inline Finding find(const Findings& findings, const std::string& id) {
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding& finding) { return finding.id == id; });
    if (found == findings.end()) {
        ADD_FAILURE() << "no finding " << id;
        return {};
    }
    return *found;
}

/// The findings that are worse than ok, one per line: "error binding.0000:3b:00.0".
inline std::string summary(const Findings& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        if (finding.severity != Severity::ok) {
            text += std::string{word_of(finding.severity)} + " " + finding.id + "\n";
        }
    }
    return text;
}

}  // namespace pinstrike::actors::doctor
