// path: cold
#include "actors/telemetry/account.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

using feed::LineCount;
using feed::StreamCount;

constexpr std::array reject_rows{Row{"checksum", "blocks", "the checksum is wrong"}};

StreamTotals stream_of(std::initializer_list<std::uint64_t> counts) {
    StreamTotals totals;
    unsigned char row = 0;
    for (const std::uint64_t count : counts) {
        totals[static_cast<StreamCount>(row++)] = count;
    }
    return totals;
}

LineSnapshot balanced_line() {
    LineSnapshot line;
    line.line = 4;
    line.counts[LineCount::highest] = 105;
    line.counts[LineCount::delivered] = 90;
    line.counts[LineCount::lost] = 15;
    line.counts[LineCount::repaired] = 5;
    line.counts[LineCount::unasked] = 7;
    line.counts[LineCount::filtered] = 4;
    line.counts[LineCount::gaps_unlisted] = 5;
    line.counts[LineCount::controls] = 9;
    line.counts[LineCount::unnumbered] = 3;
    line.gaps = {{11, 18}, {4294967294, 4294967295}};
    line.streams = {stream_of({12, 80, 50, 28, 2}), stream_of({10, 70, 35, 35, 0})};
    line.retransmission_packets = 3;
    line.rejected = {1};
    return line;
}

void drop(QueueSnapshot& queue, nic::Drop reason, std::uint64_t packets) {
    queue.dropped[reason] = packets;
}

