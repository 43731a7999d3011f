// path: cold
//
// Reads a host from a folder of /proc and /sys files that the test writes.
#include "actors/host/doctor/read_files.h"
#include "actors/host/doctor/read_host.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pinstrike::actors::doctor {
namespace {

namespace fs = std::filesystem;

class ReadHost : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "pinstrike-doctor-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
    }

    void TearDown() override {
        std::error_code error;
        fs::remove_all(root_, error);
    }

    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file, std::ios::binary) << text;
    }

    void link(const std::string& from, const std::string& to) const {
        fs::create_directories((root_ / from).parent_path());
        fs::create_directories((root_ / from).parent_path() / to);
        fs::create_directory_symlink(to, root_ / from);
    }

    void write_cpus() const {
        const std::string cpus = "sys/devices/system/cpu/";
        write(cpus + "online", "0-2\n");
        write(cpus + "isolated", "2\n");
        write(cpus + "nohz_full", "(null)\n");
        write(cpus + "smt/active", "1\n");
        write(cpus + "cpu1/online", "1\n");
        write(cpus + "cpu1/topology/thread_siblings_list", "1,3\n");
        write(cpus + "cpu1/cache/index2/level", "2\n");
        write(cpus + "cpu1/cache/index2/shared_cpu_list", "1,3\n");
        write(cpus + "cpu1/cache/index3/level", "3\n");
        write(cpus + "cpu1/cache/index3/shared_cpu_list", "0-3\n");
        write(cpus + "cpu1/cpufreq/scaling_governor", "powersave\n");
        write(cpus + "cpu1/cpuidle/state10/name", "C10\n");
        write(cpus + "cpu1/cpuidle/state10/latency", "890\n");
        write(cpus + "cpu1/cpuidle/state10/disable", "1\n");
        write(cpus + "cpu1/cpuidle/state2/name", "C1E\n");
        write(cpus + "cpu1/cpuidle/state2/latency", "10\n");
        write("sys/devices/system/node/node1/cpulist", "1-2\n");
        write("proc/cmdline", "quiet isolcpus=2 rcu_nocbs=1-2 nohz_full=0\n");
        write("proc/self/status", "Name:\tx\nCapEff:\t0000000000004000\nCpus_allowed_list:\t0,2\n");
        write("proc/cpuinfo",
              "vendor_id\t: GenuineIntel\nflags\t\t: tsc nonstop_tsc\n"
              "vmx flags\t: vnmi\n");
    }

    void write_nic() const {
        const std::string nic = "sys/bus/pci/devices/0000:3b:00.0/";
        write(nic + "class", "0x020000\n");
        write(nic + "numa_node", "1\n");
        write(nic + "current_link_speed", "8.0 GT/s PCIe\n");
        write(nic + "current_link_width", "8\n");
        write(nic + "max_link_speed", "16.0 GT/s PCIe\n");
        write(nic + "max_link_width", "16\n");
        write(nic + "net/ens1/flags", "0x1003\n");
        link(nic + "driver", "../../drivers/ice");
        write("sys/bus/pci/drivers/ice/module/version", "1.9.11\n");
        link(nic + "iommu_group", "../../../../kernel/iommu_groups/17");
        write("sys/kernel/iommu_groups/17/devices/0000:3b:00.0/class", "0x020000\n");
        write("sys/kernel/iommu_groups/17/devices/0000:3a:00.0/class", "0x060400\n");
        write("sys/bus/pci/devices/0000:01:00.0/class", "0x010802\n");  // a disk
    }

    fs::path root_;
};

TEST_F(ReadHost, Processors) {
    write_cpus();
    const Host host = read_host(root_);
    ASSERT_EQ(host.cpus.size(), 3U);
    const HostCpu& cpu = host.cpus[1];
    EXPECT_EQ(cpu.siblings, (CpuSet{1, 3}));
    EXPECT_EQ(cpu.cache, (CpuSet{0, 1, 2, 3}));
    EXPECT_EQ(host.cpus[0].cache, CpuSet{});
    EXPECT_EQ(cpu.governor, "powersave");
    EXPECT_TRUE(cpu.can_go_offline && !host.cpus[0].can_go_offline);
    EXPECT_EQ(cpu.node, 1);
    EXPECT_EQ(host.cpus[0].node, -1);
    ASSERT_EQ(cpu.idle_states.size(), 2U);  // by number, not by name
    EXPECT_EQ(cpu.idle_states[0].name, "C1E");
    EXPECT_EQ(cpu.idle_states[1].exit_us, 890U);
    EXPECT_TRUE(cpu.idle_states[1].disabled);
    EXPECT_EQ(host.isolated, CpuSet{2});
    EXPECT_EQ(host.tickless, CpuSet{});
    EXPECT_EQ(host.callback_free, (CpuSet{0, 1, 2}));
    EXPECT_EQ(host.allowed_cpus, (CpuSet{0, 2}));
    EXPECT_EQ(host.symmetric_threads, true);
    EXPECT_EQ(host.cpu_vendor, "GenuineIntel");
    EXPECT_EQ(host.cpu_flags, (std::set<std::string>{"tsc", "nonstop_tsc"}));
    EXPECT_TRUE(host.capabilities.has(nic::dpdk::Capabilities::ipc_lock));
    EXPECT_FALSE(host.capabilities.has(nic::dpdk::Capabilities::net_admin));
}

