// path: cold
//
// Real ports of drivers that need no NIC, in one process, because EAL can be started only once. The
// tests run without hugepages, and with the argument --hugepages with them.
#include "config/time_units.h"
#include "nic/capture/capture_writer.h"
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/eal.h"
#include "nic/dpdk/host.h"
#include "nic/multicast/igmp.h"
#include "nic/open_port.h"
#include "nic/packet/datagram.h"
#include "tests/nic/frames.h"
#include "tests/nic/multicast/igmp_queries.h"
#include "tests/nic/port_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace pinstrike::nic {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool with_hugepages = false;
std::shared_ptr<dpdk::Eal> eal;
std::string eal_log;
cpu_set_t cpus_before;
cpu_set_t cpus_after;

const Group group{{0xE000CC01}, 45001};

PortConfig vdev_port(std::string vdev) {
    PortConfig port;
    port.name = "a0";
    port.kind = PortKind::dpdk;
    auto& own = port.own.get<dpdk::DpdkConfig>();
    own.vdev = std::move(vdev);
    own.hugepages = with_hugepages;
    own.descriptors_count = 512;
    own.membership = dpdk::Membership::fixed;
    return port;
}

std::string texts_of(const Problems& problems) {
    std::string text;
    for (const Problem& problem : problems) {
        text += problem.text + "\n";
    }
    return text;
}

std::unique_ptr<Port> open_one(const PortConfig& config) {
    Problems problems;
    auto ports = open_port(config, {{group}}, {}, problems);
    EXPECT_TRUE(problems.empty()) << texts_of(problems);
    return ports.empty() ? nullptr : std::move(ports.front());
}

std::string refusal(const PortConfig& config, const GroupsByQueue& groups = {{group}}) {
    Problems problems;
    EXPECT_TRUE(open_port(config, groups, {}, problems).empty());
    return texts_of(problems);
}

/// Writes a capture of frames of different lengths. Each payload begins with the frame's number.
std::vector<Bytes> write_capture(const std::string& path, int count, std::uint16_t vlan = 0) {
    std::vector<Bytes> frames;
    Problems problems;
    auto writer = CaptureWriter::open(path, problems);
    for (int i = 0; i < count; ++i) {
        Bytes payload(static_cast<std::size_t>(20 + (i * 37) % 980));
        std::memcpy(payload.data(), &i, sizeof i);
        UdpRoute route = route_of_tests;
        route.vlan = vlan;
        frames.push_back(udp_frame(route, payload));
        writer->write(frames.back(), i * 1000);
    }
    EXPECT_TRUE(writer->close(problems));
    return frames;
}

TEST(PortContract, DpdkOnACapture) {
    const ScratchDirectory scratch;
    port_contract([&](const std::vector<Bytes>& frames) {
        Problems problems;
        auto writer = CaptureWriter::open(scratch.file("a.pcap"), problems);
        for (const Bytes& frame : frames) {
            writer->write(frame, 0);
        }
        EXPECT_TRUE(writer->close(problems));
        return open_one(vdev_port("net_pcap0,rx_pcap=" + scratch.file("a.pcap")));
    });
}

TEST(DpdkPort, HandsOutEveryFrameOfACaptureInOrder) {
    const ScratchDirectory scratch;
    const auto frames = write_capture(scratch.file("a.pcap"), 1000, 7);
    const auto port = open_one(vdev_port("net_pcap0,rx_pcap=" + scratch.file("a.pcap")));
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(port->name(), "a0");
    std::array<Packet, 64> burst;
    std::size_t seen = 0;
    std::uint64_t bytes = 0;
    for (std::int64_t now_ns = 1; now_ns < 1000 && seen < frames.size(); ++now_ns) {
        const std::size_t count = port->receive(burst, now_ns);
        for (std::size_t i = 0; i < count; ++i, ++seen) {
            ASSERT_EQ(text_of(burst[i].frame()), text_of(frames[seen])) << seen;
            EXPECT_EQ(burst[i].ts_receive_ns, now_ns);
            EXPECT_EQ(burst[i].udp_checksum, Checksum::unknown);  // no hardware verified it
            bytes += burst[i].length_bytes;
        }
    }
    EXPECT_EQ(seen, frames.size());
    EXPECT_EQ(port->receive(burst, 1000), 0U);
    EXPECT_EQ(port->counters().read(nic::PortCount::packets), frames.size());
    EXPECT_EQ(port->counters().read(nic::PortCount::bytes), bytes);
    EXPECT_EQ(port->counters().read(nic::PortCount::full_bursts), frames.size() / 64);
    const DeviceStatistics statistics = port->statistics();
    EXPECT_EQ(statistics.missed, std::nullopt);  // net_pcap does not count missed packets of a file
    EXPECT_EQ(statistics.errors, 0U);
    EXPECT_EQ(statistics.no_buffer, 0U);
    EXPECT_FALSE(port->exhausted());
}