QueueSnapshot balanced_queue() {
    QueueSnapshot queue;
    queue.name = "a0";
    queue.counts[nic::PortCount::packets] = 30;
    queue.counts[nic::PortCount::bytes] = 3000;
    queue.device.missed = 5;
    queue.device.errors = 0;
    drop(queue, nic::Drop::not_udp, 2);
    drop(queue, nic::Drop::unknown_group, 3);
    queue.unknown_groups = {{{{0xEF01'0404}, 31004}, {0xA245'2C04}, 3}};
    queue.to_lines = 25;
    return queue;
}

RingSnapshot ring_of(const char* to, std::uint64_t routed, std::uint64_t refused,
                     std::uint64_t records) {
    RingSnapshot ring;
    ring.from = "poll0";
    ring.to = to;
    ring.counts[RingCount::routed] = routed;
    ring.counts[RingCount::pushed] = routed - refused;
    ring.counts[RingCount::refused] = refused;
    ring.published_records = records;
    return ring;
}

CoreSnapshot core_of(const char* name, std::uint64_t events, std::uint64_t records,
                     std::vector<AccountRow> rows) {
    CoreSnapshot core;
    core.name = name;
    core.counts[CoreCount::events] = events;
    core.counts[CoreCount::records] = records;
    core.actors.resize(1);
    core.actors[0].name = "book";
    core.actors[0].events = events;
    core.actors[0].account_rows = std::move(rows);
    return core;
}

/// Counters that balance, with every figure in use.
CounterSnapshot balanced_counters() {
    CounterSnapshot counters;
    counters.feed = "opra";
    counters.seconds = 12.5;
    PollerSnapshot& poller = counters.pollers.emplace_back();
    poller.name = "poll0";
    poller.queues = {balanced_queue()};
    poller.lines = {balanced_line()};
    poller.rings = {ring_of("core0", 50, 2, 60), ring_of("core1", 30, 0, 30)};
    poller.reject_rows = reject_rows;
    counters.cores = {core_of("core0", 48, 60, {{"series", 15}, {"series_refused", 1234567}}),
                      core_of("core1", 30, 30, {{"series", 0}})};
    CoreSnapshot& core = counters.cores[0];
    core.counts[CoreCount::gap_events] = 3;
    core.counts[CoreCount::control_events] = 8;
    core.actors.resize(2);
    core.actors[1].name = "trades";
    core.actors[1].events = 9;
    core.actors[1].account_rows = {{"series", 5}, {"trades", 9}};
    return counters;
}

TEST(Account, Balances) {
    EXPECT_TRUE(imbalances(balanced_counters()).empty());
    EXPECT_TRUE(imbalances(CounterSnapshot{}).empty());
}

QueueSnapshot& queue(CounterSnapshot& counters) {
    return counters.pollers[0].queues[0];
}

LineSnapshot& line(CounterSnapshot& counters) {
    return counters.pollers[0].lines[0];
}

RingSnapshot& ring(CounterSnapshot& counters, std::size_t core) {
    return counters.pollers[0].rings[core];
}

/// The recorder wrote 20 of the 30 packets that were received; 3 of the others it had in memory,
/// and 2 were filtered.
CounterSnapshot recorded_counters() {
    CounterSnapshot counters = balanced_counters();
    counters.pollers[0].recorded = 23;
    counters.pollers[0].not_recorded = 5;
    counters.pollers[0].filtered = 2;
    counters.recorder.emplace();
    counters.recorder->counts[RecorderCount::written] = 20;
    counters.recorder->counts[RecorderCount::unwritten] = 3;
    counters.recorder->counts[RecorderCount::segments] = 2;
    counters.recorder->counts[RecorderCount::bytes] = 8192;
    counters.recorder->counts[RecorderCount::snapshots] = 1;
    return counters;
}

TEST(Account, StatesWhatWasRecorded) {
    const CounterSnapshot counters = recorded_counters();
    EXPECT_TRUE(imbalances(counters).empty());
    const auto account = nlohmann::json::parse(account_json(counters));
    EXPECT_EQ(account["recording"], (nlohmann::json{{"recorded", 20},
                                                    {"not_recorded", 8},
                                                    {"filtered", 2},
                                                    {"segments", 2},
                                                    {"bytes", 8192},
                                                    {"compressed", 0},
                                                    {"compressed_from", 0},
                                                    {"compressed_to", 0},
                                                    {"snapshots", 1},
                                                    {"recovered_series", 0}}));
    EXPECT_NE(account_text(counters).find("recording"), std::string::npos);
    EXPECT_FALSE(nlohmann::json::parse(account_json(balanced_counters())).contains("recording"));
}

TEST(Account, SaysWhatIsMissingBeforeRecordedState) {
    CounterSnapshot counters = recorded_counters();
    EXPECT_FALSE(
        nlohmann::json::parse(account_json(counters))["lines"][0].contains("missed_before_start"));
    counters.recorder->recovered_series = 7;
    counters.pollers[0].lines[0].missed_before_start = 3;
    EXPECT_TRUE(imbalances(counters).empty());
    const auto account = nlohmann::json::parse(account_json(counters));
    EXPECT_EQ(account["recording"]["recovered_series"], 7);
    EXPECT_EQ(account["lines"][0]["missed_before_start"], 3);
    EXPECT_NE(account_text(counters).find("7 series began with recorded state; 3 messages"),
              std::string::npos);
}

TEST(Account, NamesARecordingThatDoesNotBalance) {
    for (const auto row : {RecorderCount::written, RecorderCount::unwritten}) {
        CounterSnapshot counters = recorded_counters();
        counters.recorder->counts[row] += 1;
        EXPECT_EQ(imbalances(counters),
                  (std::vector<std::string>{"recording: received = recorded + not recorded + "
                                            "filtered does not hold: 30 against 31"}));
    }
    CounterSnapshot counters = recorded_counters();
    counters.pollers[0].recorded += 1;
    EXPECT_EQ(imbalances(counters),
              (std::vector<std::string>{"recording of poller poll0: received = recorded + not "
                                        "recorded + filtered does not hold: 30 against 31"}));
}

struct Mistake {
    const char* found;
    std::function<void(CounterSnapshot&)> make;
};

/// Every figure that is off by one is found, and the violated equation is named.
TEST(Account, NamesWhatDoesNotBalance) {
    using Counters = CounterSnapshot;
    const Mistake mistakes[] = {
        {"port a0: packets = dropped",
         [](Counters& c) { ++queue(c).counts[nic::PortCount::packets]; }},
        {"port a0: packets = dropped",
         [](Counters& c) { ++queue(c).dropped[static_cast<nic::Drop>(1)]; }},
        {"ports and lines", [](Counters& c) { ++line(c).streams[0][StreamCount::packets]; }},
        {"line 4 stream A: messages",
         [](Counters& c) { ++line(c).streams[0][StreamCount::messages]; }},
        {"line 4 stream B: messages",
         [](Counters& c) { ++line(c).streams[1][StreamCount::rejected]; }},
        {"line 4: delivered = accepted",
         [](Counters& c) { ++line(c).counts[LineCount::repaired]; }},
        {"line 4: delivered + lost = highest",
         [](Counters& c) { ++line(c).counts[LineCount::highest]; }},
        {"line 4: lost = size of gaps", [](Counters& c) { ++line(c).gaps[0].second; }},
        {"line 4: lost = size of gaps",
         [](Counters& c) { ++line(c).counts[LineCount::gaps_unlisted]; }},
        {"line 4: first <= last",
         [](Counters& c) {
             line(c).gaps = {{11, 20}, {21, 20}};
         }},
        {"ring poll0 to core0: routed",
         [](Counters& c) { ++ring(c, 0).counts[RingCount::refused]; }},
        {"poller poll0: routed", [](Counters& c) { ++line(c).counts[LineCount::controls]; }},
        {"poller poll0: routed", [](Counters& c) { ++line(c).counts[LineCount::filtered]; }},
        {"poller poll0: routed", [](Counters& c) { ++line(c).counts[LineCount::unnumbered]; }},
        {"poller poll1: routed",
         [](Counters& c) {
             PollerSnapshot& other = c.pollers.emplace_back();
             other.name = "poll1";
             std::swap(other.lines, c.pollers[0].lines);
         }},
        {"core core0: events", [](Counters& c) { ++c.cores[0].counts[CoreCount::events]; }},
        {"core core1: events", [](Counters& c) { --c.cores[1].counts[CoreCount::events]; }},
        {"core core0: records", [](Counters& c) { --c.cores[0].counts[CoreCount::records]; }},
        {"core core1: records", [](Counters& c) { ++ring(c, 1).published_records; }},
        {"core core1: events", [](Counters& c) { c.cores.pop_back(); }},
        {"core core0 actor book", [](Counters& c) { ++c.cores[0].actors[0].events; }},
    };
    for (const Mistake& mistake : mistakes) {
        CounterSnapshot counters = balanced_counters();
        mistake.make(counters);
        std::string all;
        for (const std::string& finding : imbalances(counters)) {
            all += finding + "\n";
        }
        EXPECT_NE(all.find(mistake.found), std::string::npos)
            << "wanted: " << mistake.found << "\nfound: " << all;
        EXPECT_EQ(nlohmann::json::parse(account_json(counters)).at("balanced"), false);
    }
}

TEST(Account, WritesTheCanonicalForm) {
    nlohmann::json expected = nlohmann::json::parse(R"({
        "feed": "opra", "balanced": true, "seconds": 12.5,
        "ports": [{"port": "a0", "packets": 30, "bytes": 3000, "missed": 5, "no_buffer": null,
                   "errors": 0, "dropped": {"not_udp": 2, "unknown_group": 3},
                   "unknown_groups": [{"group": "239.1.4.4", "port": 31004,
                                       "from": "162.69.44.4", "packets": 3}]}],
        "lines": [{"line": 4, "highest": 105, "delivered": 90, "lost": 15, "repaired": 5,
                   "unasked": 7, "filtered": 4, "gaps": [[11, 18], [4294967294, 4294967295]],
                   "gaps_unlisted": 5,
                   "streams": {"A": {"packets": 12, "messages": 80, "accepted": 50,
                                     "duplicate": 28, "rejected": 2},
                               "B": {"packets": 10, "messages": 70, "accepted": 35,
                                     "duplicate": 35, "rejected": 0}}}],
        "rings": [{"from": "poll0", "to": "core0", "routed": 50, "pushed": 48, "refused": 2},
                  {"from": "poll0", "to": "core1", "routed": 30, "pushed": 30, "refused": 0}],
        "cores": [{"core": "core0", "events": 48, "gap_events": 3, "control_events": 8,
                   "series": 20, "series_refused": 1234567, "trades": 9,
                   "actors": [{"actor": "book", "events": 48},
                                            {"actor": "trades", "events": 9}]},
                  {"core": "core1", "events": 30, "gap_events": 0, "control_events": 0,
                   "series": 0, "series_refused": 0, "actors": [{"actor": "book", "events": 30}]}],
        "rejects": {"checksum": 1}})");
    for (const Row& row : nic::Drop_rows) {  // every reason has a key
        expected["ports"][0]["dropped"].emplace(row.name, 0);
    }
    EXPECT_EQ(nlohmann::json::parse(account_json(balanced_counters())), expected);
}

