#include "actors/topology/topology.h"

#include "config/memory_sizes.h"
#include "nic/dpdk/dpdk_config.h"
#include "tests/actors/topology/two_sockets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinstrike::actors {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> texts(const Problems& problems) {
    std::vector<std::string> all;
    for (const Problem& problem : problems) {
        all.push_back(problem.text);
    }
    return all;
}

TEST(Topology, has_a_ring_from_every_poller_to_every_core) {
    const Topology topology = plan_topology(config_of(0, 2, 4, 6));
    ASSERT_EQ(topology.rings.size(), 4U);
    EXPECT_EQ(topology.rings[1].from, "poll0");
    EXPECT_EQ(topology.rings[1].to, "core1");
    EXPECT_EQ(topology.rings[1].slots, 1024U);
    EXPECT_EQ(topology.ring_bytes(), 4 * 1024 * 64U);
    EXPECT_EQ(topology.pollers[1].lines, (std::vector<std::size_t>{1}));
    EXPECT_EQ(topology.port_readers[0], (std::vector<std::size_t>{0}));
    EXPECT_EQ(topology.port_readers[1], (std::vector<std::size_t>{0, 1}));
}

TEST(Topology, of_a_feed_with_one_stream_says_so) {
    FeedConfig config = config_of(0, 2, -1, -1);
    const auto remarks = [&config] {
        return check_topology(plan_topology(config), config, two_sockets()).remarks;
    };
    EXPECT_EQ(streams_received(config), feed::both_streams);
    EXPECT_THAT(remarks(), Not(Contains(HasSubstr("none receives"))));
    for (nic::PortConfig& port : config.ports) {
        port.streams = "A";
    }
    EXPECT_EQ(streams_received(config), (feed::StreamsReceived{true, false}));
    EXPECT_THAT(remarks(), Contains(HasSubstr("ports: none receives stream B: what is lost on "
                                              "stream A has no copy")));
}

TEST(Topology, that_fits_has_no_problem) {
    const FeedConfig config = config_of(0, 2, -1, -1);
    const auto findings = check_topology(plan_topology(config), config, two_sockets());
    EXPECT_THAT(texts(findings.problems), IsEmpty());
    EXPECT_THAT(findings.remarks, IsEmpty());
}

TEST(Topology, reports_every_cpu_that_is_missing_or_taken) {
    const FeedConfig config = config_of(0, 0, 9, 10);
    const auto found = texts(check_topology(plan_topology(config), config, two_sockets()).problems);
    EXPECT_EQ(found.size(), 3U);
    EXPECT_THAT(found, Contains("poll1: cpu 0 is already used by poll0"));
    EXPECT_THAT(found, Contains(HasSubstr("core0: cpu 9 is not one")));
    EXPECT_THAT(found, Contains(HasSubstr("core1: cpu 10 is not one")));
}

TEST(Topology, remarks_on_shared_cores_and_distant_memory) {
    const FeedConfig config = config_of(0, 1, 4, 2);
    const auto findings = check_topology(plan_topology(config), config, two_sockets());
    EXPECT_THAT(texts(findings.problems), IsEmpty());
    EXPECT_THAT(findings.remarks, Contains(HasSubstr("shares its physical core with poll0")));
    EXPECT_THAT(findings.remarks, Contains("ring poll0 to core0: crosses from NUMA node 0 to 1"));
    const FeedConfig far = config_of(5, 2, -1, -1);
    EXPECT_THAT(check_topology(plan_topology(far), far, two_sockets()).remarks,
                Contains("poll0: cpu 5 is on NUMA node 1, port a0 (0000:3b:00.0) on node 0"));
}

TEST(Topology, remarks_on_addresses_that_others_reach) {
    FeedConfig config = config_of(0, 2, -1, -1);
    for (const char* own : {"127.0.0.1:9464", "localhost:9464", "[::1]:9464"}) {
        config.metrics_address = own;
        EXPECT_THAT(check_topology(plan_topology(config), config, two_sockets()).remarks,
                    IsEmpty());
    }
    config.metrics_address = "0.0.0.0:9464";
    EXPECT_THAT(check_topology(plan_topology(config), config, two_sockets()).remarks,
                Contains(HasSubstr("metrics_address: 0.0.0.0:9464 is not this host's loopback")));
}