TEST(DpdkPort, ARepeatedCaptureNeverEndsAndLosesNoBuffer) {
    const ScratchDirectory scratch;
    const auto frames = write_capture(scratch.file("a.pcap"), 100);
    const auto port =
        open_one(vdev_port("net_pcap0,infinite_rx=1,rx_pcap=" + scratch.file("a.pcap")));
    ASSERT_NE(port, nullptr);
    std::array<Packet, 48> burst;
    std::size_t seen = 0;
    for (int round = 0; round < 20'000; ++round) {  // uses every buffer a hundred times
        const std::size_t count = port->receive(burst, round);
        ASSERT_GT(count, 0U) << round;
        for (std::size_t i = 0; i < count; ++i, ++seen) {
            ASSERT_EQ(burst[i].length_bytes, frames[seen % frames.size()].size()) << seen;
        }
    }
    EXPECT_EQ(port->counters().read(nic::PortCount::packets), seen);
}

/// A packet that its port keeps, and its expected content.
struct KeptPacket {
    Packet packet;
    const Bytes* frame;
};

void expect_whole(const KeptPacket& kept) {
    ASSERT_EQ(kept.packet.length_bytes, kept.frame->size());
    ASSERT_EQ(std::memcmp(kept.packet.bytes, kept.frame->data(), kept.frame->size()), 0);
}

TEST(DpdkPort, KeptBurstsStayAsTheyAreUntilTheyAreGivenBack) {
    const ScratchDirectory scratch;
    const auto frames = write_capture(scratch.file("a.pcap"), 100);
    PortConfig config = vdev_port("net_pcap0,infinite_rx=1,rx_pcap=" + scratch.file("a.pcap"));
    config.keeps_packets = true;
    const auto port = open_one(config);
    ASSERT_NE(port, nullptr);
    EXPECT_TRUE(port->keeps());
    std::mt19937 dice(7);
    std::array<Packet, 48> burst;
    std::deque<KeptPacket> kept;
    std::size_t seen = 0;
    std::size_t most = 0;
    for (int round = 0; round < 20'000; ++round) {
        const std::size_t count = port->receive(burst, round);
        ASSERT_EQ(count, burst.size()) << round;
        // The number of kept packets grows for 500 rounds, then falls for 500.
        const bool fills = round / 500 % 2 == 0;
        if (kept.size() + count <= kept_packets_max && dice() % 8 < (fills ? 7U : 1U)) {
            port->keep_burst();
            for (std::size_t i = 0; i < count; ++i) {
                kept.push_back({burst[i], &frames[(seen + i) % frames.size()]});
            }
        }
        seen += count;
        most = std::max(most, kept.size());
        const std::size_t back = dice() % std::min<std::size_t>(kept.size() + 1, 50);
        for (std::size_t i = 0; i < back; ++i) {
            expect_whole(kept.front());
            kept.pop_front();
        }
        port->give_back(back);
    }
    EXPECT_GT(most, kept_packets_max - 2 * burst.size());
    for (const KeptPacket& packet : kept) {
        expect_whole(packet);
    }
}

