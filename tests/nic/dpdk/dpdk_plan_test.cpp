// path: cold
//
// Tests the decisions of the DPDK port that do not need DPDK: arguments, memory, steering, clock,
// and the checks of the host, with simulated hosts.
#include "nic/capture/capture_writer.h"
#include "nic/dpdk/device_clock.h"
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/eal_arguments.h"
#include "nic/dpdk/host.h"
#include "nic/dpdk/memory_need.h"
#include "nic/dpdk/steering.h"
#include "nic/dpdk/vdev.h"
#include "nic/port.h"
#include "tests/nic/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace pinstrike::nic::dpdk {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

PortConfig vdev_port(std::string name, std::string vdev) {
    PortConfig port;
    port.name = std::move(name);
    port.kind = PortKind::dpdk;
    auto& own = port.own.get<DpdkConfig>();
    own.vdev = std::move(vdev);
    own.hugepages = false;
    return port;
}

PortResources ample_resources() {
    PortResources resources;
    resources.hugepages = {{2 * mebibyte, 0, 4096, 4096}};
    resources.capabilities.effective = ~std::uint64_t{0};
    return resources;
}

std::string texts_of(const Problems& problems) {
    std::string text;
    for (const Problem& problem : problems) {
        text += problem.text + "\n";
    }
    return text;
}

void write_frames(const std::string& path, int count) {
    Problems problems;
    auto writer = CaptureWriter::open(path, problems);
    ASSERT_TRUE(writer) << texts_of(problems);
    for (int i = 0; i < count; ++i) {
        writer->write(udp_frame(route_of_tests, Bytes(static_cast<std::size_t>(10 + i))), i);
    }
    ASSERT_TRUE(writer->close(problems));
}

TEST(Vdev, IsTakenApart) {
    const Vdev vdev = parse_vdev("net_af_xdp_a0,iface=veth1,start_queue=0,force_copy");
    EXPECT_EQ(vdev.name, "net_af_xdp_a0");
    EXPECT_EQ(vdev.driver, "net_af_xdp");
    EXPECT_EQ(vdev.argument("iface"), "veth1");
    EXPECT_EQ(vdev.argument("absent"), std::nullopt);
    EXPECT_EQ(vdev.arguments_text, "iface=veth1,start_queue=0,force_copy");
    EXPECT_EQ(parse_vdev("net_bonding0").driver, "net_bonding");
    EXPECT_EQ(parse_vdev("net_null0").arguments_text, "");
}

TEST(Vdev, EveryLiveInputOfNetPcapIsAnInterface) {
    for (const char* vdev : {"net_pcap0,rx_iface=eth1,tx_iface=eth2", "net_pcap0,iface=eth1"}) {
        const PortConfig port = vdev_port("a", vdev);
        EXPECT_EQ(kernel_interface(port), "eth1") << vdev;
        EXPECT_TRUE(driver_traits(port).kernel_interface) << vdev;
        EXPECT_TRUE(driver_traits(port).counts_missed) << vdev;
    }
    const PortConfig file = vdev_port("a", "net_pcap0,rx_pcap=x,tx_iface=eth2");
    EXPECT_EQ(kernel_interface(file), "");
    EXPECT_FALSE(driver_traits(file).counts_missed);
}

TEST(Vdev, PreloadedCapturesAreThoseRepeated) {
    EXPECT_THAT(preloaded_captures(vdev_port("a", "net_pcap0,rx_pcap=x,rx_pcap=y,infinite_rx=1")),
                ElementsAre("x", "y"));
    EXPECT_TRUE(preloaded_captures(vdev_port("a", "net_pcap0,rx_pcap=x")).empty());
    EXPECT_TRUE(preloaded_captures(vdev_port("a", "net_null0")).empty());
}

