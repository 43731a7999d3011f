// path: cold
//
// The io_uring port on a real kernel: a veth pair in a network namespace of its own.
#include "nic/open_port.h"
#include "nic/uring/uring_config.h"
#include "nic/uring/uring_port.h"
#include "nic/uring/uring_sockets.h"
#include "tests/nic/network_namespace.h"
#include "tests/nic/port_contract.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace pinstrike::nic {
namespace {

/// Skips every test of this file if no network namespace is possible.
class UringPortTest : public testing::Test {
  protected:
    static void SetUpTestSuite() { reason_to_skip_ = enter_network_namespace(); }

    void SetUp() override {
        if (!reason_to_skip_.empty()) {
            GTEST_SKIP() << reason_to_skip_;
        }
    }

    static std::string reason_to_skip_;
};

std::string UringPortTest::reason_to_skip_;

PortConfig near_end() {
    PortConfig config;
    config.name = "u0";
    config.kind = PortKind::uring;
    config.own.get<UringConfig>().interface = wire_near;
    return config;
}

std::unique_ptr<Port> open_near(const std::vector<Group>& groups,
                                const PortConfig& config = near_end()) {
    Problems problems;
    auto ports = open_port(config, {groups}, nullptr, problems);
    for (const Problem& problem : problems) {
        ADD_FAILURE() << problem.text;
    }
    return ports.size() == 1 ? std::move(ports[0]) : nullptr;
}

TEST_F(UringPortTest, KeepsTheContract) {
    port_contract([](const std::vector<Bytes>& frames) {
        std::unique_ptr<Port> port = open_near(contract_groups);
        const RawWire far(wire_far);
        for (const Bytes& frame : frames) {
            EXPECT_TRUE(far.send(frame)) << std::strerror(errno);
        }
        return port;
    });
}

/// A little more than the number of OPRA's groups for both streams.
std::vector<Group> many_groups() {
    std::vector<Group> groups;
    for (std::uint32_t line = 1; line <= 100; ++line) {
        groups.push_back({Ipv4{0xE000CC00 + line}, static_cast<std::uint16_t>(45000 + line)});
        groups.push_back({Ipv4{0xE000CE00 + line}, static_cast<std::uint16_t>(45000 + line)});
    }
    return groups;
}

TEST_F(UringPortTest, GoesOnWhenTheKernelRanOutOfBuffers) {
    // More datagrams arrive than there are buffers. The kernel then ends the armed receives, and
    // the remaining datagrams must still arrive in order.
    const std::vector<Group> groups = many_groups();
    Problems problems;
    const std::unique_ptr<Port> port = UringPort::open(near_end(), "u0", groups, problems, 16);
    ASSERT_NE(port, nullptr);
    std::array<Packet, 1> one;
    EXPECT_EQ(port->receive(one, 1), 0U);
    const RawWire far(wire_far);
    constexpr std::size_t rounds = 60;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (const Group group : groups) {
            const UdpRoute route = route_to(group.address, group.port);
            ASSERT_TRUE(far.send(udp_frame(route, bytes_of(std::to_string(round)))));
        }
    }
    const auto got = receive_all(*port, rounds * groups.size(), 64, ChecksumCheck::offload);
    EXPECT_EQ(got.size(), rounds * groups.size());
    for (const Group group : groups) {
        const std::vector<Arrived> some = of_group(got, group);
        ASSERT_EQ(some.size(), rounds);
        for (std::size_t round = 0; round < rounds; ++round) {
            EXPECT_EQ(some[round].payload, std::to_string(round));
        }
    }
    EXPECT_EQ(port->statistics().missed, 0U);
}

/// The number of packets that the kernel has delivered to sockets of this namespace.
std::uint64_t delivered_by_ip() {
    std::ifstream file("/proc/self/net/snmp");
    std::string line;
    std::vector<std::string> names;
    while (std::getline(file, line) && line.starts_with("Ip:")) {
        std::istringstream words(line);
        std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
        if (names.empty()) {
            names = std::move(row);
            continue;
        }
        const auto found = std::find(names.begin(), names.end(), "InDelivers");
        return std::stoull(row.at(static_cast<std::size_t>(found - names.begin())));
    }
    ADD_FAILURE() << "/proc/self/net/snmp tells nothing of IP";
    return 0;
}

