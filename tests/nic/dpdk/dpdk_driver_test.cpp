// path: cold
//
// A driver with features that no virtual driver has: flow rules, address lists, checksum verdicts,
// receive stamps, and a link that changes. The test program defines these functions of DPDK itself,
// so that they are linked instead of the library's, on top of net_ring. Each test sets which
// features the driver offers.
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/dpdk_port.h"
#include "nic/dpdk/held_buffers.h"
#include "nic/dpdk/library.h"
#include "nic/dpdk/memory_need.h"
#include "nic/open_port.h"
#include "tests/nic/frames.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rte_malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <random>
#include <thread>

namespace pinstrike::nic {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The features that the driver offers, and the calls that it got.
struct Driver {
    bool hardware_checksums = false;
    bool stamps = false;
    bool matches_ports = true;
    bool matches_addresses = true;
    bool takes_address_list = true;
    bool takes_all_multicast = true;
    bool link_up = true;
    unsigned link_asked = 0;
    std::uint64_t ticks_per_us = 0;  ///< rate of its clock; 0: the clock cannot be read
    std::vector<std::string> asked;
    std::deque<rte_mbuf*> arriving;
};

Driver driver;
bool with_hugepages = false;
std::string said;  ///< what DPDK logged

std::string address_text(std::uint32_t ip) {
    return std::to_string(ip >> 24) + "." + std::to_string((ip >> 16) & 255) + "." +
           std::to_string((ip >> 8) & 255) + "." + std::to_string(ip & 255);
}

/// A rule as text, for example "eth ipv4 224.0.204.2 udp 45002 queue 1".
std::string rule_text(const rte_flow_item* items, const rte_flow_action* actions, bool& by_port) {
    std::string text;
    for (; items->type != RTE_FLOW_ITEM_TYPE_END; ++items) {
        if (items->type == RTE_FLOW_ITEM_TYPE_ETH) {
            text += "eth ";
        } else if (items->type == RTE_FLOW_ITEM_TYPE_VLAN) {
            text += "vlan ";
        } else if (items->type == RTE_FLOW_ITEM_TYPE_IPV4) {
            const auto* ip = static_cast<const rte_flow_item_ipv4*>(items->spec);
            const auto* mask = static_cast<const rte_flow_item_ipv4*>(items->mask);
            text += "ipv4 " + address_text(rte_be_to_cpu_32(ip->hdr.dst_addr)) + " ";
            text += mask->hdr.next_proto_id != 0
                        ? "protocol " + std::to_string(ip->hdr.next_proto_id) + " "
                        : "";
        } else if (items->type == RTE_FLOW_ITEM_TYPE_UDP) {
            const auto* udp = static_cast<const rte_flow_item_udp*>(items->spec);
            text += "udp " + std::to_string(rte_be_to_cpu_16(udp->hdr.dst_port)) + " ";
            by_port = true;
        }
    }
    const auto* queue = static_cast<const rte_flow_action_queue*>(actions[0].conf);
    return text + "queue " + std::to_string(queue->index);
}

/// An address list as text, for example "addresses CC:01 CC:02": the last two bytes of each
/// address, because all begin with the same bytes.
std::string list_text(std::span<const rte_ether_addr> addresses) {
    std::string text = "addresses";
    for (const rte_ether_addr& address : addresses) {
        std::array<char, RTE_ETHER_ADDR_FMT_SIZE> octets{};
        rte_ether_format_addr(octets.data(), octets.size(), &address);
        const std::string_view all = octets.data();
        EXPECT_EQ(all.substr(0, 12), "01:00:5E:00:");
        text.append(" ").append(all.substr(12));
    }
    return text;
}

template <class Function>
Function next_of(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::uint16_t receive_arriving(void*, rte_mbuf** buffers, std::uint16_t room) {
    std::uint16_t count = 0;
    for (; count < room && !driver.arriving.empty(); ++count) {
        buffers[count] = driver.arriving.front();
        driver.arriving.pop_front();
    }
    return count;
}

constexpr std::uint64_t offered_checksums =
    RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;

}  // namespace
}  // namespace pinstrike::nic

using pinstrike::nic::driver;

