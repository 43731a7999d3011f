// path: cold
//
// The rules between the parts of a feed's config. Each is broken by one edit of a valid text, and
// reported with its place; and by hand-made structs, which have no places.
#include "actors/topology/actor_kinds.h"
#include "actors/topology/feed_rules.h"
#include "actors/topology/load_config.h"
#include "config/form.h"
#include "feed/venue_codecs.h"
#include "tests/config/problems.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {
namespace {

constexpr std::string_view sound = R"(kind: opra
lines: 1-4
ports:
  - {name: a, kind: dpdk, pci: "0000:3b:00.0", streams: A, source_address: 10.0.0.1}
  - {name: b, kind: dpdk, pci: "0000:5e:00.0", streams: B, membership: static}
pollers:
  - {name: p0, cpu: 1, lines: 1-2, ports: [a, b]}
  - {name: p1, cpu: 2, lines: 3-4, ports: [a, b]}
cores:
  - {name: c0, cpu: 3}
  - {name: c1, cpu: 4}
control_cpu: 0
)";

std::string problems_of(std::string_view text) {
    Problems problems;
    const auto config = parse_config(text, "f", problems);
    EXPECT_EQ(config.has_value(), problems.empty());
    return text_of(problems);
}

/// The names of all venues, as a problem lists them.
std::string venues() {
    std::vector<ChoiceDoc> words;
    feed::for_each_venue([&words]<class Codec>() {
        words.push_back({std::string{Codec::name}, {}});
    });
    return words_joined(words);
}

/// The valid text with one piece replaced.
std::string edited(std::string_view from, std::string_view to) {
    std::string text{sound};
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Rules, SoundTextIsSound) {
    EXPECT_EQ(problems_of(sound), "");
}

struct Edit {
    const char* from;
    const char* to;
    std::string problem;
};

class Rule : public testing::TestWithParam<Edit> {};