void hands_out_long_frames_cut(bool keeps, std::size_t frames) {
    const ScratchDirectory scratch;
    Problems problems;
    auto writer = CaptureWriter::open(scratch.file("long.pcap"), problems);
    const Bytes longer = udp_frame(route_of_tests, Bytes(6000));
    const Bytes plain = udp_frame(route_of_tests, Bytes(100));
    for (std::size_t i = 0; i < frames;
         ++i) {  // more segments than there are buffers, so all must be returned
        writer->write(longer, 0);
        writer->write(plain, 0);
    }
    ASSERT_TRUE(writer->close(problems));
    PortConfig config = vdev_port("net_pcap0,rx_pcap=" + scratch.file("long.pcap"));
    config.keeps_packets = keeps;
    const auto port = open_one(config);
    ASSERT_NE(port, nullptr);
    std::array<Packet, 64> burst;
    std::array<std::size_t, 2> seen{};
    for (std::size_t round = 0; round < frames / 5; ++round) {
        const std::size_t count = port->receive(burst, static_cast<std::int64_t>(round));
        if (keeps) {
            port->keep_burst();
            port->give_back(count);
        }
        for (std::size_t i = 0; i < count; ++i) {
            Datagram datagram;
            const Drop drop = parse_udp(burst[i], ChecksumCheck::offload, datagram);
            ASSERT_TRUE(drop == Drop::ip_truncated || drop == not_dropped);
            ++seen[drop == not_dropped ? 1 : 0];
        }
    }
    EXPECT_EQ(seen[0], frames);
    EXPECT_EQ(seen[1], frames);
}