extern "C" {

int rte_eth_dev_info_get(std::uint16_t port, rte_eth_dev_info* info) {
    const int result = pinstrike::nic::next_of<decltype(&rte_eth_dev_info_get)>(
        "rte_eth_dev_info_get")(port, info);
    info->rx_offload_capa |= driver.hardware_checksums ? pinstrike::nic::offered_checksums : 0;
    info->rx_offload_capa |= driver.stamps ? RTE_ETH_RX_OFFLOAD_TIMESTAMP : 0;
    return result;
}

int rte_eth_dev_configure(std::uint16_t port, std::uint16_t receive, std::uint16_t transmit,
                          const rte_eth_conf* wanted) {
    rte_eth_conf plain = *wanted;
    driver.asked.push_back("offloads " + std::to_string(wanted->rxmode.offloads != 0));
    plain.rxmode.offloads = 0;
    return pinstrike::nic::next_of<decltype(&rte_eth_dev_configure)>("rte_eth_dev_configure")(
        port, receive, transmit, &plain);
}

rte_flow* rte_flow_create(std::uint16_t, const rte_flow_attr*, const rte_flow_item* pattern,
                          const rte_flow_action* actions, rte_flow_error* error) {
    bool by_port = false;
    const std::string text = pinstrike::nic::rule_text(pattern, actions, by_port);
    if (!driver.matches_addresses || (by_port && !driver.matches_ports)) {
        error->message = "no such match";
        return nullptr;
    }
    driver.asked.push_back(text);
    static int rule;
    return reinterpret_cast<rte_flow*>(&rule);
}

int rte_flow_flush(std::uint16_t, rte_flow_error*) {
    return 0;
}

int rte_eth_dev_set_mc_addr_list(std::uint16_t, rte_ether_addr* addresses, std::uint32_t count) {
    driver.asked.push_back(pinstrike::nic::list_text({addresses, count}));
    return driver.takes_address_list ? 0 : -ENOTSUP;
}

int rte_eth_allmulticast_enable(std::uint16_t) {
    driver.asked.emplace_back("all multicast");
    return driver.takes_all_multicast ? 0 : -ENOTSUP;
}

int rte_eth_promiscuous_enable(std::uint16_t) {
    driver.asked.emplace_back("promiscuous");
    return 0;
}

int rte_eth_link_get_nowait(std::uint16_t, rte_eth_link* link) {
    ++driver.link_asked;
    link->link_status = driver.link_up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN;
    return 0;
}

int rte_eth_read_clock(std::uint16_t, std::uint64_t* ticks) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    *ticks = 77 + driver.ticks_per_us *
                      static_cast<std::uint64_t>(
                          std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    return driver.ticks_per_us == 0 ? -ENOTSUP : 0;
}

int rte_eth_timesync_enable(std::uint16_t) {
    return -ENOTSUP;
}

int rte_eth_timesync_read_time(std::uint16_t, timespec*) {
    return -ENOTSUP;
}
}

namespace pinstrike::nic {
namespace {

const Group first{{0xE000CC01}, 45001};
const Group second{{0xE000CC02}, 45002};
const Group third{{0xE000CC03}, 45003};

class DpdkDriver : public testing::Test {
  protected:
    DpdkDriver() {
        driver = {};
        config_.name = "a0";
        config_.kind = PortKind::dpdk;
        auto& own = config_.own.get<dpdk::DpdkConfig>();
        own.vdev = "net_ring0";
        own.hugepages = with_hugepages;
        own.descriptors_count = 512;
        own.membership = dpdk::Membership::fixed;
    }

    std::vector<std::unique_ptr<Port>> open(const GroupsByQueue& groups) {
        auto ports = open_port(config_, groups, {}, problems_);
        driver.asked.erase(driver.asked.begin());  // the entry for the offloads
        if (!ports.empty()) {
            std::uint16_t id = 0;
            rte_eth_dev_get_port_by_name("net_ring0", &id);
            rte_eth_fp_ops[id].rx_pkt_burst = receive_arriving;
            pool_ = dynamic_cast<dpdk::DpdkPort&>(*ports[0]).device().pool(0);
        }
        return ports;
    }

    /// Lets a frame arrive with these offload flags, which hold the hardware's verdicts.
    rte_mbuf* arrive(std::uint64_t flags) {
        const Bytes frame = udp_frame(route_of_tests, Bytes(30));
        rte_mbuf* buffer = rte_pktmbuf_alloc(pool_);
        std::memcpy(rte_pktmbuf_append(buffer, static_cast<std::uint16_t>(frame.size())),
                    frame.data(), frame.size());
        buffer->ol_flags = flags;
        driver.arriving.push_back(buffer);
        return buffer;
    }