TEST_P(Rule, BrokenIsReportedWithItsPlace) {
    EXPECT_EQ(problems_of(edited(GetParam().from, GetParam().to)), GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    Cpus, Rule,
    testing::Values(
        Edit{"p1, cpu: 2", "p1, cpu: 1",
             "f:8:21: pollers[1].cpu: found cpu 1 again, expected a processor for each: "
             "pollers[0].cpu has it\n"},
        Edit{"c1, cpu: 4", "c1, cpu: 3",
             "f:11:21: cores[1].cpu: found cpu 3 again, expected a processor for each: "
             "cores[0].cpu has it\n"},
        Edit{"c0, cpu: 3", "c0, cpu: 2",
             "f:10:21: cores[0].cpu: found cpu 2 again, expected a processor for each: "
             "pollers[1].cpu has it\n"},
        Edit{"control_cpu: 0", "control_cpu: 4", ""}, Edit{"p1, cpu: 2", "p1, cpu: any", ""},
        Edit{"c0, cpu: 3", "c0, cpu: -1",
             "f:10:21: cores[0].cpu: found \"-1\", expected an integer from 0 to 4095, or any\n"}));

INSTANTIATE_TEST_SUITE_P(
    Watch, Rule,
    testing::Values(
        Edit{"control_cpu: 0", "silence: {stream_down_after: 5s}",
             "f:12:30: silence.stream_down_after: found 5s, expected at least "
             "silence.stream_silent_after, which is 12s\n"},
        Edit{"control_cpu: 0", "calendar: {regular: 1-2}",
             "f:12:21: calendar.regular: found \"1-2\", expected hours such as 19:45-11:35\n"},
        Edit{"control_cpu: 0", "calendar: {gth: \"19:00-24:00\"}",
             "f:12:17: calendar.gth: found \"19:00-24:00\" in quotes, expected hours such as "
             "19:45-11:35\n"},
        Edit{"control_cpu: 0", "calendar: {holidays: [2026-11-26, 2026-02-29]}",
             "f:12:35: calendar.holidays[1]: found \"2026-02-29\", expected a date such as "
             "2026-11-26\n"},
        Edit{"control_cpu: 0", "calendar: {hours: session, holidays: [2026-11-26]}", ""},
        Edit{"control_cpu: 0",
             "calendar: {gth_holidays: [2026-12-25], days: [{date: 2026-11-27, regular: "
             "\"01:00-15:30\"}]}",
             ""},
        Edit{"control_cpu: 0", "calendar: {days: [{regular: \"01:00-15:30\"}]}",
             "f:12:19: calendar.days[0].date: found nothing, expected a date such as "
             "2026-11-26\n"}));

INSTANTIATE_TEST_SUITE_P(
    Peers, Rule,
    testing::Values(
        Edit{"control_cpu: 0", "recovery: {sources: [peer]}",
             "f:12:22: recovery.sources[0]: found peer, expected addresses in peer.connect: there "
             "is no peer to ask\n"},
        Edit{"control_cpu: 0", "history: {memory: 64MiB}",
             "f:12:10: history: found history without section peer, expected both: no peer could "
             "request what is kept\n"},
        Edit{"control_cpu: 0", "peer: {secret_file: s}",
             "f:12:7: peer: found neither connect nor section history, expected one of them: "
             "no peer is asked, and nothing is kept for peers\n"},
        Edit{"control_cpu: 0", "peer: {secret_file: s, connect: [10.0.0.2:9470]}",
             "f:12:33: peer.connect: found peers in connect, expected recovery.sources to name "
             "peer as "
             "well\n"},
        Edit{"control_cpu: 0", "peer: {connect: []}",
             "f:12:7: peer.secret_file: found nothing, expected the path of a file\n"},
        Edit{"control_cpu: 0", "peer: {secret_file: s}\nhistory: {memory: 64MiB}", ""},
        Edit{"control_cpu: 0",
             "recovery: {sources: [peer]}\npeer: {secret_file: s, connect: [10.0.0.2:9470]}", ""}));

INSTANTIATE_TEST_SUITE_P(
    Lines, Rule,
    testing::Values(
        Edit{"control_cpu: 0", "record: {lines: [0, 2-6]}",
             "f:12:17: record.lines: found 5-6, expected lines of the feed, or 0\n"},
        Edit{"control_cpu: 0", "record: {lines: '0, 4'}", ""},
        Edit{"lines: 1-4", "lines: 1-5",
             "f:2:8: lines: found 5 in no poller, expected each line in one\n"},
        Edit{"lines: 3-4", "lines: 2-4",
             "f:8:31: pollers[1].lines: found 2 again, expected each line in one poller: "
             "pollers[0] has it\n"},
        Edit{"lines: 3-4", "lines: 3-6",
             "f:8:31: pollers[1].lines: found 5-6, expected lines of the feed (1-4)\n"},
        Edit{"lines: 1-4", "lines: [1-4, 2]",
             "f:2:14: lines: found line 2 again, expected each line once\n"},
        Edit{"lines: 1-4", "lines: 1-4, 300",
             "f:2:8: lines: found 300, expected numbers that the venue publishes, or {number, a, "
             "b} with the groups\n"
             "f:2:8: lines: found 300 in no poller, expected each line in one\n"},
        Edit{"lines: 1-4", "lines: [1-3, {number: 4, a: 239.0.0.1:5000, b: 239.0.0.1:5000}]",
             "f:2:14: lines: found 239.0.0.1:5000 twice (lines 4 and 4), expected each group and "
             "port once\n"},
        Edit{"lines: 1-4", "lines: [1-3, {number: 4, a: 224.0.204.1:45001, b: 239.0.0.1:5000}]",
             "f:2:14: lines: found 224.0.204.1:45001 twice (lines 1 and 4), expected each group "
             "and port once\n"},
        Edit{"lines: 1-4", "lines: [1-3, {number: 4, a: 10.0.0.1:5000, b: 239.0.0.1:5000}]",
             "f:2:29: lines[1].a: found \"10.0.0.1:5000\", expected a multicast group and port "
             "such as 224.0.204.1:45001\n"},
        Edit{"lines: 1-4", "lines: [1-3, 70000, 2, {number: 500, a: 239.0.0.1:5000}]",
             "f:2:14: lines[1]: found \"70000\", expected numbers and ranges from 1 to 65535, "
             "such as 1-48, 220\n"
             "f:2:21: lines: found line 2 again, expected each line once\n"
             "f:2:24: lines[3].b: found nothing, expected a multicast group and port such as "
             "224.0.204.1:45001\n"},
        Edit{"lines: 1-4", "lines: []",
             "f:2:8: lines: found an empty list, expected at least one\n"},
        Edit{"lines: 1-4\n", "",
             "f:1:1: lines: found nothing, expected numbers and ranges such as 1-96, 220, or a "
             "list of them and of {number, a, b}\n"}));

INSTANTIATE_TEST_SUITE_P(
    LoopedCaptures, Rule,
    testing::Values(
        Edit{"control_cpu: 0", "arbitration: {looped_captures: true}",
             "f:12:32: arbitration.looped_captures: found true with the port \"a\", expected only "
             "ports of kind pcap or sim, or DPDK's net_pcap with rx_pcap: a venue never repeats "
             "its times\n"},
        Edit{"control_cpu: 0", "arbitration: {looped_captures: false}", ""}));

TEST(Rules, LoopedCapturesAreForPortsWhoseTrafficIsMadeHere) {
    const auto is_refused = [](const std::string& port) {
        return problems_of("kind: opra\nlines: 1-4\nports: [{name: a, " + port +
                           "}]\npollers: [{name: p0}]\ncores: [{name: c0}]\n"
                           "arbitration: {looped_captures: true}\n")
                   .find("arbitration.looped_captures") != std::string::npos;
    };
    EXPECT_FALSE(is_refused("kind: pcap, files: [a.pcap]"));
    EXPECT_FALSE(is_refused("kind: sim"));
    EXPECT_FALSE(is_refused("kind: dpdk, vdev: 'net_pcap0,rx_pcap=a.pcap,infinite_rx=1'"));
    EXPECT_TRUE(is_refused("kind: dpdk, vdev: 'net_pcap0,rx_iface=eth0'"));
    EXPECT_TRUE(is_refused("kind: dpdk, vdev: 'net_ring0'"));
    EXPECT_TRUE(is_refused("kind: uring, interface: eth0"));
}

INSTANTIATE_TEST_SUITE_P(
    Streams, Rule,
    testing::Values(
        Edit{
            "1-2, ports: [a, b]", "1-2, ports: [a]",
            "f:7:43: pollers[0].ports: found no port that receives stream B of lines 1-2, expected "
            "both streams of a line at one poller: it arrives at pollers[1]\n"},
        Edit{"streams: B", "streams: A", ""},
        Edit{"streams: B", "streams: C",
             "f:5:57: ports[1].streams: found \"C\", expected AB, A or B\n"}));

INSTANTIATE_TEST_SUITE_P(
    Ports, Rule,
    testing::Values(
        Edit{"3-4, ports: [a, b]", "3-4, ports: [a, x]",
             "f:8:47: pollers[1].ports[1]: found \"x\", expected the name of a port\n"},
        Edit{"3-4, ports: [a, b]", "3-4, ports: [a, b, a]",
             "f:8:50: pollers[1].ports[2]: found \"a\" again, expected each port once\n"},
        Edit{"pollers:", "  - {name: spare, kind: sim}\npollers:",
             "f:6:5: ports[2]: found port \"spare\" in no poller, expected it in the ports of "
             "one\n"},
        Edit{"{name: b, kind", "{name: a, kind",
             "f:5:12: ports[1].name: found \"a\" again, expected a unique name: ports[0] has "
             "it\n"
             "f:7:47: pollers[0].ports[1]: found \"b\", expected the name of a port\n"
             "f:8:47: pollers[1].ports[1]: found \"b\", expected the name of a port\n"},
        Edit{"0000:5e:00.0", "0000:3b:00.0",
             "f:5:32: ports[1].pci: found the device of ports[0] again, expected one port for each "
             "device: let several pollers name that port, and it has a queue for each\n"},
        Edit{"0000:5e:00.0", "0000:3B:00.0",
             "f:5:32: ports[1].pci: found the device of ports[0] again, expected one port for each "
             "device: let several pollers name that port, and it has a queue for each\n"},
        Edit{"pci: \"0000:5e:00.0\", ", "",
             "f:5:5: ports[1]: found neither pci nor vdev, expected one of them\n"},
        Edit{"pci: \"0000:5e:00.0\"", "pci: \"0000:5e:00.0\", vdev: net_null0",
             "f:5:54: ports[1].vdev: found vdev beside pci, expected only one of them\n"},
        Edit{"pci: \"0000:5e:00.0\"", "pci: 5e:00.0",
             "f:5:32: ports[1].pci: found \"5e:00.0\", expected a PCI address such as "
             "0000:3b:00.0, or none\n"},
        Edit{"membership: static", "membership: igmp",
             "f:5:5: ports[1].source_address: found none, expected the source address of IGMP "
             "reports (or membership: static)\n"},
        Edit{"membership: static", "membership: static, hugepages: false",
             "f:5:91: ports[1].hugepages: found false with a PCI device, expected true: NICs write "
             "into hugepages\n"
             "f:5:91: ports[1].hugepages: found false and another value in an earlier dpdk port, "
             "expected one for all: DPDK's memory belongs to the process\n"},
        Edit{"membership: static", "membership: static, files: [x]",
             "f:5:80: ports[1].files: found in a port of another kind, expected only with kind "
             "pcap\n"},
        Edit{"membership: static", "membership: static, when_full: wait",
             "f:5:80: ports[1].when_full: found an unknown key, expected one of a port\n"},
        Edit{"kind: dpdk, pci: \"0000:5e:00.0\", streams: B, membership: static",
             "kind: uring, streams: B",
             "f:5:5: ports[1].interface: found none, expected the kernel interface\n"},
        Edit{"kind: dpdk, pci: \"0000:5e:00.0\", streams: B, membership: static",
             "kind: uring, interface: abcdefghijklmnop, streams: B",
             "f:5:39: ports[1].interface: found \"abcdefghijklmnop\", expected a network "
             "interface, at most 15 characters, or none\n"},
        Edit{"kind: dpdk, pci: \"0000:5e:00.0\", streams: B, membership: static",
             "kind: pcap, streams: B",
             "f:5:5: ports[1].files: found none, expected at least one capture\n"
             "f:7:43: pollers[0].ports: found captures beside other ports, expected one or the "
             "other: captures are replayed on their own time\n"
             "f:8:43: pollers[1].ports: found captures beside other ports, expected one or the "
             "other: captures are replayed on their own time\n"},
        Edit{"pci: \"0000:3b:00.0\", streams: A, source_address: 10.0.0.1}\n"
             "  - {name: b, kind: dpdk, pci: \"0000:5e:00.0\",",
             "vdev: \"net_ring0,a=1\", streams: A, source_address: 10.0.0.1}\n"
             "  - {name: b, kind: dpdk, vdev: net_ring0,",
             "f:5:33: ports[1].vdev: found the device of ports[0] again, expected one port for "
             "each device: let several pollers name that port, and it has a queue for each\n"},
        Edit{"dpdk, pci: \"0000:3b:00.0\", streams: A, source_address: 10.0.0.1}\n"
             "  - {name: b, kind: dpdk, pci: \"0000:5e:00.0\", streams: B, membership: static}",
             "pcap, files: [a.pcap], streams: A, pace: real}\n"
             "  - {name: b, kind: pcap, files: [b.pcap], streams: B, pace: x2}",
             "f:5:62: ports[1].pace: found another pace than that of port a, expected one for all: "
             "captures are replayed together\n"}));

INSTANTIATE_TEST_SUITE_P(
    Rest, Rule,
    testing::Values(
        Edit{"kind: opra", "kind: orpa",
             "f:1:7: kind: found \"orpa\", expected " + venues() + "; did you mean \"opra\"?\n"},
        Edit{"kind: opra", "when_full: wait",
             "f:1:12: when_full: found wait with the live port \"a\", expected refuse\n"},
        Edit{"kind: opra", "ring_slots: 100000",
             "f:1:13: ring_slots: found \"100000\", expected a power of two from 1024 to "
             "268435456\n"},
        Edit{"kind: opra", "traffic: {seed: 1}",
             "f:1:1: traffic: found in a feed of another kind, expected only with a port of kind "
             "sim\n"},
        Edit{"kind: opra", "metrics_address: 9464",
             "f:1:18: metrics_address: found \"9464\", expected an address and port such as "
             "127.0.0.1:9464, or none\n"},
        Edit{"kind: opra", "book: {test_symbols: true}",
             "f:1:22: book.test_symbols: found true while the feed's test_symbols is false, "
             "expected both true or neither\n"},
        Edit{"kind: opra", "arbitration: {window: 2}",
             "f:1:23: arbitration.window: found \"2\", expected a duration (ns, us, ms, s, m or h) "
             "from "
             "0ns to 10s\n"},
        Edit{"name: c1", "name: c0",
             "f:11:12: cores[1].name: found \"c0\" again, expected a unique name: cores[0] "
             "has it\n"},
        Edit{"name: p1", "name: p0",
             "f:8:12: pollers[1].name: found \"p0\" again, expected a unique name: pollers[0] "
             "has it\n"},
        Edit{"{name: c0, cpu: 3}", "{name: c0, cpu: 3, actors: [bok]}",
             "f:10:33: cores[0].actors[0]: found \"bok\", expected " +
                 words_joined(actors::actor_kind_words()) + "; did you mean \"book\"?\n"}));

/// A kind that sums up by underlying.
class UnderlyingKind final : public ActorKind {
  public:
    [[nodiscard]] std::string_view name() const override { return "sums"; }

    [[nodiscard]] std::string_view sentence() const override { return "sums"; }

    [[nodiscard]] std::unique_ptr<Actor> make(const ActorSetup& /*setup*/) const override {
        return nullptr;
    }

    [[nodiscard]] bool needs_underlyings_whole() const override { return true; }
};

TEST(Rules, AnActorThatSumsUpByUnderlyingNeedsItsShardingWhereItIsUsed) {
    const UnderlyingKind kind;
    const ActorKind* const kinds[]{&kind};
    FeedConfig config;
    config.cores = {{.name = "c0"}, {.name = "c1", .actors = {"book", "sums"}}};
    const auto problems_with = [&](Sharding sharding) {
        Problems problems;
        config.sharding = sharding;
        check_actors(config, kinds, Places{"f"}, problems);
        return text_of(problems);
    };
    EXPECT_NE(
        problems_with(Sharding::series)
            .find("cores[1].actors[1]: found \"sums\" with sharding series, expected sharding "
                  "underlying"),
        std::string::npos);
    EXPECT_EQ(problems_with(Sharding::underlying), "");
    config.cores[1].actors = {"book"};
    EXPECT_EQ(problems_with(Sharding::series), "");
}

/// A kind whose actors exchange state with peers.
class StatefulKind final : public ActorKind {
  public:
    [[nodiscard]] std::string_view name() const override { return "positions"; }

    [[nodiscard]] std::string_view sentence() const override { return "positions"; }

    [[nodiscard]] std::unique_ptr<Actor> make(const ActorSetup& /*setup*/) const override {
        return nullptr;
    }

    [[nodiscard]] std::size_t transfer_bytes(bool /*takes*/) const override { return 1; }
};

TEST(Rules, OneActorOfACoreExchangesStateWithPeers) {
    const StatefulKind stateful;
    const UnderlyingKind other;
    const ActorKind* const kinds[]{&stateful, &other};
    FeedConfig config;
    config.sharding = Sharding::underlying;
    config.cores = {{.name = "c0", .actors = {"positions", "sums", "positions"}}};
    const auto found = [&] {
        Problems problems;
        check_actors(config, kinds, Places{"f"}, problems);
        return text_of(problems);
    };
    EXPECT_EQ(found(), "") << "without peer.state nothing is exchanged";
    config.peer.state = true;
    const auto refused = [&] {
        return found().find(
                   "cores[0].actors[2]: found \"positions\" beside \"positions\" with "
                   "peer.state or record.snapshot_interval, expected one actor on a core "
                   "that exchanges state") != std::string::npos;
    };
    EXPECT_TRUE(refused());
    config.peer.state = false;
    config.record.on = true;
    EXPECT_TRUE(refused());
    config.record.snapshot_interval_ns = 0;
    EXPECT_EQ(found(), "") << "no snapshots are taken";
    config.peer.state = true;
    config.cores[0].actors = {"positions", "sums"};
    EXPECT_EQ(found(), "");
}

TEST(Rules, EverythingIsReportedAtOnceInTheOrderOfTheFile) {
    EXPECT_EQ(
        problems_of("nmae: x\n"
                    "lines: 1-3\n"
                    "ports:\n"
                    "  - {name: a, kind: sim, burst_packets: 0}\n"
                    "  - {name: b, kind: sim, files: [x], burst_paket: 3}\n"
                    "pollers:\n"
                    "  - {name: p, cpu: 1, lines: 1-2, ports: [a]}\n"
                    "cores:\n"
                    "  - {name: c, cpu: 1, wait: sometimes}\n"
                    "ring_slots: 3\n"
                    "ring_slots: 4096\n"),
        "f:1:1: nmae: found an unknown key, expected one of a feed; did you mean \"name\"?\nf:2:8: "
        "lines: found 3 in no poller, expected each line in one\nf:4:41: ports[0].burst_packets: "
        "found \"0\", expected an integer from 1 to 512\nf:5:5: ports[1]: found port \"b\" in no "
        "poller, expected it in the ports of one\nf:5:26: ports[1].files: found in a port of "
        "another kind, expected only with kind pcap\nf:5:38: ports[1].burst_paket: found an "
        "unknown key, expected one of a port; did you mean \"burst_packets\"?\nf:9:20: "
        "cores[0].cpu: found cpu 1 again, expected a processor for each: pollers[0].cpu has "
        "it\nf:9:29: cores[0].wait: found \"sometimes\", expected spin or park\nf:10:13: "
        "ring_slots: found \"3\", expected a power of two from 1024 to 268435456\nf:11:1: "
        "ring_slots: found the key again, expected it once: it is already in line 10\n");
}

TEST(Rules, AMisunderstoodKeyHidesNoOtherProblemAndMakesNone) {
    // If the misspelt name counted as missing, the poller's port would be unknown too.
    EXPECT_EQ(problems_of(edited("{name: a, kind", "{nam: a, kind")),
              "f:4:5: ports[0].name: found nothing, expected a name of letters, digits, '-', '_' "
              "and '.', at most 32 long\n"
              "f:4:6: ports[0].nam: found an unknown key, expected one of a port; did you mean "
              "\"name\"?\n");
}

TEST(Rules, HostileListsStayCheap) {
    std::string list;
    for (int i = 0; i < 250'000; ++i) {
        list += "1, ";
    }
    EXPECT_EQ(problems_of("lines: 1\nports: [" + list +
                          "]\npollers: [{name: p}]\n"
                          "cores: [{name: c}]\n"),
              "f:2:8: ports: found a list of 250000, expected at most 4096\n");
    // A long list of lines, all of which are refused.
    const std::string text = problems_of(
        "ports: [{name: s, kind: sim}]\npollers: [{name: p}]\n"
        "cores: [{name: c}]\nlines: [" +
        list.substr(0, 30'000) + "x]\n");
    EXPECT_NE(text.find("lines[10000]: found \"x\""), std::string::npos);
}

TEST(Rules, LeftOutMeansAll) {
    Problems problems;
    const auto config = parse_config(
        "lines: 5, 1-2\nports:\n  - {name: x, kind: sim}\n"
        "pollers:\n  - {name: p}\ncores:\n  - {name: c}\n",
        "f", problems);
    ASSERT_TRUE(config) << text_of(problems);
    EXPECT_EQ(config->pollers[0].lines, (std::vector<std::uint16_t>{5, 1, 2}));
    EXPECT_EQ(config->pollers[0].ports, std::vector<std::string>{"x"});
    EXPECT_EQ(config->cores[0].actors, std::vector<std::string>{"book"});
    EXPECT_EQ(config->lines[0].streams[0].port, 45005);
}

TEST(Rules, RetransmissionGroupsComeWhenAskedFor) {
    const std::string rest =
        "ports:\n  - {name: x, kind: sim}\npollers:\n  - {name: p}\n"
        "cores:\n  - {name: c}\nretransmission: true\nlines:\n"
        "  - 1\n  - {number: 300, a: 239.1.1.1:1, b: 239.1.1.2:1, "
        "retransmission_a: 239.1.1.3:2}\n";
    Problems problems;
    const auto config = parse_config(rest, "f", problems);
    ASSERT_TRUE(config) << text_of(problems);
    ASSERT_EQ(config->lines.size(), 2U);
    EXPECT_EQ(config->lines[0].retransmission[1].port, 46001);
    EXPECT_EQ(config->lines[1].retransmission[0].port, 2);
    EXPECT_EQ(config->lines[1].retransmission[1].port, 0);
}

TEST(Rules, StructsMadeByHandNeedNoFile) {
    FeedConfig config;
    config.lines = {{.number = 1,
                     .streams = {nic::Group{{0xE0000001}, 1}, nic::Group{{0xE0000001}, 2}},
                     .retransmission = {}}};
    config.ports.emplace_back().name = "x";
    config.pollers.push_back(
        {.name = "p", .cpu = 1, .lines = {1}, .ports = {"x"}, .wait = WaitStrategy::spin});
    config.cores.emplace_back().cpu = 2;
    Problems problems;
    check_feed(config, Places{}, problems);
    EXPECT_EQ(text_of(problems), "");
    config.cores[0].cpu = 1;
    check_feed(config, Places{}, problems);
    EXPECT_EQ(text_of(problems),
              ": cores[0].cpu: found cpu 1 again, expected a processor for each: pollers[0].cpu "
              "has it\n");
}

}  // namespace
}  // namespace pinstrike::actors