TEST_F(UringPortTest, FillsTheLargestBurst) {
    constexpr std::size_t burst_packets = 512;
    const std::unique_ptr<Port> port = open_near(contract_groups);
    ASSERT_NE(port, nullptr);
    const RawWire far(wire_far);
    const std::uint64_t before = delivered_by_ip();
    for (std::size_t i = 0; i < burst_packets + 1; ++i) {
        const Group group = contract_groups[i % contract_groups.size()];
        ASSERT_TRUE(far.send(udp_frame(route_to(group.address, group.port), Bytes(20))));
    }
    const auto patience_ends = std::chrono::steady_clock::now() + patience;
    while (delivered_by_ip() < before + burst_packets + 1 &&
           std::chrono::steady_clock::now() < patience_ends) {
    }
    std::vector<Packet> burst(burst_packets);
    EXPECT_EQ(port->receive(burst, 1), burst_packets);
    EXPECT_EQ(port->counters().read(nic::PortCount::full_bursts), 1U) << "what waits is counted";
    EXPECT_EQ(port->receive(burst, 2), 1U);
    EXPECT_EQ(port->counters().read(nic::PortCount::full_bursts), 1U);
}

TEST_F(UringPortTest, CountsWhatTheKernelDroppedForWantOfBuffer) {
    PortConfig config = near_end();
    config.own.get<UringConfig>().kernel_buffer_bytes = 16 << 10;
    const std::unique_ptr<Port> port = open_near({contract_groups[0]}, config);
    ASSERT_NE(port, nullptr);
    const RawWire far(wire_far);
    const Bytes frame = udp_frame(route_of_tests, Bytes(1000));
    constexpr std::size_t sent = 1000;
    for (std::size_t i = 0; i < sent; ++i) {
        ASSERT_TRUE(far.send(frame));
    }
    std::array<Packet, 64> burst;
    std::size_t received = 0;
    const auto patience_ends = std::chrono::steady_clock::now() + patience;
    while (received + port->statistics().missed.value() < sent &&
           std::chrono::steady_clock::now() < patience_ends) {
        received += port->receive(burst, 1);
    }
    EXPECT_GT(port->statistics().missed.value(), 0U);
    EXPECT_EQ(received + port->statistics().missed.value(), sent);
}

TEST_F(UringPortTest, JoinsTwoHundredGroups) {
    const std::vector<Group> groups = many_groups();
    const std::unique_ptr<Port> port = open_near(groups);
    ASSERT_NE(port, nullptr);
    const RawWire far(wire_far);
    for (const Group& group : groups) {
        const UdpRoute route = route_to(group.address, group.port);
        ASSERT_TRUE(far.send(udp_frame(route, bytes_of("to " + std::to_string(group.port)))));
        // The same group with another port, and a group that is not joined, must not arrive.
        UdpRoute other = route;
        other.destination.port = 9;
        ASSERT_TRUE(far.send(udp_frame(other, {})));
        other.destination = {Ipv4{group.address.value + (1U << 16)}, group.port};
        ASSERT_TRUE(far.send(udp_frame(other, {})));
    }
    const auto got = receive_all(*port, groups.size(), 64, ChecksumCheck::software);
    ASSERT_EQ(got.size(), groups.size());
    for (const Arrived& arrived : got) {
        EXPECT_EQ(arrived.payload, "to " + std::to_string(arrived.group.port));
    }
    std::array<Packet, 8> burst;
    EXPECT_EQ(port->receive(burst, 1), 0U);
}