    PortConfig config_;
    Problems problems_;
    rte_mempool* pool_ = nullptr;
};

TEST_F(DpdkDriver, OneQueueIsNotSteered) {
    EXPECT_EQ(open({{first, second}}).size(), 1U);
    EXPECT_THAT(driver.asked, ElementsAre("addresses CC:01 CC:02"));
}

TEST_F(DpdkDriver, QueriesOfAllGroupsAreLetInWhereThePortAnswers) {
    auto& own = config_.own.get<dpdk::DpdkConfig>();
    own.membership = dpdk::Membership::igmp;
    own.source_address = Ipv4{0x0A010203};
    EXPECT_EQ(open({{first, second}}).size(), 1U);
    EXPECT_THAT(driver.asked, ElementsAre("addresses 00:01 CC:01 CC:02"));  // 224.0.0.1
}

TEST_F(DpdkDriver, SeveralQueuesAreSteeredByGroup) {
    EXPECT_EQ(open({{first}, {second, third}}).size(), 2U);
    EXPECT_THAT(driver.asked, ElementsAre("eth ipv4 224.0.204.2 udp 45002 queue 1",
                                          "eth ipv4 224.0.204.3 udp 45003 queue 1",
                                          "addresses CC:01 CC:02 CC:03"));
}

TEST_F(DpdkDriver, RulesMatchBehindTheVlanTag) {
    config_.own.get<dpdk::DpdkConfig>().vlan = 12;
    EXPECT_EQ(open({{first}, {second}}).size(), 2U);
    EXPECT_THAT(driver.asked, ElementsAre("eth vlan ipv4 224.0.204.2 udp 45002 queue 1",
                                          "addresses CC:01 CC:02"));
}

TEST_F(DpdkDriver, AddressesDoWhereTheyDistinguishQueues) {
    driver.matches_ports = false;
    EXPECT_EQ(open({{first}, {second, {second.address, 45009}}}).size(), 2U);
    EXPECT_THAT(driver.asked,
                ElementsAre("eth ipv4 224.0.204.2 protocol 17 queue 1", "addresses CC:01 CC:02"));
}

TEST_F(DpdkDriver, AddressesDoNotDoWhereTwoQueuesShareOne) {
    driver.matches_ports = false;
    EXPECT_TRUE(open({{first}, {{first.address, 45009}}}).empty());
    ASSERT_EQ(problems_.size(), 1U);
    EXPECT_THAT(problems_[0].text, HasSubstr("224.0.204.1:45009 to queue 1 (no such match)"));
}

TEST_F(DpdkDriver, ARefusedRuleIsAProblemThatSaysWhatToDo) {
    driver.matches_addresses = false;
    EXPECT_TRUE(open({{first}, {second}}).empty());
    ASSERT_EQ(problems_.size(), 1U);
    EXPECT_THAT(problems_[0].text, HasSubstr("224.0.204.2:45002 to queue 1 (no such match)"));
    EXPECT_THAT(problems_[0].text, HasSubstr("Let one poller read this port"));
}

TEST_F(DpdkDriver, GroupsComeInByTheNarrowestFilterThereIs) {
    driver.takes_address_list = false;
    EXPECT_EQ(open({{first}}).size(), 1U);
    EXPECT_THAT(driver.asked, ElementsAre("addresses CC:01", "all multicast"));
    driver.asked.clear();
    driver.takes_all_multicast = false;
    EXPECT_EQ(open({{first}}).size(), 1U);
    EXPECT_THAT(driver.asked, ElementsAre("addresses CC:01", "all multicast", "promiscuous"));
}

TEST_F(DpdkDriver, ChecksumVerdictsAreHandedOut) {
    driver.hardware_checksums = true;
    const auto ports = open({{first}});
    ASSERT_EQ(ports.size(), 1U);
    arrive(RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD);
    arrive(RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD);
    arrive(RTE_MBUF_F_RX_IP_CKSUM_BAD);
    arrive(RTE_MBUF_F_RX_L4_CKSUM_NONE | RTE_MBUF_F_RX_IP_CKSUM_NONE);
    std::array<Packet, 8> burst;
    ASSERT_EQ(ports[0]->receive(burst, 1), 4U);
    EXPECT_EQ(burst[0].ip_checksum, Checksum::good);
    EXPECT_EQ(burst[0].udp_checksum, Checksum::good);
    EXPECT_EQ(burst[1].udp_checksum, Checksum::bad);
    EXPECT_EQ(burst[2].ip_checksum, Checksum::bad);
    EXPECT_EQ(burst[2].udp_checksum, Checksum::unknown);
    EXPECT_EQ(burst[3].ip_checksum, Checksum::unknown);  // "none": the hardware gave no verdict
    EXPECT_EQ(burst[3].udp_checksum, Checksum::unknown);
}

TEST_F(DpdkDriver, VerdictsAreNotAskedForWhereSoftwareLooks) {
    driver.hardware_checksums = true;
    config_.udp_checksum = ChecksumCheck::software;
    const auto ports = open({{first}});
    ASSERT_EQ(ports.size(), 1U);
    arrive(RTE_MBUF_F_RX_L4_CKSUM_GOOD);
    std::array<Packet, 8> burst;
    ASSERT_EQ(ports[0]->receive(burst, 1), 1U);
    EXPECT_EQ(burst[0].udp_checksum, Checksum::unknown);
}

std::int64_t wall_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

template <class Step>
std::int64_t duration_ns(const Step& step) {
    const std::int64_t begin_ns = wall_ns();
    step();
    return wall_ns() - begin_ns;
}

TEST_F(DpdkDriver, StampsBecomeWallTime) {
    driver.stamps = true;
    driver.ticks_per_us = 156;
    const auto ports = open({{first}});
    ASSERT_EQ(ports.size(), 1U);
    const dpdk::StampField field = dynamic_cast<const dpdk::DpdkPort&>(*ports[0]).device().stamps();
    ASSERT_NE(field.flag, 0U);
    std::uint64_t ticks = 0;
    std::int64_t stamped_ns = 0;
    std::int64_t due_ns = wall_ns();
    std::int64_t took_ns = 0;
    do {  // again if this thread was interrupted while it read two clocks
        took_ns = duration_ns([&] { ports[0]->housekeep(due_ns += 2'000'000'000); });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        took_ns += duration_ns([&] {
            ports[0]->housekeep(due_ns += 2'000'000'000);  // after two readings, the rate is known
            stamped_ns = wall_ns();
            rte_eth_read_clock(0, &ticks);
        });
    } while (took_ns > 1'000'000);
    *RTE_MBUF_DYNFIELD(arrive(field.flag), field.offset, rte_mbuf_timestamp_t*) = ticks;
    arrive(0);  // a packet without a stamp
    std::array<Packet, 8> burst;
    const std::int64_t burst_ns = stamped_ns + 40'000'000;
    ASSERT_EQ(ports[0]->receive(burst, burst_ns), 2U);
    EXPECT_NEAR(static_cast<double>(burst[0].ts_receive_ns - stamped_ns), 0, 10e6);
    EXPECT_NE(burst[0].ts_receive_ns, burst_ns);
    EXPECT_EQ(burst[1].ts_receive_ns, burst_ns);
}

TEST_F(DpdkDriver, StampsOfAClockThatCannotBeReadAreIgnored) {
    driver.stamps = true;
    const auto ports = open({{first}});
    ASSERT_EQ(ports.size(), 1U);
    EXPECT_EQ(dynamic_cast<const dpdk::DpdkPort&>(*ports[0]).device().stamps().flag, 0U);
}

/// Housekeeping uses the link state that the control thread last read, because a driver need not
/// support two threads that query the link at once, and a query can take long.
TEST_F(DpdkDriver, LinkChangesAreCountedWithoutAskingTheDriver) {
    const auto ports = open({{first}});
    ASSERT_EQ(ports.size(), 1U);
    std::int64_t now_ns = 1'000'000'000;
    for (const std::uint64_t changes : {0U, 1U, 2U}) {
        driver.link_up = changes != 1;
        EXPECT_EQ(ports[0]->statistics().link_up, driver.link_up);
        const unsigned asked = driver.link_asked;
        ports[0]->housekeep(now_ns += 1'000'000'000);
        EXPECT_EQ(ports[0]->counters().read(nic::PortCount::link_changes), changes);
        EXPECT_EQ(driver.link_asked, asked);
    }
}

TEST_F(DpdkDriver, BuffersHeldElsewhereAreNotPutBackTwice) {
    const auto ports = open({{first}});
    ASSERT_EQ(ports.size(), 1U);
    const unsigned before = rte_mempool_avail_count(pool_);
    rte_mbuf* shared = arrive(0);
    rte_mbuf_refcnt_update(shared, 1);
    arrive(0);
    std::array<Packet, 8> burst;
    ASSERT_EQ(ports[0]->receive(burst, 1), 2U);
    EXPECT_EQ(ports[0]->receive(burst, 2), 0U);
    EXPECT_EQ(rte_mbuf_refcnt_read(shared), 1U);
    EXPECT_EQ(rte_mempool_avail_count(pool_), before - 1);
    rte_pktmbuf_free(shared);
    EXPECT_EQ(rte_mempool_avail_count(pool_), before);
}

TEST_F(DpdkDriver, MemoryCountedCoversMemoryTaken) {
    rte_malloc_socket_stats before{};
    rte_malloc_socket_stats with_port{};
    rte_malloc_get_socket_stats(0, &before);
    config_.own.get<dpdk::DpdkConfig>().descriptors_count = 4096;
    const auto ports = open({{first}, {second}});
    ASSERT_EQ(ports.size(), 2U);
    rte_malloc_get_socket_stats(0, &with_port);
    const dpdk::PortDemand demand = dpdk::demand_of(config_, 2);
    const std::size_t taken = with_port.heap_allocsz_bytes - before.heap_allocsz_bytes;
    EXPECT_LE(taken, dpdk::memory_need(demand).total_bytes);
    // The estimate is not far too high.
    EXPECT_GE(taken, dpdk::memory_need(demand).total_bytes * 3 / 4);
    EXPECT_LE(before.heap_allocsz_bytes, dpdk::runtime_bytes);
    RecordProperty("taken_bytes", std::to_string(taken));
    RecordProperty("runtime_bytes", std::to_string(before.heap_allocsz_bytes));
}

/// A message that DPDK logs on a poll thread is not printed until it is fetched.
TEST(DpdkLog, linesOfPollThreadsWaitUntilTheyAreFetched) {
    std::thread([] {
        ASSERT_TRUE(dpdk::Eal::attach_thread());
        rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "from a poll thread %d\n", 1);
        EXPECT_THAT(said, Not(HasSubstr("from a poll thread")));
        for (std::size_t i = 0; i < dpdk::HotLines::lines_max; ++i) {
            rte_log(RTE_LOG_WARNING, RTE_LOGTYPE_USER1, "again\n");
        }
    }).join();
    rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "from this thread\n");
    EXPECT_THAT(said, HasSubstr("from this thread\n"));
    EXPECT_THAT(said, Not(HasSubstr("from a poll thread")));
    dpdk::Eal::running()->log().fetch();
    EXPECT_THAT(said, HasSubstr("from a poll thread 1\nagain\n"));
    EXPECT_THAT(said, HasSubstr("1 lines of DPDK on poll threads left out\n"));
}

/// Empty receives come between others in every state of the ring, also when it makes room.
TEST(HeldBuffers, OverEmptyReceivesAllComeBack) {
    constexpr std::size_t burst = 8;
    constexpr std::size_t kept_most = 32;
    constexpr unsigned all = 255;
    rte_mempool* pool =
        rte_pktmbuf_pool_create("held", all, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    ASSERT_NE(pool, nullptr);
    std::mt19937 dice(3);
    dpdk::HeldBuffers held(pool, burst, kept_most);
    std::deque<rte_mbuf*> kept;
    for (int round = 0; round < 20'000; ++round) {
        rte_mbuf** room = held.room();
        const std::size_t came = dice() % 2 == 0 ? 0 : dice() % (burst + 1);
        if (came != 0) {
            ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool, room, static_cast<unsigned>(came)), 0) << round;
            held.add(came);
        }
        ASSERT_EQ(held.last_burst().size(), came) << round;
        const bool keeps = came != 0 && kept.size() + came <= kept_most && dice() % 4 != 0;
        if (keeps) {
            kept.insert(kept.end(), room, room + came);
        }
        const std::size_t back = dice() % (std::min<std::size_t>(kept.size(), 6) + 1);
        held.give_back_oldest(back, nullptr);
        kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(back));
        if (!keeps) {
            held.give_back_last(nullptr);
        }
        held.end_burst();
        ASSERT_EQ(rte_mempool_avail_count(pool), all - kept.size()) << round;
    }
    held.give_back_all(nullptr);
    EXPECT_EQ(rte_mempool_avail_count(pool), all);
    rte_mempool_free(pool);
}

}  // namespace
}  // namespace pinstrike::nic

int main(int argc, char** argv) {
    using namespace pinstrike;
    testing::InitGoogleTest(&argc, argv);
    nic::PortConfig port;
    port.name = "a0";
    auto& own = port.own.get<nic::dpdk::DpdkConfig>();
    own.vdev = "net_ring0";
    own.hugepages = nic::with_hugepages = argc > 1 && std::strcmp(argv[1], "--hugepages") == 0;
    Problems problems;
    const auto eal =
        nic::dpdk::Eal::start({{nic::dpdk::demand_of(port, 4)},
                               {},
                               [](auto, auto line) { nic::said.append(line) += '\n'; }},
                              problems);
    return eal == nullptr ? 1 : RUN_ALL_TESTS();
}
