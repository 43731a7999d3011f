// path: cold
//
// Tests the DPDK port on AF_XDP sockets: real kernel bypass without a NIC. The test makes a network
// namespace with a veth pair. Raw sockets on `wire` send and listen, and the port is on `feed`. The
// kernel removes the namespace when the process ends, in whatever way.
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/eal.h"
#include "nic/multicast/igmp.h"
#include "nic/open_port.h"
#include "nic/packet/datagram.h"
#include "tests/nic/frames.h"
#include "tests/nic/multicast/igmp_queries.h"
#include "tests/nic/port_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace pinstrike::nic {
namespace {

using testing::HasSubstr;
using testing::Not;

bool with_hugepages = false;
std::shared_ptr<dpdk::Eal> eal;
std::string eal_log;

const std::vector<Group> groups{{{0xE000CC01}, 45001}, {{0xE000CC02}, 45002}};

/// A raw socket on the far end of the pair.
class Wire {
  public:
    Wire() : socket_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, __builtin_bswap16(0x0003))) {
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = __builtin_bswap16(0x0003);  // every protocol
        address.sll_ifindex = static_cast<int>(if_nametoindex("wire"));
        bound_ = bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }

    ~Wire() { close(socket_); }

    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    [[nodiscard]] bool bound() const { return bound_; }

    [[nodiscard]] bool put(std::span<const std::byte> frame) const {
        return send(socket_, frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size());
    }

    /// The IGMP messages that have arrived since the last call, without their IP headers.
    [[nodiscard]] std::vector<Bytes> igmp_arrived() const {
        std::vector<Bytes> messages;
        for (Bytes frame(2000);;) {
            sockaddr_ll from{};
            socklen_t bytes = sizeof from;
            const ssize_t length = recvfrom(socket_, frame.data(), frame.size(), 0,
                                            reinterpret_cast<sockaddr*>(&from), &bytes);
            if (length < 0) {
                return messages;
            }
            Ipv4Packet ip;
            const auto seen = std::span(frame).first(static_cast<std::size_t>(length));
            if (from.sll_pkttype != PACKET_OUTGOING && walk_ipv4(seen, ip) == not_dropped &&
                ip.protocol() == ip_protocol::igmp) {
                const auto content = ip.content();
                messages.emplace_back(content.begin(), content.end());
            }
        }
    }

    /// The same, but waits until there is one.
    [[nodiscard]] std::vector<Bytes> next_igmp() const {
        const auto patience_ends = std::chrono::steady_clock::now() + patience;
        std::vector<Bytes> messages = igmp_arrived();
        while (messages.empty() && std::chrono::steady_clock::now() < patience_ends) {
            usleep(1000);
            messages = igmp_arrived();
        }
        return messages;
    }

  private:
    int socket_;
    bool bound_ = false;
};

PortConfig af_xdp_port(dpdk::Membership membership = dpdk::Membership::fixed) {
    PortConfig port;
    port.name = "a0";
    port.kind = PortKind::dpdk;
    auto& own = port.own.get<dpdk::DpdkConfig>();
    own.vdev = "net_af_xdp0,iface=feed";
    own.hugepages = with_hugepages;
    own.membership = membership;
    own.source_address = Ipv4{0x0A000002};
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
    auto ports = open_port(config, {groups}, {}, problems);
    EXPECT_TRUE(problems.empty()) << texts_of(problems) << eal_log;
    return ports.empty() ? nullptr : std::move(ports.front());
}

