// path: cold
//
// The findings of doctor for hosts that are written by hand.
#include "tests/actors/host/doctor/machines.h"

#include <set>

namespace pinstrike::actors::doctor {
namespace {

TEST(Judge, TunedServerIsWell) {
    const Findings findings = judge(tuned_server(), two_nics());
    // Only the checks that the host itself cannot show.
    EXPECT_EQ(summary(findings),
              "unknown firmware.0000:3b:00.0\n"
              "unknown firmware.0000:5e:00.0\n"
              "unknown membership.a\n"
              "unknown membership.b\n");
    EXPECT_EQ(find(findings, "hugepages.node1").seen, "1,024 MiB free of 1,024 MiB");
    EXPECT_EQ(find(findings, "nic_node.0000:3b:00.0").seen, "node 1; p on cpu 9, node 1");
    EXPECT_EQ(find(findings, "clock").seen,
              "synchronised by chronyd; error 12 us estimated, 300 us at most; offset 0 us");
}

TEST(Judge, UntunedServerGetsAllFindingsAtOnce) {
    const Findings findings = judge(untuned_server(), two_nics());
    EXPECT_EQ(summary(findings),
              "error hugepages.node0\n"
              "error hugepages\n"
              "warning transparent_hugepages\n"
              "warning numa_balancing\n"
              "error iommu\n"
              "error vfio\n"
              "error binding.0000:3b:00.0\n"
              "warning nic_node.0000:3b:00.0\n"
              "unknown firmware.0000:3b:00.0\n"
              "error binding.0000:5e:00.0\n"
              "warning nic_node.0000:5e:00.0\n"
              "warning pcie.0000:5e:00.0\n"
              "unknown firmware.0000:5e:00.0\n"
              "warning smt\n"
              "warning isolcpus\n"
              "warning nohz_full\n"
              "advice rcu_nocbs\n"
              "warning governor\n"
              "advice c_states\n"
              "warning interrupts\n"
              "warning irqbalance\n"
              "warning clock_source\n"
              "warning clock\n"
              "unknown membership.a\n"
              "unknown membership.b\n"
              "warning memlock\n"
              "error disk./var/log\n");
    EXPECT_EQ(worst_of(findings), Severity::error);
}

TEST(Judge, EveryBadFindingSaysWhyAndWhatToDo) {
    for (const Findings& findings :
         {judge(untuned_server(), two_nics()), judge(virtual_machine(), one_interface()),
          judge(container(), one_interface()), judge(laptop(), one_interface())}) {
        std::set<std::string> ids;
        for (const Finding& finding : findings) {
            EXPECT_TRUE(ids.insert(finding.id).second) << finding.id;
            EXPECT_FALSE(finding.what.empty() || finding.seen.empty() || finding.wanted.empty())
                << finding.id;
            if (finding.severity > Severity::unknown) {
                EXPECT_FALSE(finding.why.empty()) << finding.id;
                EXPECT_FALSE(finding.fix.command.empty() && finding.fix.advice.empty())
                    << finding.id;
            } else if (finding.severity == Severity::ok) {
                EXPECT_TRUE(finding.fix.now.empty() && finding.fix.lasting.empty()) << finding.id;
            }
        }
    }
}

std::size_t published_bytes() {
    return publisher("shm").published_shm_bytes;
}

/// The finding about /dev/shm of a size in units of the published memory.
Finding space_in(double free_units, double all_units, bool runs = false) {
    Host host = tuned_server();
    const auto bytes = [](double units) {
        return static_cast<std::uint64_t>(units * static_cast<double>(published_bytes()));
    };
    host.shm = HostDisk{"/dev/shm", bytes(free_units), bytes(all_units)};
    host.processes.insert(runs ? "pinstrike" : "bash");
    return find(judge(host, publisher("shm")), "published_space");
}

TEST(Judge, PublishedMemoryNeedsSpaceForTwoStarts) {
    EXPECT_GT(published_bytes(), std::size_t{500} << 20);
    EXPECT_EQ(space_in(2.1, 2.1).severity, Severity::ok);
    EXPECT_EQ(space_in(0.9, 2.1).severity, Severity::error);
    EXPECT_EQ(space_in(0.9, 2.1, true).severity, Severity::advice);
    EXPECT_EQ(space_in(0.9, 0.9, true).severity, Severity::error);
    const Finding one = space_in(1.1, 1.9);
    EXPECT_EQ(one.severity, Severity::warning);
    EXPECT_NE(one.why.find("earlier start"), std::string::npos);
    EXPECT_TRUE(one.fix.command.starts_with("mount -o remount,size=")) << one.fix.command;
}

TEST(Judge, DevShmOnlyGrows) {
    const auto size_mib = [](double free_units, double all_units) {
        const std::string command = space_in(free_units, all_units).fix.command;
        return std::stod(command.substr(command.find("size=") + 5));
    };
    const double unit_mib = static_cast<double>(published_bytes()) / (1 << 20);
    EXPECT_NEAR(size_mib(0.5, 0.5), 2 * unit_mib + 64, 2);
    EXPECT_NEAR(size_mib(0.5, 10), 10.5 * unit_mib + 64, 2);  // others use 9.5 units
    EXPECT_NEAR(size_mib(1, 1.9), 2 * unit_mib + 64, 2);
}

TEST(Judge, RecordingNeedsAFolderThatTheServiceMayWriteTo) {
    Host host = tuned_server();
    const auto finding = [&](const std::string& folder) {
        return find(judge(host, recorder(1e6, folder)), "record_folder.opra");
    };
    EXPECT_EQ(finding("/data/record").severity, Severity::ok);
    EXPECT_EQ(finding("/data").severity, Severity::ok);
    EXPECT_EQ(finding("default").severity, Severity::ok);
    EXPECT_EQ(finding("/data2/record").severity, Severity::advice);
    EXPECT_NE(finding("record").fix.advice.find("absolute"), std::string::npos);
    host.writable_folders.clear();
    const Finding bad = finding("/data/record");
    EXPECT_EQ(bad.severity, Severity::advice);
    EXPECT_EQ(bad.fix.lasting.front(),
              "keep /etc/systemd/system/pinstrike@.service.d/record-opra.conf '[Service]' "
              "ReadWritePaths=/data/record");
}

TEST(Judge, RecordingNeedsADiskThatIsLargeAndFast) {
    Host host = tuned_server();
    HostRecording& found = host.recordings["/data/record"];
    const auto severity = [&](const std::string& id, double rate) {
        return find(judge(host, recorder(rate)), id + ".opra").severity;
    };
    EXPECT_EQ(severity("record_speed", 4e6), Severity::ok);      // 400 MB/s of 2 GB/s
    EXPECT_EQ(severity("record_speed", 6e6), Severity::advice);  // bursts
    EXPECT_EQ(severity("record_speed", 21e6), Severity::warning);
    EXPECT_EQ(severity("record_space", 1e6), Severity::ok);  // 2.3 TB a day of 3.5
    EXPECT_EQ(severity("record_space", 2e6), Severity::advice);
    EXPECT_EQ(severity("record_direct", 1e6), Severity::ok);
    found.writes.direct = false;
    EXPECT_EQ(severity("record_direct", 1e6), Severity::warning);
    EXPECT_EQ(severity("record_cache", 1e6), Severity::ok);
    found.disk.write_cache = "write back";
    EXPECT_EQ(severity("record_cache", 1e6), Severity::advice);
    found.disk.write_cache = "";
    EXPECT_EQ(severity("record_cache", 1e6), Severity::unknown);
    found.writes = {false, 0, 0, "/data/record: Permission denied"};
    EXPECT_EQ(severity("record_direct", 1e6), Severity::unknown);
    EXPECT_EQ(severity("record_speed", 1e6), Severity::unknown);
    found.disk.free_bytes = found.disk.recorded_bytes = std::uint64_t{1} << 30;
    EXPECT_EQ(severity("record_space", 1e3), Severity::warning);  // two segments and record.free
    host.recordings.clear();
    for (const char* check : {"record_direct", "record_cache", "record_space", "record_speed"}) {
        EXPECT_EQ(severity(check, 1e6), Severity::unknown) << check;
    }
}

TEST(Judge, PublishedMemoryOnHugePagesOfShm) {
    Host host = tuned_server();
    const auto finding = [&] {
        return find(judge(host, publisher("shm")), "published_huge_pages");
    };
    EXPECT_EQ(finding().severity, Severity::ok);
    host.shm_huge_pages = "never";
    EXPECT_EQ(finding().severity, Severity::warning);
    EXPECT_EQ(finding().fix.command, "mount -o remount,huge=advise /dev/shm");
    host.shm_huge_pages = "deny";
    EXPECT_NE(finding().fix.command.find("shmem_enabled"), std::string::npos);
    host.shm_huge_pages = "";
    EXPECT_EQ(finding().severity, Severity::unknown);
}

TEST(Judge, HugepagesHoldPublishedMemoryToo) {
    const Need need = publisher("hugetlbfs");
    Host host = tuned_server();
    const std::size_t pages = 2 * need.published_huge_bytes / (2 << 20);  // also for a restart
    host.hugepages = {{2 << 20, 0, 1, 1}, {2 << 20, 1, pages - 2, pages - 2}};
    EXPECT_EQ(find(judge(host, need), "hugepages").severity, Severity::error);
    host.hugepages[1].total_count = host.hugepages[1].free_count = pages - 1;
    EXPECT_EQ(find(judge(host, need), "hugepages").severity, Severity::ok);
    EXPECT_EQ(find(judge(host, need), "published_hugetlbfs").severity, Severity::ok);
    host.hugetlbfs = false;
    EXPECT_EQ(find(judge(host, need), "published_hugetlbfs").severity, Severity::error);
    host.published.reset();
    EXPECT_EQ(find(judge(host, need), "published_folder").severity, Severity::advice);
}

TEST(Judge, VirtualMachine) {
    const Findings findings = judge(virtual_machine(), one_interface());
    EXPECT_EQ(summary(findings),
              "advice machine\n"
              "warning isolcpus\n"
              "unknown nohz_full\n"
              "advice rcu_nocbs\n"
              "unknown governor\n"
              "unknown c_states\n"
              "warning clock_source\n"
              "warning tsc\n"
              "warning rp_filter.eth1\n"
              "warning rmem_max\n"
              "advice netdev_max_backlog\n"
              "advice disk./var/log\n");
    EXPECT_EQ(find(findings, "rmem_max").fix.command, "sysctl -w net/core/rmem_max=67108864");
    EXPECT_EQ(find(findings, "isolcpus").fix.lasting.front(),
              "boot_parameters isolcpus isolcpus=domain,managed_irq,2-3");
}

TEST(Judge, WhatAContainerDoesNotShowIsNotCalledOk) {
    const Findings findings = judge(container(), one_interface());
    for (const char* id : {"isolcpus", "nohz_full", "rcu_nocbs", "governor", "c_states",
                           "interrupts", "irqbalance", "clock", "nofile", "disk", "rmem_max",
                           "netdev_max_backlog", "rp_filter.eth1", "address.eth1"}) {
        EXPECT_EQ(find(findings, id).severity, Severity::unknown) << id;
    }
    EXPECT_EQ(find(findings, "processors").severity, Severity::error);
    EXPECT_EQ(find(findings, "processors").seen,
              "cpu 2 of p not allowed to this process, cpu 3 of c not allowed to this process");
}

TEST(Judge, NothingSeenIsNothingOk) {
    Host blind;
    for (CpuIndex cpu = 0; cpu < 4; ++cpu) {
        blind.cpus.push_back({cpu, -1, {cpu}, {}, "", {}});
        blind.allowed_cpus.insert(cpu);
    }
    blind.interfaces["eth1"] = {true, true, true, std::nullopt, std::nullopt, false};
    std::set<std::string> well;
    for (const Finding& finding : judge(blind, one_interface())) {
        if (finding.severity == Severity::ok) {
            well.insert(finding.id);
        }
    }
    EXPECT_EQ(well, (std::set<std::string>{"pinning", "processors", "interface.eth1"}));
}

TEST(Judge, Laptop) {
    const Findings findings = judge(laptop(), one_interface());
    EXPECT_EQ(find(findings, "machine").seen, "laptop (has a battery)");
    EXPECT_EQ(find(findings, "smt").seen, "threads that share a core: p (cpu 2) with c (cpu 3)");
    EXPECT_EQ(find(findings, "c_states").seen, "deepest in use: C10, 890 us to wake");
    EXPECT_EQ(find(findings, "clock").severity, Severity::advice);  // timesyncd
    EXPECT_EQ(find(findings, "governor").fix.now.size(), 2U);
}

TEST(Judge, TheScriptTakesOnlyCpusOfflineThatHaveASwitch) {
    Host host = laptop();
    host.cpus[0].can_go_offline = false;  // shares the core of cpu 1
    const auto feed = [](const std::string& core_cpu) {
        return need_of(
            {config_of("lines: 1\nports: [{name: u, kind: uring, interface: eth1}]\n"
                       "pollers: [{name: p, cpu: 1}]\ncores: [{name: c, " +
                       core_cpu + "}]\n")});
    };
    const Finding alone = find(judge(host, feed("wait: park")), "smt");
    EXPECT_EQ(alone.severity, Severity::warning);
    EXPECT_EQ(alone.fix.advice,
              "the kernel cannot take cpu 0 offline: use processors of different cores in the "
              "config (see pinstrike plan)");
    EXPECT_TRUE(alone.fix.now.empty() && alone.fix.lasting.empty());
    const Finding both = find(judge(host, feed("cpu: 3")), "smt");
    EXPECT_EQ(both.fix.command, "echo 0 > /sys/devices/system/cpu/cpu2/online");
    EXPECT_EQ(both.fix.advice, alone.fix.advice);
    EXPECT_EQ(both.fix.now.size(), 1U);
}

TEST(Judge, PollersAndCoresAreWantedOnOneCache) {
    const auto feed = [](const std::string& core_cpus) {
        return need_of(
            {config_of("lines: 1-2\nports: [{name: u, kind: uring, interface: eth1}]\n"
                       "pollers: [{name: p, cpu: 9}]\ncores: [" +
                       core_cpus + "]\n")});
    };
    Host host = tuned_server();
    EXPECT_EQ(find(judge(host, feed("{name: c, cpu: 11}")), "cache").severity, Severity::ok);

    const Need apart = feed("{name: c, cpu: 11}, {name: d, cpu: 2}");
    const Finding finding = find(judge(host, apart), "cache");
    EXPECT_EQ(finding.severity, Severity::advice);
    EXPECT_EQ(finding.seen,
              "d (cpu 2) on that of cpus 0,2,4,6,8,10,12,14; p (cpu 9), c (cpu 11) on that of cpus "
              "1,3,5,7,9,11,13,15");
    EXPECT_EQ(finding.fix.advice,
              "use processors of one cache in the config, such as 1,3,5,7,9,11,13,15");

    // Two caches, none of which has three usable cores.
    host.allowed_cpus = {0, 2, 9, 11};
    EXPECT_EQ(find(judge(host, apart), "cache").severity, Severity::ok);
    EXPECT_EQ(find(judge(host, apart), "cache").wanted,
              "as few as hold all pollers and cores, because none has enough processors");

    host.cpus[2].cache.clear();
    EXPECT_EQ(find(judge(host, apart), "cache").severity, Severity::unknown);
}

TEST(Judge, HugepagesAreWantedWhereTheNicsAre) {
    Host host = tuned_server();
    host.hugepages[1].total_count = host.hugepages[1].free_count = 10;
    host.hugepages[0].total_count = host.hugepages[0].free_count = 4096;  // on the wrong node
    Finding finding = find(judge(host, two_nics()), "hugepages.node1");
    EXPECT_EQ(finding.severity, Severity::error);
    EXPECT_EQ(finding.seen, "20 MiB free of 20 MiB");
    const Need need = two_nics();
    const std::size_t pages =
        (nic::dpdk::memory_need_bytes(need.dpdk) - nic::dpdk::runtime_bytes + (2 << 20) - 1) /
        (2 << 20);
    EXPECT_EQ(finding.fix.command,
              "echo " + std::to_string(pages) +
                  " > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
    // Hugepages that a running instance uses are not missing.
    host.hugepages[1].total_count = 512;
    EXPECT_EQ(find(judge(host, need), "hugepages.node1").severity, Severity::error);
    host.processes.insert("pinstrike");
    EXPECT_EQ(find(judge(host, need), "hugepages.node1").severity, Severity::advice);
}

TEST(Judge, HugepagesForAnyNodeMayBeOnAnother) {
    Need need = two_nics();
    need.published_huge_bytes = std::size_t{200} << 20;
    Host host = tuned_server();
    const std::size_t ports_pages =
        (nic::dpdk::memory_need_bytes(need.dpdk) - nic::dpdk::runtime_bytes) / (2 << 20) + 1;
    const std::size_t other_pages = 200 + nic::dpdk::runtime_bytes / (2 << 20);
    const auto reserve = [&](std::size_t on_node_0, std::size_t on_node_1) {
        host.hugepages[0].total_count = host.hugepages[0].free_count = on_node_0;
        host.hugepages[1].total_count = host.hugepages[1].free_count = on_node_1;
        return judge(host, need);
    };
    const Findings good = reserve(other_pages, ports_pages);
    EXPECT_EQ(find(good, "hugepages.node1").severity, Severity::ok);
    EXPECT_EQ(find(good, "hugepages").severity, Severity::ok);
    const Findings few = reserve(other_pages - 2, ports_pages);
    EXPECT_EQ(find(few, "hugepages.node1").severity, Severity::ok);
    EXPECT_EQ(find(few, "hugepages").severity, Severity::error);
    // The fix for all nodes comes last, and keeps what that of the node added.
    const Findings wrong_node = reserve(ports_pages + other_pages - 2, 0);
    EXPECT_EQ(find(wrong_node, "hugepages.node1").severity, Severity::error);
    EXPECT_EQ(find(wrong_node, "hugepages").fix.command,
              "echo " + std::to_string(2 * ports_pages + other_pages - 2) +
                  " > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
}

TEST(Judge, TwoConfigsAddUpAndMeet) {
    const std::string text =
        "lines: 1-2\nports: [{name: d, kind: dpdk, vdev: net_null0, membership: static}]\n"
        "pollers: [{name: p, cpu: 9}]\ncores: [{name: c, cpu: 11}]\n";
    const Need one = need_of({config_of(text)});
    const Need two = need_of({config_of("name: x\n" + text), config_of("name: y\n" + text)});
    const Findings of_one = judge(tuned_server(), one);
    const Findings of_two = judge(tuned_server(), two);
    EXPECT_NE(find(of_one, "hugepages").wanted, find(of_two, "hugepages").wanted);
    EXPECT_EQ(find(of_one, "processors").severity, Severity::ok);
    EXPECT_EQ(find(of_two, "processors").seen,
              "cpu 9 of y/p is also used by x/p, cpu 11 of y/c is also used by x/c");
}

TEST(Judge, TwoFeedsCannotListenAtOneAddress) {
    const auto feed = [](const std::string& name, const std::string& port) {
        return config_of("name: " + name + "\nlines: 1\nmetrics_address: 127.0.0.1:" + port +
                         "\nports: [{name: u, kind: uring, interface: eth1}]\n"
                         "pollers: [{name: p}]\ncores: [{name: c}]\n");
    };
    const Host host = tuned_server();
    const Findings shared = judge(host, need_of({feed("x", "9464"), feed("y", "9464")}));
    EXPECT_EQ(find(shared, "metrics_address").severity, Severity::error);
    EXPECT_EQ(find(shared, "metrics_address").seen, "127.0.0.1:9464 is used by x and y");
    const Findings apart = judge(host, need_of({feed("x", "9464"), feed("y", "9465")}));
    EXPECT_EQ(find(apart, "metrics_address").severity, Severity::ok);
}

TEST(Judge, GroupsThatOthersHold) {
    Host host = tuned_server();
    host.nics[0].group_members = {{"0000:3a:00.0", "pcieport", true},
                                  {"0000:3b:00.1", "ice", false}};
    host.nics[1].group_members = {{"0000:5d:00.0", "pcieport", true}, {"0000:5e:00.1", "", false}};
    const Findings findings = judge(host, two_nics());
    EXPECT_EQ(find(findings, "iommu_group.0000:3b:00.0").severity, Severity::error);
    EXPECT_EQ(find(findings, "iommu_group.0000:3b:00.0").seen, "group 40, with 0000:3b:00.1 (ice)");
    EXPECT_EQ(find(findings, "iommu_group.0000:5e:00.0").severity, Severity::ok);
}

TEST(Judge, NicsThatShareTheirDriverNeedNoVfio) {
    Host host = tuned_server();
    host.vfio_pci = false;
    host.iommu_groups = 0;
    for (HostNic& card : host.nics) {
        card.driver = "mlx5_core";
    }
    EXPECT_EQ(worst_of(judge(host, two_nics())), Severity::unknown);
    host.nics.pop_back();
    EXPECT_EQ(find(judge(host, two_nics()), "binding.0000:5e:00.0").seen,
              "no network device of this address");
}

TEST(Judge, TheScriptDoesNotBindANicThatCarriesADefaultRoute) {
    Host host = untuned_server();
    const auto fix = [&] {
        return find(judge(host, two_nics()), "binding.0000:5e:00.0").fix;  // ens2
    };
    EXPECT_TRUE(fix().lasting.empty());
    host.interfaces.at("ens2").default_route = false;
    EXPECT_EQ(fix().lasting.size(), 1U);
    host.interfaces.at("ens2").other_default_route = true;
    EXPECT_TRUE(fix().lasting.empty());
    EXPECT_NE(fix().advice.find("ens2 carries the default route"), std::string::npos);
}

TEST(Judge, InterfacesOfUringPorts) {
    Host host = virtual_machine();
    HostInterface& interface = host.interfaces.at("eth1");
    interface.up = false;
    EXPECT_EQ(find(judge(host, one_interface()), "interface.eth1").fix.command,
              "ip link set dev eth1 up");
    interface.up = true;
    interface.running = false;
    EXPECT_EQ(find(judge(host, one_interface()), "interface.eth1").seen, "up, but no carrier");
    interface.addresses->clear();
    EXPECT_EQ(find(judge(host, one_interface()), "address.eth1").severity, Severity::warning);
    interface.reverse_path_filter = 2;
    EXPECT_EQ(find(judge(host, one_interface()), "rp_filter.eth1").severity, Severity::warning);
    interface.default_route = true;
    EXPECT_EQ(find(judge(host, one_interface()), "rp_filter.eth1").severity, Severity::ok);
    host.interfaces.erase("eth1");
    EXPECT_EQ(find(judge(host, one_interface()), "interface.eth1").severity, Severity::error);
}

TEST(Judge, FilesForEverySocket) {
    Host host = virtual_machine();
    host.limits->open_files = 64;
    const Finding finding = find(judge(host, one_interface()), "nofile");
    EXPECT_EQ(finding.severity, Severity::error);
    EXPECT_EQ(finding.wanted, "136 or more");  // 4 lines, 2 streams, and 128 of other kinds
}

TEST(Judge, FilesAreLimitedForEachProcess) {
    const auto feed = [](const std::string& name, const std::string& lines) {
        return config_of("name: " + name + "\nlines: " + lines +
                         "\nports: [{name: u, kind: uring, interface: eth1}]\n"
                         "pollers: [{name: p}]\ncores: [{name: c}]\n");
    };
    const Need both = need_of({feed("x", "1-4"), feed("y", "5-6")});
    EXPECT_EQ(find(judge(virtual_machine(), both), "nofile").wanted, "136 or more");
}

TEST(Judge, ThreadsThatAreNotPinnedAreNotJudgedByProcessor) {
    const Need need = need_of({config_of(
        "lines: 1\nports: [{name: s, kind: sim}]\npollers: [{name: p, wait: park}]\ncores: [{name: "
        "c}]\n")});
    const Findings findings = judge(tuned_server(), need);
    EXPECT_EQ(summary(findings), "warning pinning\n");
    EXPECT_EQ(find(findings, "pinning").seen, "not pinned: c, p");
}

TEST(Judge, IrqbalanceMaySpareHotCpusByItself) {
    Host host = tuned_server();
    host.processes.insert("irqbalance");
    EXPECT_EQ(find(judge(host, two_nics()), "irqbalance").severity, Severity::unknown);
    host.irqbalance_seen = true;  // by default it spares isolated cpus
    EXPECT_EQ(find(judge(host, two_nics()), "irqbalance").severity, Severity::ok);
    host.irqbalance_banned = CpuSet{9};
    EXPECT_EQ(find(judge(host, two_nics()), "irqbalance").severity, Severity::warning);
}

}  // namespace
}  // namespace pinstrike::actors::doctor