TEST_F(ReadHost, FoldersThatDropInsLetTheServiceWriteTo) {
    const std::string units = "etc/systemd/system/";
    write(units + "pinstrike@.service.d/record.conf", "[Service]\nReadWritePaths=/data -/more\n");
    write(units + "pinstrike@opra.service.d/a.conf", "[Service]\nReadWritePaths=/opra\n");
    write(units + "other.service.d/a.conf", "[Service]\nReadWritePaths=/other\n");
    EXPECT_EQ(read_host(root_).writable_folders,
              (std::set<std::string>{"/data", "/more", "/opra"}));
}

TEST_F(ReadHost, Nics) {
    write_nic();
    const Host host = read_host(root_);
    ASSERT_EQ(host.nics.size(), 1U);
    const HostNic& nic = host.nics.front();
    EXPECT_EQ(nic.address, "0000:3b:00.0");
    EXPECT_EQ(nic.driver, "ice");
    EXPECT_EQ(nic.driver_version, "1.9.11");
    EXPECT_EQ(nic.interface, "ens1");
    EXPECT_EQ(nic.node, 1);
    EXPECT_EQ(nic.link_speed, "8.0 GT/s PCIe x8");
    EXPECT_EQ(nic.link_best, "16.0 GT/s PCIe x16");
    EXPECT_EQ(nic.iommu_group, 17U);
    ASSERT_EQ(nic.group_members.size(), 1U);
    EXPECT_TRUE(nic.group_members.front().bridge);
    EXPECT_EQ(host.iommu_groups, 1U);
    EXPECT_FALSE(host.vfio_pci);
}

TEST_F(ReadHost, InterfacesAndInterrupts) {
    write("sys/class/net/eth1/flags", "0x1003\n");
    write("sys/class/net/eth1/carrier", "1\n");
    write("sys/class/net/bonding_masters", "\n");
    write("proc/sys/net/ipv4/conf/all/rp_filter", "2\n");
    write("proc/sys/net/ipv4/conf/eth1/rp_filter", "1\n");
    write("proc/net/route", "Iface\tDestination\tGateway\neth1\t00000000\t010200C0\n");
    write("proc/irq/24/effective_affinity_list", "3\n");
    write("proc/irq/24/eth1-rx-0/x", "");
    write("proc/irq/25/effective_affinity_list", "\n");
    write("proc/irq/25/smp_affinity_list", "0-3\n");
    write("proc/irq/25/nvme0q1/x", "");
    write("proc/irq/26/smp_affinity_list", "0\n");  // of no interface
    const Host host = read_host(root_);
    ASSERT_EQ(host.interfaces.size(), 1U);
    const HostInterface& interface = host.interfaces.at("eth1");
    EXPECT_TRUE(interface.up && interface.multicast && interface.running);
    EXPECT_TRUE(interface.default_route);
    EXPECT_EQ(interface.reverse_path_filter, 2);
    EXPECT_FALSE(interface.addresses);
    ASSERT_EQ(host.interrupts.size(), 2U);
    EXPECT_EQ(host.interrupts[0].name, "eth1-rx-0");
    EXPECT_EQ(host.interrupts[0].cpus, CpuSet{3});
    EXPECT_EQ(host.interrupts[1].cpus, (CpuSet{0, 1, 2, 3}));
}

TEST_F(ReadHost, InterfacesBelowThatOfADefaultRoute) {
    for (const char* name : {"bond0.7", "bond0", "ens1", "ens2", "ens3", "br0", "ens4"}) {
        write(std::string("sys/class/net/") + name + "/flags", "0x1003\n");
    }
    link("sys/class/net/bond0.7/lower_bond0", "../bond0");
    link("sys/class/net/bond0/lower_ens1", "../ens1");
    link("sys/class/net/bond0/lower_ens2", "../ens2");
    link("sys/class/net/br0/lower_ens4", "../ens4");
    write("proc/net/route",
          "Iface\tDestination\tGateway\n"
          "ens3\t000200C0\t00000000\n"
          "bond0.7\t00000000\t010200C0\n");
    const std::string none(32, '0');
    write("proc/net/ipv6_route",
          none + " 00 " + none +
              " 00 fe800000000000000000000000000001 00000400 00000001 00000000 " +
              "00000003      br0\n" + "20010db8000000000000000000000000 40 " + none + " 00 " +
              none + " 00000100 00000001 00000000 00000001     ens3\n");
    const Host host = read_host(root_);
    for (const char* name : {"bond0.7", "bond0", "ens1", "ens2", "br0", "ens4"}) {
        EXPECT_TRUE(host.interfaces.at(name).other_default_route) << name;
        EXPECT_EQ(host.interfaces.at(name).default_route, name == std::string("bond0.7")) << name;
    }
    EXPECT_FALSE(host.interfaces.at("ens3").other_default_route);
}