std::string file_text(const char* path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::int64_t wall_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// A datagram whose payload begins with its number. The lengths vary up to OPRA's longest.
Bytes numbered(std::uint32_t number) {
    Bytes payload(20 + number * 37 % 981);
    std::memcpy(payload.data(), &number, sizeof number);
    return udp_frame(route_of_tests, payload);
}

/// Receives until enough() is true, or a long time has passed. Ignores packets that the kernel
/// itself sends.
void receive_until(Port& port, const std::function<bool()>& enough,
                   const std::function<void(const Datagram&)>& take) {
    std::array<Packet, 64> burst;
    const auto patience_ends = std::chrono::steady_clock::now() + patience;
    while (!enough() && std::chrono::steady_clock::now() < patience_ends) {
        for (std::size_t i = 0, count = port.receive(burst, wall_ns()); i < count; ++i) {
            Datagram datagram;
            if (parse_udp(burst[i], ChecksumCheck::offload, datagram) == not_dropped &&
                datagram.group_ip == groups[0].address.value) {
                take(datagram);
            }
        }
    }
}

TEST(PortContract, DpdkOnAfXdp) {
    const Wire wire;
    port_contract([&](const std::vector<Bytes>& frames) {
        auto port = open_one(af_xdp_port());
        for (const Bytes& frame : frames) {
            EXPECT_TRUE(wire.put(frame));
        }
        return port;
    });
}

TEST(AfXdp, EveryFrameOfTheWireArrivesInOrder) {
    const Wire wire;
    const auto port = open_one(af_xdp_port());
    ASSERT_NE(port, nullptr);
    constexpr std::uint32_t total = 20'000;
    std::uint32_t received = 0;
    for (std::uint32_t sent = 0; sent < total;) {
        for (int i = 0; i < 100; ++i) {
            ASSERT_TRUE(wire.put(numbered(sent++)));
        }
        receive_until(
            *port, [&] { return received == sent; },
            [&](const Datagram& datagram) {
                std::uint32_t number = 0;
                std::memcpy(&number, datagram.payload.data(), sizeof number);
                ASSERT_EQ(number, received);
                ASSERT_EQ(datagram.payload.size(), 20 + number * 37 % 981);
                ++received;
            });
        ASSERT_EQ(received, sent);
    }
    const DeviceStatistics statistics = port->statistics();
    EXPECT_EQ(statistics.missed, 0U);
    EXPECT_EQ(statistics.no_buffer, 0U);
    EXPECT_EQ(statistics.errors, std::nullopt);
    EXPECT_EQ(statistics.link_up, true);
}

TEST(AfXdp, WhatIsLostWhileNobodyReceivesIsCounted) {
    const Wire wire;
    const auto port = open_one(af_xdp_port());
    ASSERT_NE(port, nullptr);
    constexpr std::uint32_t total = 10'000;  // the socket's ring holds 2048
    for (std::uint32_t sent = 0; sent < total; ++sent) {
        ASSERT_TRUE(wire.put(numbered(sent)));
    }
    std::uint64_t received = 0;
    const auto lost = [&] {
        const DeviceStatistics statistics = port->statistics();
        return statistics.missed.value_or(0) + statistics.no_buffer.value_or(0);
    };
    receive_until(
        *port, [&] { return received + lost() >= total; }, [&](const Datagram&) { ++received; });
    EXPECT_GT(lost(), 0U);
    // Each packet is counted, and few others (those that the kernel itself sends).
    EXPECT_GE(received + lost(), total);
    EXPECT_LE(received + lost(), total + 50);
    // The port still receives.
    ASSERT_TRUE(wire.put(numbered(1)));
    const std::uint64_t before = received;
    receive_until(
        *port, [&] { return received > before; }, [&](const Datagram&) { ++received; });
    EXPECT_EQ(received, before + 1);
}

TEST(AfXdp, GroupsPassTheKernelsFilterOnlyWhileOpen) {
    {
        const auto port = open_one(af_xdp_port());
        ASSERT_NE(port, nullptr);
        EXPECT_THAT(file_text("/proc/net/dev_mcast"), HasSubstr("01005e00cc01"));
        EXPECT_THAT(file_text("/proc/net/dev_mcast"), HasSubstr("01005e00cc02"));
        EXPECT_THAT(eal_log, HasSubstr("by the kernel's address list"));
    }
    EXPECT_THAT(file_text("/proc/net/dev_mcast"), Not(HasSubstr("01005e00cc01")));
}

TEST(AfXdp, NothingStaysOnTheInterface) {
    open_one(af_xdp_port());
    std::FILE* ip = popen("ip -details link show dev feed", "r");
    ASSERT_NE(ip, nullptr);
    std::string text;
    for (char line[512]; std::fgets(line, sizeof line, ip) != nullptr;) {
        text += line;
    }
    pclose(ip);
    EXPECT_THAT(text, HasSubstr("feed"));
    EXPECT_THAT(text, Not(HasSubstr("prog/xdp")));
    EXPECT_THAT(text, Not(HasSubstr("PROMISC")));
}

/// Checks that the group 224.0.0.22 got one report of version 3. Each group's record is of this
/// type: join (4), member (2) or leave (3).
void expect_v3_report(const std::vector<Bytes>& messages, IgmpRecord record) {
    ASSERT_EQ(messages.size(), 1U);
    const Bytes& report = messages.front();
    ASSERT_EQ(report.size(), 8 + 8 * groups.size());
    EXPECT_EQ(std::to_integer<unsigned>(report[0]), 0x22U);
    EXPECT_EQ(checksum_fold(checksum_sum(report.data(), report.size())), 0xFFFF);
    EXPECT_EQ(load_be16(report.data() + 6), groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        EXPECT_EQ(std::to_integer<unsigned>(report[8 + 8 * i]), static_cast<unsigned>(record));
        EXPECT_EQ(load_be32(report.data() + 12 + 8 * i), groups[i].address.value);
    }
}

TEST(AfXdp, ReportsJoinAnswerQueriesAndLeave) {
    const Wire wire;
    auto port = open_one(af_xdp_port(dpdk::Membership::igmp));
    ASSERT_NE(port, nullptr);
    std::array<Packet, 64> burst;
    std::int64_t now_ns = wall_ns();
    bool queried = false;
    const auto advance = [&](std::int64_t by_ns) {
        for (int step = 0; step < 10; ++step) {
            now_ns += by_ns / 10;
            for (std::size_t i = 0, count = port->receive(burst, now_ns); i < count; ++i) {
                Datagram datagram;
                if (parse_udp(burst[i], ChecksumCheck::software, datagram) == Drop::igmp) {
                    port->on_igmp(burst[i], now_ns);  // as the poller does
                    queried = true;
                }
            }
            port->housekeep(now_ns);
        }
    };
    port->housekeep(now_ns);
    expect_v3_report(wire.next_igmp(), IgmpRecord::join);
    advance(3'000'000'000);
    // Repeated once, in case the first is lost.
    expect_v3_report(wire.next_igmp(), IgmpRecord::join);
    ASSERT_TRUE(wire.put(v3_query(1)));
    const auto patience_ends = std::chrono::steady_clock::now() + patience;
    while (!queried && std::chrono::steady_clock::now() < patience_ends) {
        advance(0);
    }
    advance(1'000'000'000);
    expect_v3_report(wire.next_igmp(), IgmpRecord::is_joined);
    advance(1'000'000'000);
    EXPECT_TRUE(wire.igmp_arrived().empty());
    port.reset();
    expect_v3_report(wire.next_igmp(), IgmpRecord::leave);
}

TEST(AfXdp, StaticMembershipIsSilent) {
    const Wire wire;
    auto port = open_one(af_xdp_port(dpdk::Membership::fixed));
    ASSERT_NE(port, nullptr);
    port->housekeep(wall_ns());
    port.reset();
    EXPECT_TRUE(wire.igmp_arrived().empty());
}

/// The kernel reports a change of the carrier up to a second later.
bool link_becomes(const Port& port, bool up) {
    for (int i = 0; i < 6000 && port.statistics().link_up != up; ++i) {
        usleep(10'000);
    }
    return port.statistics().link_up == up;
}

TEST(AfXdp, LinkChangesAreSeenCountedAndReportedAnew) {
    auto port = open_one(af_xdp_port(dpdk::Membership::igmp));
    ASSERT_NE(port, nullptr);
    std::int64_t now_ns = wall_ns();
    port->housekeep(now_ns);
    ASSERT_EQ(std::system("ip link set wire down"), 0);
    ASSERT_TRUE(link_becomes(*port, false));
    port->housekeep(now_ns += 1'000'000'000);
    EXPECT_EQ(port->counters().read(nic::PortCount::link_changes), 1U);
    EXPECT_EQ(port->statistics().link_up, false);
    ASSERT_EQ(std::system("ip link set wire up"), 0);
    ASSERT_TRUE(link_becomes(*port, true));
    const Wire wire;
    port->housekeep(now_ns += 30'000'000'000);  // long after the first reports
    EXPECT_EQ(port->counters().read(nic::PortCount::link_changes), 2U);
    EXPECT_EQ(port->statistics().link_up, true);
    const std::vector<Bytes> reports = wire.next_igmp();
    ASSERT_FALSE(reports.empty());
    expect_v3_report({reports.back()}, IgmpRecord::join);
}

TEST(AfXdp, AnInterfaceThatWasMadeAgainIsReported) {
    const auto make = [] {
        return std::system(
                   "ip link add again type veth peer name other && ip link set again up && "
                   "ip link set other up") == 0;
    };
    ASSERT_TRUE(make());
    PortConfig config = af_xdp_port();
    config.own.get<dpdk::DpdkConfig>().vdev = "net_af_xdp2,iface=again";
    const auto port = open_one(config);
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(port->follow_interface(), InterfaceChange::none);
    ASSERT_TRUE(link_becomes(*port, true));
    ASSERT_EQ(std::system("ip link del again"), 0);
    EXPECT_EQ(port->statistics().link_up, false);
    EXPECT_EQ(port->follow_interface(), InterfaceChange::none) << "a start would not find it";
    ASSERT_TRUE(make());
    InterfaceChange change = InterfaceChange::none;
    for (int i = 0; i < 6000 && change == InterfaceChange::none; ++i) {
        usleep(10'000);  // waits until its link is up
        change = port->follow_interface();
    }
    EXPECT_EQ(change, InterfaceChange::lost);
    EXPECT_EQ(port->statistics().link_up, false);
    std::system("ip link del again");
}

TEST(AfXdp, SeveralQueuesNeedSteeringThatItCannotDo) {
    Problems problems;
    EXPECT_TRUE(open_port(af_xdp_port(), {{groups[0]}, {groups[1]}}, {}, problems).empty());
    EXPECT_FALSE(problems.empty());
}

TEST(AfXdp, FramesSpreadOverSeveralQueuesWouldBeLostAndAreReported) {
    ASSERT_EQ(std::system("ip link add spread numrxqueues 4 numtxqueues 4 type veth peer name far"),
              0);
    PortConfig config = af_xdp_port();
    config.own.get<dpdk::DpdkConfig>().vdev = "net_af_xdp1,iface=spread";
    Problems problems;
    EXPECT_TRUE(open_port(config, {groups}, {}, problems).empty());
    EXPECT_THAT(texts_of(problems), HasSubstr("spreads frames over 4 receive queues"));
    EXPECT_THAT(texts_of(problems), HasSubstr("ethtool -L spread combined 1"));
    std::system("ip link del spread");
}

/// Empty on success, else the reason why the test cannot run here.
std::string make_namespace() {
    if (unshare(CLONE_NEWNET) != 0) {
        return std::string("no network namespace permitted: ") + std::strerror(errno);
    }
    const char* commands[] = {"ip link add wire type veth peer name feed",
                              "ip link set wire addrgenmode none",
                              "ip link set feed addrgenmode none",
                              "ip link set lo up",
                              "ip link set wire up",
                              "ip link set feed up"};
    for (const char* command : commands) {
        if (std::system(command) != 0) {
            return std::string("cannot make a veth pair: ") + command;
        }
    }
    return {};
}

bool start_eal() {
    Problems problems;
    eal = dpdk::Eal::start({{dpdk::demand_of(af_xdp_port(), 2)},
                            {},
                            [](LogLevel, std::string_view line) { eal_log.append(line) += '\n'; }},
                           problems);
    if (eal == nullptr) {
        std::printf("%s%s\n", texts_of(problems).c_str(), eal_log.c_str());
    }
    return eal != nullptr;
}

}  // namespace
}  // namespace pinstrike::nic

int main(int argc, char** argv) {
    using namespace pinstrike::nic;
    testing::InitGoogleTest(&argc, argv);
    with_hugepages = argc > 1 && std::strcmp(argv[1], "--hugepages") == 0;
    if (const std::string reason = make_namespace(); !reason.empty()) {
        std::printf("skipped: %s\n", reason.c_str());
        return 77;
    }
    if (!start_eal()) {
        return 1;
    }
    const int result = RUN_ALL_TESTS();
    eal.reset();
    return result;
}