TEST_F(UringPortTest, TakesMoreGroupsWhileItRuns) {
    const std::vector<Group> all = many_groups();
    const std::vector<Group> first(all.begin(), all.begin() + 3);
    const std::vector<Group> more(all.begin() + 3, all.begin() + 6);
    const std::unique_ptr<Port> port = open_near(first);
    ASSERT_NE(port, nullptr);
    const RawWire far(wire_far);
    const auto send_to_all = [&](const std::string& word) {
        for (std::size_t i = 0; i < 6; ++i) {
            ASSERT_TRUE(far.send(udp_frame(route_to(all[i].address, all[i].port), bytes_of(word))));
        }
    };
    send_to_all("before");
    EXPECT_EQ(receive_all(*port, 3, 64, ChecksumCheck::offload).size(), 3U);
    Problems problems;
    const auto prepared = port->prepare(more, problems);
    ASSERT_NE(prepared, nullptr);
    send_to_all("between");
    EXPECT_EQ(receive_all(*port, 3, 64, ChecksumCheck::offload).size(), 3U) << "not yet";
    port->join(*prepared, 1);
    const auto kept = receive_all(*port, 3, 64, ChecksumCheck::offload);
    ASSERT_EQ(kept.size(), 3U) << "what came since it was joined";
    for (const Arrived& arrived : kept) {
        EXPECT_EQ(arrived.payload, "between");
    }
    send_to_all("behind");
    EXPECT_EQ(receive_all(*port, 6, 64, ChecksumCheck::offload).size(), 6U);
    EXPECT_EQ(port->statistics().missed, 0U);
}

TEST_F(UringPortTest, HasRoomForSoManyGroupsMore) {
    const std::unique_ptr<Port> port = open_near({contract_groups[0]});
    ASSERT_NE(port, nullptr);
    const std::vector<Group> groups = many_groups();
    Problems problems;
    EXPECT_EQ(port->prepare(std::span(groups).first(more_groups_max + 1), problems), nullptr);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].text, "port u0: found no free slots for 1 more groups while it runs");
    Problems none;
    const auto prepared = port->prepare(std::span(groups).first(more_groups_max), none);
    ASSERT_NE(prepared, nullptr);
    port->join(*prepared, 1);  // joined before the port's first receive
    const RawWire far(wire_far);
    for (std::size_t i = 0; i < more_groups_max; ++i) {
        ASSERT_TRUE(far.send(udp_frame(route_to(groups[i].address, groups[i].port), {})));
    }
    EXPECT_EQ(receive_all(*port, more_groups_max, 64, ChecksumCheck::offload).size(),
              more_groups_max);
}

TEST_F(UringPortTest, DropsOfTheKernelNeverReachUs) {
    const std::unique_ptr<Port> port = open_near({contract_groups[0]});
    ASSERT_NE(port, nullptr);
    const RawWire far(wire_far);
    Bytes damaged = udp_frame(route_of_tests, bytes_of("damaged"));
    damaged.back() ^= std::byte{1};
    ASSERT_TRUE(far.send(damaged));
    ASSERT_TRUE(far.send(udp_frame(route_of_tests, bytes_of("sound"))));
    const auto got = receive_all(*port, 1, 8, ChecksumCheck::offload);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].payload, "sound");
}

TEST_F(UringPortTest, StampsWithTheKernelsTime) {
    const std::unique_ptr<Port> port = open_near({contract_groups[0]});
    ASSERT_NE(port, nullptr);
    const auto wall_ns = [] {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    };
    const RawWire far(wire_far);
    std::array<Packet, 8> burst;
    port->receive(burst, 1);
    const auto before_ns = wall_ns();
    ASSERT_TRUE(far.send(udp_frame(route_of_tests, {})));
    while (port->receive(burst, 1) == 0) {
    }
    EXPECT_GE(burst[0].ts_receive_ns, before_ns);
    EXPECT_LE(burst[0].ts_receive_ns, wall_ns());
    EXPECT_NE(burst[0].ts_receive_ns, 1) << "the step's time stands for a missing stamp only";
}