TEST(DpdkPort, AFrameLongerThanABufferIsHandedOutCut) {
    hands_out_long_frames_cut(false, 500);
    hands_out_long_frames_cut(true, 4'000);
}

TEST(DpdkPort, FullBurstsFromTheNullDriver) {
    const auto port = open_one(vdev_port("net_null0,size=128"));
    ASSERT_NE(port, nullptr);
    std::array<Packet, 64> burst;
    for (std::int64_t round = 0; round < 10'000; ++round) {
        ASSERT_EQ(
            port->receive(std::span(burst).first(static_cast<std::size_t>(round % 64 + 1)), round),
            static_cast<std::size_t>(round % 64 + 1));
    }
    EXPECT_EQ(port->counters().read(nic::PortCount::full_bursts), 10'000U);
    const DeviceStatistics statistics = port->statistics();
    EXPECT_EQ(statistics.missed, std::nullopt);
    EXPECT_EQ(statistics.no_buffer, std::nullopt);
    EXPECT_EQ(statistics.errors, std::nullopt);
}

TEST(DpdkPort, ReportsAnnounceTheGroupsAndLeaveThem) {
    // net_ring returns what is sent to it, so the port receives its own reports.
    PortConfig config = vdev_port("net_ring0");
    auto& own = config.own.get<dpdk::DpdkConfig>();
    own.membership = dpdk::Membership::igmp;
    own.source_address = Ipv4{0x0A010203};
    own.vlan = 12;
    const auto port = open_one(config);
    ASSERT_NE(port, nullptr);
    port->housekeep(1'000'000'000);
    std::array<Packet, 64> burst;
    ASSERT_EQ(port->receive(burst, 1'000'000'001), 1U);
    Ipv4Packet ip;
    ASSERT_EQ(walk_ipv4(burst[0].frame(), ip), not_dropped);
    EXPECT_EQ(ip.protocol(), ip_protocol::igmp);
    EXPECT_EQ(load_be32(ip.bytes.data() + 12), 0x0A010203U);
    EXPECT_EQ(load_be32(ip.bytes.data() + 16), all_v3_routers.value);
    EXPECT_EQ(load_be16(burst[0].bytes + 12), ethertype::vlan);
    EXPECT_EQ(load_be32(ip.content().data() + 12), group.address.value);
}

/// The type of the first record of each report that the port sent. net_ring returns the reports.
std::vector<unsigned> reports_sent(Port& port, std::int64_t now_ns) {
    port.housekeep(now_ns);
    std::array<Packet, 64> burst;
    std::vector<unsigned> types;
    for (std::size_t i = 0, count = port.receive(burst, now_ns); i < count; ++i) {
        Ipv4Packet ip;
        EXPECT_EQ(walk_ipv4(burst[i].frame(), ip), not_dropped);
        types.push_back(std::to_integer<unsigned>(ip.content()[8]));
    }
    return types;
}

TEST(DpdkPort, AnswersQueriesOfAnyLength) {
    constexpr auto join = static_cast<unsigned>(IgmpRecord::join);
    constexpr auto answer = static_cast<unsigned>(IgmpRecord::is_joined);
    PortConfig config = vdev_port("net_ring0");
    auto& own = config.own.get<dpdk::DpdkConfig>();
    own.membership = dpdk::Membership::igmp;
    own.source_address = Ipv4{0x0A010203};
    const auto port = open_one(config);
    ASSERT_NE(port, nullptr);
    EXPECT_THAT(reports_sent(*port, 100 * second_ns), ElementsAre(join));
    EXPECT_THAT(reports_sent(*port, 102 * second_ns), ElementsAre(join));  // repeated once
    port->on_igmp(packet_of(v3_query(1)), 103 * second_ns);
    EXPECT_THAT(reports_sent(*port, 104 * second_ns), ElementsAre(answer));
    // The query lists nine sources. This host accepts the group from any source, so it answers.
    const Bytes of_sources = query_frame(message_of(1, group.address, 12 + 9 * 4), group.address);
    port->on_igmp(packet_of(of_sources), 105 * second_ns);
    EXPECT_THAT(reports_sent(*port, 106 * second_ns), ElementsAre(answer));
    EXPECT_THAT(reports_sent(*port, 107 * second_ns), IsEmpty());
}

TEST(DpdkPort, ReportsGroupsThatItTakesWhileItRuns) {
    // net_ring0 still holds the last reports of earlier ports.
    PortConfig config = vdev_port("net_ring1");
    config.own.get<dpdk::DpdkConfig>().membership = dpdk::Membership::igmp;
    const auto port = open_one(config);
    ASSERT_NE(port, nullptr);
    (void)reports_sent(*port, 1 * second_ns);
    (void)reports_sent(*port, 5 * second_ns);
    EXPECT_EQ(reports_sent(*port, 9 * second_ns).size(), 0U) << "all is reported";
    Problems problems;
    const std::array more{Group{Ipv4{0xE000CC07}, 45007}};
    const auto prepared = port->prepare(more, problems);
    ASSERT_NE(prepared, nullptr);
    EXPECT_EQ(reports_sent(*port, 10 * second_ns).size(), 0U) << "not yet";
    port->join(*prepared, 11 * second_ns);
    port->housekeep(11 * second_ns);
    std::array<Packet, 64> burst;
    ASSERT_EQ(port->receive(burst, 11 * second_ns), 1U);
    Ipv4Packet ip;
    ASSERT_EQ(walk_ipv4(burst[0].frame(), ip), not_dropped);
    ASSERT_EQ(load_be16(ip.content().data() + 6), 2U) << "both groups";
    EXPECT_EQ(load_be32(ip.content().data() + 12), group.address.value);
    EXPECT_EQ(load_be32(ip.content().data() + 20), more[0].address.value);
}

TEST(DpdkPort, SeveralCapturesFeedSeveralQueues) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a.pcap"), 30);
    write_capture(scratch.file("b.pcap"), 50);
    Problems problems;
    auto ports = open_port(vdev_port("net_pcap0,rx_pcap=" + scratch.file("a.pcap") +
                                     ",rx_pcap=" + scratch.file("b.pcap")),
                           {{group}, {{{0xE000CC02}, 45002}}}, {}, problems);
    ASSERT_EQ(ports.size(), 2U) << texts_of(problems);
    EXPECT_EQ(ports[1]->name(), "a0/1");
    std::array<Packet, 64> burst;
    EXPECT_EQ(ports[0]->receive(burst, 1), 30U);
    EXPECT_EQ(ports[1]->receive(burst, 1), 50U);
    EXPECT_EQ(ports[0]->statistics().errors, 0U);
    // Errors are counted once, with the first queue.
    EXPECT_EQ(ports[1]->statistics().errors, std::nullopt);
    const std::array more{Group{Ipv4{0xE000CC07}, 45007}};
    EXPECT_NE(ports[0]->prepare(more, problems), nullptr);
    EXPECT_EQ(ports[1]->prepare(more, problems), nullptr);
    EXPECT_THAT(texts_of(problems),
                HasSubstr("port a0/1: its queue receives only the groups steered to it"));
}

TEST(DpdkPort, WhatCannotBeOpenedIsReportedAndLeavesNothing) {
    EXPECT_THAT(refusal(vdev_port("net_nosuch0")), HasSubstr("port a0: cannot create net_nosuch0"));
    EXPECT_THAT(refusal(vdev_port("net_null0,nosuch=1")), HasSubstr("cannot create"));
    EXPECT_THAT(refusal(vdev_port("net_ring0"), GroupsByQueue(1000)), HasSubstr("1000 pollers"));
    EXPECT_NE(open_one(vdev_port("net_null0")), nullptr);
}

TEST(DpdkPort, SteeringThatTheDriverRefusesIsReported) {
    const std::string reported =
        refusal(vdev_port("net_ring0"), {{group}, {{{0xE000CC02}, 45002}}});
    EXPECT_THAT(reported, HasSubstr("port a0: the driver refuses to steer"));
    EXPECT_THAT(reported, HasSubstr("224.0.204.2:45002 to queue 1"));
}

TEST(DpdkPort, IsUsedByAThreadOfItsOwn) {
    const auto port = open_one(vdev_port("net_null0"));
    ASSERT_NE(port, nullptr);
    std::uint64_t seen = 0;
    std::thread poll([&] {
        std::array<Packet, 64> burst;
        for (int round = 0; round < 1000; ++round) {
            seen += port->receive(burst, round);
        }
    });
    poll.join();
    EXPECT_EQ(seen, 64'000U);
}

TEST(Eal, LeavesTheCallersCpusAlone) {
    EXPECT_TRUE(CPU_EQUAL(&cpus_before, &cpus_after));
}

TEST(Eal, IsBegunOnce) {
    Problems problems;
    EXPECT_EQ(dpdk::Eal::start({}, problems), eal);
    EXPECT_EQ(dpdk::Eal::running(), eal);
}

/// Starts EAL with enough memory for all tests above.
bool start_eal() {
    std::vector<dpdk::PortDemand> demands;
    for (int i = 0; i < 3; ++i) {
        demands.push_back({vdev_port("net_null" + std::to_string(i)), 2, 1000});
    }
    Problems problems;
    pthread_getaffinity_np(pthread_self(), sizeof cpus_before, &cpus_before);
    eal = dpdk::Eal::start(
        {demands, {}, [](LogLevel, std::string_view line) { eal_log.append(line) += '\n'; }},
        problems);
    pthread_getaffinity_np(pthread_self(), sizeof cpus_after, &cpus_after);
    if (eal == nullptr) {
        std::printf("%s%s\n", texts_of(problems).c_str(), eal_log.c_str());
    }
    return eal != nullptr;
}

/// In `folder`, which only this process uses.
bool expect_runtime_folder(const ScratchDirectory& folder, bool there) {
    std::error_code error;
    const std::string path = folder.file("dpdk/pinstrike");
    const bool found = std::filesystem::exists(path, error);
    if (found != there) {
        std::printf("%s: EAL %s it\n", path.c_str(), found ? "left" : "did not make");
    }
    return found == there;
}

}  // namespace
}  // namespace pinstrike::nic

int main(int argc, char** argv) {
    using namespace pinstrike::nic;
    testing::InitGoogleTest(&argc, argv);
    with_hugepages = argc > 1 && std::strcmp(argv[1], "--hugepages") == 0;
    const ScratchDirectory runtime;  // another process may use or have left the usual folder
    setenv("RUNTIME_DIRECTORY", runtime.file("").c_str(), 1);
    if (!start_eal() || !expect_runtime_folder(runtime, true)) {
        return 1;
    }
    const int result = RUN_ALL_TESTS();
    eal.reset();
    return expect_runtime_folder(runtime, false) ? result : 1;
}