TEST(Topology, remarks_on_peers_that_it_asks_without_tls) {
    FeedConfig config = config_of(0, 2, -1, -1);
    const auto remarks = [&config] {
        return check_topology(plan_topology(config), config, two_sockets()).remarks;
    };
    config.peer.secret_file = "secret";
    config.peer.connect = {{nic::Ipv4{0x7F00'0001}, 9470}};
    EXPECT_THAT(remarks(), Not(Contains(HasSubstr("peer: "))));
    config.peer.connect.push_back({nic::Ipv4{0x0A01'0002}, 9470});
    EXPECT_THAT(remarks(), Contains(HasSubstr("connects to 127.0.0.1:9470, 10.1.0.2:9470 without "
                                              "TLS")));
    EXPECT_THAT(remarks(), Contains(HasSubstr("can send forged blocks to this instance")));
    config.peer.state = true;
    EXPECT_THAT(remarks(), Contains(HasSubstr("forged blocks and states of series to")));
    config.peer.tls.certificate = "host.pem";
    EXPECT_THAT(remarks(), Not(Contains(HasSubstr("peer: "))));
}

TEST(Topology, needs_filters_where_they_are_wanted) {
    FeedConfig config = config_of(0, 2, -1, -1);
    Machine without = two_sockets();
    without.no_call_filters = "Function not implemented";
    EXPECT_THAT(texts(check_topology(plan_topology(config), config, without).problems),
                Contains(HasSubstr("no seccomp filters (Function not implemented)")));
    config.system_calls = SystemCalls::free;
    EXPECT_THAT(texts(check_topology(plan_topology(config), config, without).problems), IsEmpty());
}

TEST(Topology, needs_memory_and_known_actors) {
    FeedConfig config = config_of(0, 2, -1, -1);
    config.cores[0].actors = {"bock"};
    Machine small = two_sockets();
    small.memory_bytes = 1 << 20;
    const auto found = texts(check_topology(plan_topology(config), config, small).problems);
    EXPECT_THAT(found, Contains(HasSubstr("found no actor of kind bock, expected one of book")));
    EXPECT_THAT(found, Contains(HasSubstr("of the machine's 1.0 MiB are free 1.0 MiB")));
}

/// The free memory counts, not all memory of the machine. DPDK uses it if it has no hugepages.
TEST(Topology, needs_memory_that_is_free) {
    FeedConfig config = config_of(0, 2, -1, -1);
    for (nic::PortConfig& port : config.ports) {
        auto& own = port.own.get<nic::dpdk::DpdkConfig>();
        own.pci.clear();
        own.vdev = "net_null" + port.name;
    }
    Machine machine = two_sockets();
    const Topology reserved = plan_topology(config);
    machine.free_bytes = reserved.memory_bytes();
    EXPECT_EQ(reserved.dpdk_bytes, 0U);
    EXPECT_THAT(texts(check_topology(reserved, config, machine).problems), IsEmpty());
    for (nic::PortConfig& port : config.ports) {
        port.own.get<nic::dpdk::DpdkConfig>().hugepages = false;
    }
    const Topology ordinary = plan_topology(config);
    EXPECT_GT(ordinary.dpdk_bytes, 0U);
    EXPECT_THAT(texts(check_topology(ordinary, config, machine).problems),
                Contains(HasSubstr("DPDK")));
    machine.free_bytes = ordinary.memory_bytes();
    EXPECT_THAT(texts(check_topology(ordinary, config, machine).problems), IsEmpty());
}

TEST(Topology, names_every_part_of_the_memory_that_it_lacks) {
    FeedConfig config = config_of(0, 2, -1, -1);
    config.history.memory_bytes = std::size_t{100} << 30;
    const Topology topology = plan_topology(config);
    const std::string history =
        fmt::format("history {:.1f} MiB", static_cast<double>(topology.recovery.history_bytes) /
                                              static_cast<double>(mebibyte));
    EXPECT_THAT(texts(check_topology(topology, config, two_sockets()).problems),
                Contains(HasSubstr(history)));
}

TEST(Topology, counts_what_lines_may_hold) {
    FeedConfig config = config_of(0, 2, -1, -1);
    config.arbitration.hold_bytes = std::size_t{40} << 30;  // 80 GiB a line; the machine has 64
    const Topology topology = plan_topology(config);
    EXPECT_LT(topology.memory_bytes() - topology.line_bytes, std::size_t{1} << 30);
    EXPECT_GT(topology.line_bytes, std::size_t{160} << 30);
    EXPECT_THAT(texts(check_topology(topology, config, two_sockets()).problems),
                Contains(HasSubstr(", lines ")));
    EXPECT_THAT(to_text(topology, config), HasSubstr(", lines "));
}

/// The process that reads recorded state has one poller for all lines and one core, and records
/// nothing. A lack of memory for it prevents no start.
TEST(Topology, names_the_memory_that_recorded_state_needs) {
    FeedConfig config = config_of(0, 2, -1, -1);
    EXPECT_FALSE(recovers_state(config));
    config.record.on = true;
    EXPECT_TRUE(recovers_state(config));
    const FeedConfig other = recovery_config(config);
    EXPECT_EQ(other.pollers.size(), 1U);
    EXPECT_EQ(other.pollers[0].lines.size(), config.lines.size());
    EXPECT_EQ(other.cores.size(), 1U);
    EXPECT_FALSE(other.record.on);
    const Topology topology = plan_topology(config);
    EXPECT_THAT(to_text(topology, config), HasSubstr("recorded state    taken at the start"));
    Machine machine = two_sockets();
    machine.free_bytes = topology.memory_bytes();
    const TopologyFindings found = check_topology(topology, config, machine);
    EXPECT_THAT(texts(found.problems), IsEmpty());
    EXPECT_THAT(found.remarks, Contains(HasSubstr("record.recover: the process")));
    machine.free_bytes = 3 * topology.memory_bytes();
    EXPECT_THAT(check_topology(topology, config, machine).remarks,
                Not(Contains(HasSubstr("record.recover"))));
    config.record.snapshot_interval_ns = 0;
    EXPECT_FALSE(recovers_state(config));
    config.record.snapshot_interval_ns = 1;
    config.record.recover = false;
    EXPECT_FALSE(recovers_state(config));
}

TEST(Topology, is_printed_for_people) {
    const FeedConfig config = config_of(0, 2, -1, -1);
    const std::string text = to_text(plan_topology(config), config);
    EXPECT_THAT(text, HasSubstr("poll0"));
    EXPECT_THAT(text, HasSubstr("ring   poll1 to core1: 1024 records"));
    EXPECT_THAT(text, HasSubstr("dpdk 0000:3b:00.0"));
}

TEST(Machine, sees_the_cpu_it_runs_on) {
    const Machine machine = read_machine();
    if (machine.cpus.empty()) {
        GTEST_SKIP() << "this host tells nothing of its processors";
    }
    EXPECT_TRUE(place_this_thread(machine.cpus.front().index, "test"));
    EXPECT_GT(machine.free_bytes, 0U);
    EXPECT_GT(machine.memory_bytes, machine.free_bytes);
}

}  // namespace
}  // namespace pinstrike::actors