/// Runs housekeep() until the port has counted `count` changes of the link. The kernel reports a
/// change at the other end of a veth pair with some delay.
void housekeep_until_changed(Port& port, std::uint64_t count) {
    const auto patience_ends = std::chrono::steady_clock::now() + patience;
    while (port.counters().read(nic::PortCount::link_changes) < count &&
           std::chrono::steady_clock::now() < patience_ends) {
        port.housekeep(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(port.counters().read(nic::PortCount::link_changes), count);
}

TEST_F(UringPortTest, CountsTheLinkGoingDownAndUp) {
    const std::unique_ptr<Port> port = open_near({contract_groups[0]});
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(port->statistics().link_up, true);
    port->housekeep(1);
    EXPECT_EQ(port->counters().read(nic::PortCount::link_changes), 0U);
    ASSERT_EQ(std::system("ip link set pin1 down"), 0);
    housekeep_until_changed(*port, 1);
    EXPECT_EQ(port->statistics().link_up, false);
    ASSERT_EQ(std::system("ip link set pin1 up"), 0);
    housekeep_until_changed(*port, 2);
    EXPECT_EQ(port->statistics().link_up, true);
    const RawWire far(wire_far);
    ASSERT_TRUE(far.send(udp_frame(route_of_tests, bytes_of("back"))));
    EXPECT_EQ(receive_all(*port, 1, 8, ChecksumCheck::offload).size(), 1U);
}

/// The interface is made again more often than the limit of memberships per socket allows.
TEST_F(UringPortTest, JoinsAgainWhereItsInterfaceWasMadeAgain) {
    const std::unique_ptr<Port> port = open_near(contract_groups);
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(port->follow_interface(), InterfaceChange::none);
    for (int round = 0; round < 22; ++round) {
        ASSERT_EQ(std::system("ip link del pin0"), 0);
        EXPECT_EQ(port->follow_interface(), InterfaceChange::none);
        EXPECT_EQ(port->statistics().link_up, false);
        ASSERT_TRUE(make_wire());
        EXPECT_EQ(port->statistics().link_up, false) << "made again, but the groups are not joined";
        EXPECT_EQ(port->follow_interface(), InterfaceChange::joined_again);
        EXPECT_EQ(port->follow_interface(), InterfaceChange::none);
        EXPECT_EQ(port->statistics().link_up, true);
        const RawWire far(wire_far);
        for (const Group group : contract_groups) {
            ASSERT_TRUE(far.send(udp_frame(route_to(group.address, group.port), {})));
        }
        ASSERT_EQ(receive_all(*port, contract_groups.size(), 64, ChecksumCheck::offload).size(),
                  contract_groups.size());
    }
    Problems problems;
    const std::vector<Group> more{many_groups().back()};
    const auto prepared = port->prepare(more, problems);
    ASSERT_NE(prepared, nullptr) << "more groups are joined at the new one";
    ASSERT_EQ(std::system("ip link del pin0"), 0);
    ASSERT_TRUE(make_wire());
    port->join(*prepared, 1);
    EXPECT_EQ(port->follow_interface(), InterfaceChange::joined_again);
    const RawWire far(wire_far);
    ASSERT_TRUE(far.send(udp_frame(route_to(more[0].address, more[0].port), {})));
    EXPECT_EQ(receive_all(*port, 1, 64, ChecksumCheck::offload).size(), 1U);
}

TEST_F(UringPortTest, ReportsAStrictReversePathFilter) {
    ASSERT_EQ(std::system("echo 1 > /proc/sys/net/ipv4/conf/pin0/rp_filter"), 0);
    const std::unique_ptr<Port> port = open_near({contract_groups[0]});
    ASSERT_EQ(std::system("echo 0 > /proc/sys/net/ipv4/conf/pin0/rp_filter"), 0);
    ASSERT_NE(port, nullptr);
    ASSERT_FALSE(port->remarks().empty());
    EXPECT_NE(port->remarks().back().find("rp_filter=0"), std::string::npos);
    EXPECT_TRUE(open_near({contract_groups[0]})->remarks().empty());
}

TEST_F(UringPortTest, ReportsAnInterfaceThatIsNotThere) {
    PortConfig config = near_end();
    config.own.get<UringConfig>().interface = "absent0";
    Problems problems;
    EXPECT_TRUE(open_port(config, {contract_groups}, nullptr, problems).empty());
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems[0].text.find("absent0"), std::string::npos) << problems[0].text;
}

}  // namespace
}  // namespace pinstrike::nic