TEST(Account, IsReadAsTables) {
    const std::string text = account_text(balanced_counters());
    for (
        const char* row : {
            "port                         packets        to lines          missed       no buffer  "
            "        errors\n"
            "a0                                30              25               5               -  "
            "             0\n"
            "  dropped: not_udp 2, unknown_group 3\n"
            "  unknown groups: 239.1.4.4:31004 from 162.69.44.4, 3 packets\n",
            "4                                 90              50              35               5  "
            "            15\n",
            "poll0:core0                       50              48               2\n",
            "core0                             48               3               8\n"
            "  series 20, series_refused 1,234,567, trades 9\n",
            "blocks rejected or accepted with a remark: checksum 1\n",
        }) {
        EXPECT_NE(text.find(row), std::string::npos) << row << "\nnot in:\n" << text;
    }
}

TEST(Account, ReportsChecksumOffloadWhereEveryChecksumIsWrong) {
    using nic::Drop;
    CounterSnapshot counters;
    QueueSnapshot& queue = counters.pollers.emplace_back().queues.emplace_back();
    drop(queue, Drop::arp, 1);
    drop(queue, Drop::udp_checksum, 20);
    EXPECT_NE(account_text(counters).find("udp_checksum: off"), std::string::npos);
    queue.to_lines = 1;
    EXPECT_EQ(account_text(counters).find("udp_checksum: off"), std::string::npos)
        << "one was right";
    queue.to_lines = 0;
    drop(queue, Drop::unknown_group, 1);
    EXPECT_EQ(account_text(counters).find("udp_checksum: off"), std::string::npos)
        << "one was right";
    queue.dropped = {};
    drop(queue, Drop::not_udp, 21);
    EXPECT_EQ(account_text(counters).find("udp_checksum: off"), std::string::npos);
}

TEST(Account, OfManyLinesShowsTheirSumAndThoseThatLost) {
    CounterSnapshot counters;
    counters.pollers.resize(2);
    for (std::uint16_t number = 1; number <= 96; ++number) {
        LineSnapshot line;
        line.line = number;
        line.counts[LineCount::delivered] = 10;
        line.counts[LineCount::lost] = number <= 20 ? 3 : 0;
        counters.pollers[number <= 48 ? 0 : 1].lines.push_back(line);
    }
    const std::string text = account_text(counters);
    EXPECT_NE(text.find("\n16 "), std::string::npos) << text;
    EXPECT_EQ(text.find("\n17 "), std::string::npos) << text;
    EXPECT_NE(text.find("  4 more lines lost messages\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nall 96                           960               0               0    "
                        "           0              60\n"),
              std::string::npos)
        << text;
}

TEST(Account, EmptyIsStillJson) {
    const nlohmann::json json = nlohmann::json::parse(account_json(CounterSnapshot{}));
    EXPECT_EQ(json.at("lines"), nlohmann::json::array());
    EXPECT_EQ(json.at("rejects"), nlohmann::json::object());
}

}  // namespace
}  // namespace pinstrike::actors