TEST_F(ReadHost, MemoryTimeLimitsAndProcesses) {
    write("sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "12\n");
    write("sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages", "7\n");
    write("proc/meminfo", "MemTotal:  16 kB\nMemAvailable:    8 kB\n");
    write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always advise [never] deny force\n");
    write("proc/self/mounts",
          "tmpfs /run tmpfs rw,huge=always 0 0\n"
          "tmpfs /dev/shm tmpfs rw,nosuid,size=1024k,huge=advise,inode64 0 0\n"
          "none /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n");
    write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    write("sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm\n");
    write("proc/sys/net/core/rmem_max", "212992\n");
    write("proc/self/limits",
          "Limit                     Soft Limit           Hard Limit           Units     \n"
          "Max open files            1024                 4096                 files     \n"
          "Max locked memory         unlimited            unlimited            bytes     \n");
    write("proc/77/comm", "irqbalance\n");
    write("proc/77/environ", std::string("A=b\0IRQBALANCE_BANNED_CPULIST=2-3\0", 34));
    write("proc/78/comm", "chronyd\n");
    write("sys/class/power_supply/BAT0/type", "Battery\n");
    write(".dockerenv", "");
    const Host host = read_host(root_);
    ASSERT_EQ(host.hugepages.size(), 1U);
    EXPECT_EQ(host.hugepages[0].free_count, 7U);
    EXPECT_EQ(host.free_bytes, 8192U);
    EXPECT_EQ(host.transparent_hugepages, "always");
    EXPECT_EQ(host.shm_huge_pages, "advise");
    EXPECT_TRUE(host.hugetlbfs);
    EXPECT_EQ(host.clock_source, "hpet");
    EXPECT_FALSE(host.clock_sources.contains("tsc"));
    EXPECT_EQ(host.sysctls.at("net/core/rmem_max"), 212992);
    ASSERT_TRUE(host.limits);
    EXPECT_EQ(host.limits->open_files, 1024U);
    EXPECT_FALSE(host.limits->locked_bytes);
    EXPECT_EQ(host.irqbalance_banned, (CpuSet{2, 3}));
    EXPECT_TRUE(host.irqbalance_seen);
    EXPECT_TRUE(host.runs("chronyd"));
    EXPECT_TRUE(host.battery);
    EXPECT_EQ(host.container, "docker");
}

TEST_F(ReadHost, HugePagesOfShmAreNeverUsedWithoutTheOptionOfItsMount) {
    write("proc/self/mounts", "tmpfs /dev/shm tmpfs rw,size=1024k 0 0\n");
    write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always [advise] never deny force\n");
    EXPECT_EQ(read_host(root_).shm_huge_pages, "never");
    write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always advise never [deny] force\n");
    EXPECT_EQ(read_host(root_).shm_huge_pages, "deny");
}

TEST_F(ReadHost, AnEmptyFolderShowsNothing) {
    const Host host = read_host(root_);
    EXPECT_TRUE(host.shm_huge_pages.empty() && !host.hugetlbfs);
    EXPECT_TRUE(host.cpus.empty() && host.nics.empty() && host.interfaces.empty());
    EXPECT_FALSE(host.symmetric_threads || host.isolated || host.tickless || host.callback_free ||
                 host.limits || host.free_bytes || host.clock);
}

TEST(ReadFiles, ListsOfCpus) {
    EXPECT_EQ(parse_cpus("0-2,7"), (CpuSet{0, 1, 2, 7}));
    EXPECT_EQ(parse_cpus(""), CpuSet{});
    for (const char* wrong : {"x", "1-", "3-1", "1,,2", "1,", "-1", "0-99999999", "1:2"}) {
        EXPECT_FALSE(parse_cpus(wrong)) << wrong;
    }
    EXPECT_EQ(cpus_text({0, 1, 2, 7, 9, 10}), "0-2,7,9-10");
    EXPECT_EQ(chosen_word("always [madvise] never"), "madvise");
    EXPECT_EQ(chosen_word("] odd ["), "] odd [");
}

TEST(ReadFiles, ThisHost) {
    Host host = read_host();
    ask_kernel(host);
    EXPECT_FALSE(host.cpus.empty());
    EXPECT_FALSE(host.allowed_cpus.empty());
    EXPECT_TRUE(host.interfaces.contains("lo"));
    EXPECT_FALSE(host.disks.empty());
}

}  // namespace
}  // namespace pinstrike::actors::doctor