TEST(Memory, CountsFramesOfBothFormats) {
    const ScratchDirectory scratch;
    for (const char* name : {"a.pcap", "a.pcapng"}) {
        write_frames(scratch.file(name), 17);
        EXPECT_EQ(count_frames(scratch.file(name)), 17U) << name;
    }
    std::ofstream(scratch.file("text")) << "no capture at all";
    EXPECT_EQ(count_frames(scratch.file("text")), 0U);
    EXPECT_EQ(count_frames(scratch.file("absent")), 0U);
}

TEST(Memory, GrowsWithQueuesDescriptorsAndCaptures) {
    const PortConfig port = vdev_port("a0", "net_null0");
    const MemoryNeed one = memory_need({port, 1});
    EXPECT_GE(one.buffers_per_queue,
              port.own.get<DpdkConfig>().descriptors_count + port.burst_packets);
    EXPECT_GE(one.pool_bytes, one.buffers_per_queue * buffer_bytes);
    EXPECT_EQ(memory_need({port, 3}).total_bytes, 3 * one.total_bytes);
    EXPECT_EQ(memory_need({port, 1, 10'000}).buffers_per_queue, one.buffers_per_queue + 10'000);
    PortConfig deep = port;
    deep.own.get<DpdkConfig>().descriptors_count = 2 * port.own.get<DpdkConfig>().descriptors_count;
    EXPECT_EQ(memory_need({deep, 1, 0}).buffers_per_queue,
              one.buffers_per_queue + port.own.get<DpdkConfig>().descriptors_count);
}

TEST(Memory, TooFewHugepagesAreReportedWithTheCommandThatFixesIt) {
    PortDemand demand{vdev_port("a0", "net_null0"), 1, 0};
    demand.config.own.get<DpdkConfig>().hugepages = true;
    const std::vector<Hugepages> few{{2 * mebibyte, 0, 16, 6}, {1024 * mebibyte, 0, 0, 0}};
    const std::string reported = texts_of(check_hugepages(std::span(&demand, 1), few));
    EXPECT_THAT(reported, HasSubstr("12 MiB are free"));
    EXPECT_THAT(reported, HasSubstr("6 of 16 pages of 2 MiB free on node 0"));
    const std::size_t pages =
        (memory_need_bytes(std::span(&demand, 1)) + 2 * mebibyte - 1) / (2 * mebibyte);
    // 10 pages are in use already.
    EXPECT_THAT(reported, HasSubstr("echo " + std::to_string(10 + pages) +
                                    " > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));

    const std::vector<Hugepages> enough{{2 * mebibyte, 0, pages, pages}};
    EXPECT_TRUE(check_hugepages(std::span(&demand, 1), enough).empty());
    demand.config.own.get<DpdkConfig>().hugepages = false;
    EXPECT_TRUE(check_hugepages(std::span(&demand, 1), {}).empty());
}

TEST(Memory, HugepagesOfTheWrongNodeDoNotHelp) {
    PortDemand demand{vdev_port("a0", "net_null0"), 1, 0, 1};
    demand.config.own.get<DpdkConfig>().hugepages = true;
    const std::vector<Hugepages> elsewhere{{2 * mebibyte, 0, 900, 900}, {2 * mebibyte, 1, 8, 4}};
    const std::string reported = texts_of(check_hugepages(std::span(&demand, 1), elsewhere));
    EXPECT_THAT(reported, HasSubstr("on NUMA node 1 need"));
    EXPECT_THAT(reported, HasSubstr("8 MiB are free"));
    const std::size_t pages = (memory_need(demand).total_bytes + 2 * mebibyte - 1) / (2 * mebibyte);
    EXPECT_THAT(reported, HasSubstr("echo " + std::to_string(4 + pages) +
                                    " > /sys/devices/system/node/node1/hugepages/"));
    demand.node = 0;
    EXPECT_TRUE(check_hugepages(std::span(&demand, 1), elsewhere).empty());
}

TEST(Memory, IsSaidInWords) {
    PortDemand demand{vdev_port("a0", "net_null0"), 2, 0};
    demand.config.own.get<DpdkConfig>().hugepages = true;
    EXPECT_THAT(memory_need_text(std::span(&demand, 1)), HasSubstr("port a0: 2 queues x "));
    EXPECT_THAT(memory_need_text(std::span(&demand, 1)), HasSubstr("hugepages of 2 MiB"));
}

TEST(Memory, CountsPacketsThatAreKeptAndBothRingsOfAnAfXdpSocket) {
    PortConfig port = vdev_port("a0", "net_null0");
    const std::size_t plain = memory_need({port, 1}).buffers_per_queue;
    port.keeps_packets = true;
    EXPECT_EQ(memory_need({port, 1}).buffers_per_queue, plain + kept_packets_max);
    const PortConfig xdp = vdev_port("a0", "net_af_xdp0,iface=lo");
    EXPECT_EQ(memory_need({xdp, 1}).buffers_per_queue,
              plain + xdp.own.get<DpdkConfig>().descriptors_count);
}

TEST(HugepagesNeeded, ByNodeAndAnywhere) {
    PortConfig port = vdev_port("a", "net_null0");
    const PortDemand ordinary{port, 2, 0, -1};
    EXPECT_TRUE(hugepages_needed(std::span(&ordinary, 1)).empty());
    EXPECT_TRUE(hugepages_needed({}).empty());
    port.own.get<DpdkConfig>().hugepages = true;
    const std::array ports{PortDemand{port, 2, 0, 1}, PortDemand{port, 1, 0, 0},
                           PortDemand{port, 1, 0, 1}};
    const auto pages = hugepages_needed(ports);
    ASSERT_EQ(pages.size(), 3U);
    EXPECT_EQ(pages.at(-1), runtime_bytes / (2 * mebibyte));
    const std::size_t bytes_of_one =
        memory_need(ports[0]).total_bytes + memory_need(ports[2]).total_bytes;
    EXPECT_EQ(pages.at(1), (bytes_of_one + 2 * mebibyte - 1) / (2 * mebibyte));
    // The pages that hugepages_needed() lists are enough for the start.
    const std::array<Hugepages, 2> there{Hugepages{2 * mebibyte, 0, 0, pages.at(0) + pages.at(-1)},
                                         Hugepages{2 * mebibyte, 1, 0, pages.at(1)}};
    EXPECT_TRUE(check_hugepages(ports, there).empty());
}

TEST(Host, ReadsHugepagesByNodeAndSize) {
    const ScratchDirectory scratch;
    namespace fs = std::filesystem;
    const auto make = [&](const std::string& folder, int total, int available) {
        fs::create_directories(scratch.file(folder));
        std::ofstream(scratch.file(folder + "/nr_hugepages")) << total;
        std::ofstream(scratch.file(folder + "/free_hugepages")) << available;
    };
    make("devices/system/node/node1/hugepages/hugepages-2048kB", 8, 7);
    make("devices/system/node/node0/hugepages/hugepages-2048kB", 4, 4);
    make("devices/system/node/node0/hugepages/hugepages-1048576kB", 1, 0);
    const std::vector<Hugepages> pages = read_hugepages(scratch.file(""));
    ASSERT_EQ(pages.size(), 3U);
    EXPECT_EQ(pages[0].node, 0U);
    EXPECT_EQ(pages[1].node, 1U);
    EXPECT_EQ(pages[1].free_count, 7U);
    EXPECT_EQ(pages[2].page_bytes, 1024 * mebibyte);
}

TEST(Arguments, WithoutHugepagesMemoryIsCounted) {
    const PortDemand demand{vdev_port("a0", "net_null0"), 1, 0};
    const std::vector<std::string> arguments = eal_arguments(std::span(&demand, 1), 3);
    EXPECT_THAT(arguments, Contains("--no-huge"));
    EXPECT_THAT(arguments, Contains("--no-shconf"));
    EXPECT_THAT(arguments, Contains("--no-pci"));
    EXPECT_THAT(arguments, Contains("--lcores=0@3"));
    EXPECT_THAT(arguments, Not(Contains("--in-memory")));
}

TEST(Arguments, WithHugepagesNothingIsLeftBehindAndOnlyOurDevicesAreTaken) {
    PortConfig port = vdev_port("a0", "");
    auto& own = port.own.get<DpdkConfig>();
    own.hugepages = true;
    own.pci = "0000:3b:00.0";
    own.eal = {"--log-level=pmd:debug"};
    const PortDemand demand{port, 1};
    const std::vector<std::string> arguments = eal_arguments(std::span(&demand, 1), 0);
    EXPECT_THAT(arguments, Contains("--in-memory"));
    EXPECT_THAT(arguments, Not(Contains("--no-huge")));  // they exclude each other
    EXPECT_THAT(arguments, Not(Contains("--no-pci")));
    EXPECT_THAT(arguments, Contains("0000:3b:00.0"));
    EXPECT_THAT(arguments, Contains("--log-level=pmd:debug"));
}

TEST(Check, EveryProblemIsReportedAtOnce) {
    const ScratchDirectory scratch;
    std::ofstream(scratch.file("text")) << "no capture at all";
    PortConfig pci = vdev_port("p", "");
    pci.own.get<DpdkConfig>().pci = "0000:3b:00.0";
    PortConfig contradicting = vdev_port("eal", "net_null8");
    contradicting.own.get<DpdkConfig>().eal = {"--lcores=1"};
    const std::vector<PortDemand> demands{
        {pci, 1, 0},
        {contradicting, 1, 0},
        {vdev_port("iface", "net_af_xdp0,iface=nosuch0"), 1, 0},
        {vdev_port("noiface", "net_af_packet0"), 1, 0},
        {vdev_port("absent", "net_pcap0,rx_pcap=/nosuch.pcap"), 1, 0},
        {vdev_port("text", "net_pcap1,rx_pcap=" + scratch.file("text")), 1, 0},
        {vdev_port("queues", "net_pcap2,rx_pcap=/nosuch.pcap"), 2, 0},
    };
    PortResources resources = ample_resources();
    resources.sys = scratch.file("sys");
    const std::string reported = texts_of(check_ports(demands, resources));
    EXPECT_THAT(reported, HasSubstr("port p: found no PCI device 0000:3b:00.0"));
    EXPECT_THAT(reported, HasSubstr("port eal: EAL argument --lcores follows from the config"));
    EXPECT_THAT(reported, HasSubstr("port iface: found no interface nosuch0"));
    EXPECT_THAT(reported, HasSubstr("port noiface: net_af_packet0 names no interface"));
    EXPECT_THAT(reported, HasSubstr("port absent: cannot read the capture /nosuch.pcap"));
    EXPECT_THAT(reported, HasSubstr("is not a pcap or pcapng file with frames"));
    EXPECT_THAT(reported, HasSubstr("port queues: net_pcap has one queue per rx_pcap: 1 given, 2"));
}

TEST(Check, RightsAndLimitsAreReportedByName) {
    PortResources resources;
    resources.memory_lock_bytes = 8 * mebibyte;
    const PortDemand demand{vdev_port("a0", "net_af_xdp0,iface=lo"), 1, 0};
    const std::string reported = texts_of(check_ports(std::span(&demand, 1), resources));
    EXPECT_THAT(reported, HasSubstr("CAP_NET_RAW"));
    EXPECT_THAT(reported, HasSubstr("CAP_NET_ADMIN"));
    EXPECT_THAT(reported, HasSubstr("CAP_SYS_ADMIN"));
    EXPECT_THAT(reported, HasSubstr("the limit is 8 MiB: LimitMEMLOCK=infinity"));
    EXPECT_TRUE(check_ports(std::span(&demand, 1), ample_resources()).empty());
}

TEST(Check, PciDeviceOfTheKernelIsReportedWithTheBindingCommand) {
    const ScratchDirectory scratch;
    namespace fs = std::filesystem;
    const std::string devices = "sys/bus/pci/devices/";
    fs::create_directories(scratch.file(devices + "0000:01:00.0"));
    fs::create_directories(scratch.file(devices + "0000:01:00.1"));
    fs::create_symlink("../drivers/e1000e", scratch.file(devices + "0000:01:00.0/driver"));
    fs::create_symlink("../drivers/vfio-pci", scratch.file(devices + "0000:01:00.1/driver"));
    PortConfig held = vdev_port("a0", "");
    held.own.get<DpdkConfig>().pci = "0000:01:00.0";
    PortConfig bound = vdev_port("b0", "");
    bound.own.get<DpdkConfig>().pci = "0000:01:00.1,mprq_en=1";
    const std::vector<PortDemand> demands{{held, 1, 0}, {bound, 1, 0}};
    PortResources resources = ample_resources();
    resources.sys = scratch.file("sys");
    const Problems problems = check_ports(demands, resources);
    ASSERT_EQ(problems.size(), 1U) << texts_of(problems);
    EXPECT_THAT(problems[0].text, HasSubstr("held by e1000e"));
    EXPECT_THAT(problems[0].text, HasSubstr("driverctl set-override 0000:01:00.0 vfio-pci"));
}

TEST(Steering, OneQueueNeedsNoRules) {
    Problems problems;
    const std::vector<std::vector<Group>> groups{{{{0xE000CC01}, 45001}}};
    EXPECT_TRUE(plan_steering({}, groups, problems).empty());
    EXPECT_TRUE(problems.empty());
}

TEST(Steering, OtherQueuesGetARuleAGroup) {
    const Group first{{0xE000CC01}, 45001};
    const Group second{{0xE000CC02}, 45002};
    const Group third{{0xE000CC03}, 45003};
    Problems problems;
    const auto rules = plan_steering({}, {{first}, {second, second, third}}, problems);
    EXPECT_THAT(rules, ElementsAre(SteeringRule{second, 1}, SteeringRule{third, 1}));
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(text_of(rules[0]), "224.0.204.2:45002 to queue 1");
}

TEST(Steering, AGroupOnTwoQueuesIsAProblem) {
    const Group group{{0xE000CC01}, 45001};
    Problems problems;
    (void)plan_steering({}, {{group}, {group}}, problems);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems[0].text, HasSubstr("224.0.204.1:45001 is needed on queues 0 and 1"));
}

TEST(DeviceClock, FollowsRateAndOrigin) {
    DeviceClock clock;
    constexpr std::int64_t start_ns = 1'700'000'000'000'000'000;
    EXPECT_EQ(clock.wall_ns(5, start_ns), start_ns);  // not calibrated yet: the burst's time
    clock.calibrate(1'000'000, start_ns);
    EXPECT_FALSE(clock.usable());
    clock.calibrate(1'000'000 + 156'250'000, start_ns + 1'000'000'000);  // 156.25 MHz: 6.4 ns
    ASSERT_TRUE(clock.usable());
    const std::int64_t now_ns = start_ns + 1'000'500'000;
    EXPECT_NEAR(static_cast<double>(clock.wall_ns(1'000'000 + 156'250'000 + 78'125, now_ns) -
                                    start_ns - 1'000'500'000),
                0, 2);
    EXPECT_NEAR(static_cast<double>(clock.wall_ns(1'000'000 + 156'250'000 - 15'625, now_ns) -
                                    start_ns - 999'900'000),
                0, 2);
}

TEST(DeviceClock, UnbelievableStampsAndClocksAreIgnored) {
    DeviceClock clock;
    clock.calibrate(0, 1'000'000'000);
    clock.calibrate(1'000'000'000, 2'000'000'000);
    ASSERT_TRUE(clock.usable());
    // The stamp is 4 s ahead.
    EXPECT_EQ(clock.wall_ns(5'000'000'000, 2'000'000'000), 2'000'000'000);
    clock.calibrate(1'000'000'000, 3'000'000'000);  // the clock did not advance
    EXPECT_FALSE(clock.usable());
    clock.calibrate(2'000'000'000, 4'000'000'000);
    EXPECT_TRUE(clock.usable());
}

}  // namespace
}  // namespace pinstrike::nic::dpdk
