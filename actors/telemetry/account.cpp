// path: cold
#include "actors/telemetry/account.h"

#include "actors/telemetry/json_parts.h"
#include "actors/topology/actor_kinds.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace pinstrike::actors {

namespace {

using feed::LineCount;
using feed::StreamCount;
using nic::PortCount;
using Json = nlohmann::ordered_json;

/// Collects the identities that do not hold.
class Findings {
  public:
    /// `what`: the object; `identity`: the equation in words; then its two sides in that order.
    void expect_equal(std::uint64_t left, std::uint64_t right, const std::string& what,
                      const char* identity) {
        if (left != right) {
            findings_.push_back(
                fmt::format("{}: {} does not hold: {} against {}", what, identity, left, right));
        }
    }

    void expect_at_most(std::uint64_t left, std::uint64_t right, const std::string& what,
                        const char* identity) {
        if (left > right) {
            findings_.push_back(
                fmt::format("{}: {} does not hold: {} against {}", what, identity, left, right));
        }
    }

    [[nodiscard]] std::vector<std::string> take() { return std::move(findings_); }

  private:
    std::vector<std::string> findings_;
};

void check_ports(const CounterSnapshot& counters, Findings& findings) {
    std::uint64_t to_lines = 0;
    for (const QueueSnapshot& queue : parts_of(counters, &PollerSnapshot::queues)) {
        findings.expect_equal(queue.counts[PortCount::packets],
                              queue.dropped.sum() + queue.to_lines, "port " + queue.name,
                              "packets = dropped + passed to lines");
        to_lines += queue.to_lines;
    }
    std::uint64_t arrived = 0;
    for (const LineSnapshot& line : parts_of(counters, &PollerSnapshot::lines)) {
        arrived += line.retransmission_packets;
        for (const StreamTotals& stream : line.streams) {
            arrived += stream[StreamCount::packets];
        }
    }
    findings.expect_equal(to_lines, arrived, "ports and lines",
                          "packets passed to lines = packets of the lines' groups");
}

void check_stream(const StreamTotals& stream, const std::string& what, Findings& findings) {
    findings.expect_equal(stream[StreamCount::messages],
                          stream[StreamCount::accepted] + stream[StreamCount::duplicate] +
                              stream[StreamCount::rejected],
                          what, "messages = accepted + duplicate + rejected");
}

void check_line(const LineSnapshot& line, Findings& findings) {
    const std::string what = fmt::format("line {}", line.line);
    const LineTotals& counts = line.counts;
    const auto& [a, b] = line.streams;
    check_stream(a, what + " stream A", findings);
    check_stream(b, what + " stream B", findings);
    findings.expect_equal(
        counts[LineCount::delivered],
        a[StreamCount::accepted] + b[StreamCount::accepted] + counts[LineCount::repaired], what,
        "delivered = accepted + repaired");
    findings.expect_equal(counts[LineCount::delivered] + counts[LineCount::lost] + line.left_out,
                          counts[LineCount::highest], what,
                          line.left_out == 0 ? "delivered + lost = highest"
                                             : "delivered + lost + left out = highest");
    findings.expect_at_most(counts[LineCount::filtered] + counts[LineCount::controls],
                            counts[LineCount::delivered] + counts[LineCount::unnumbered], what,
                            "filtered + controls <= delivered + unnumbered");
    std::uint64_t size = 0;
    for (const auto& [first, last] : line.gaps) {
        findings.expect_at_most(first, last, what, "first <= last of a gap");
        size += last - first + 1;
    }
    findings.expect_equal(counts[LineCount::lost], size + counts[LineCount::gaps_unlisted], what,
                          "lost = size of gaps + gaps_unlisted");
}

void check_rings(const PollerSnapshot& poller, Findings& findings) {
    std::uint64_t routed = 0;
    for (const RingSnapshot& ring : poller.rings) {
        findings.expect_equal(ring.counts[RingCount::routed],
                              ring.counts[RingCount::pushed] + ring.counts[RingCount::refused],
                              fmt::format("ring {} to {}", ring.from, ring.to),
                              "routed = pushed + refused");
        routed += ring.counts[RingCount::routed];
    }
    std::uint64_t to_route = 0;
    for (const LineSnapshot& line : poller.lines) {
        to_route += line.counts[LineCount::delivered] + line.counts[LineCount::unnumbered] -
                    line.counts[LineCount::filtered] - line.counts[LineCount::controls];
    }
    findings.expect_equal(routed, to_route, "poller " + poller.name,
                          "routed = delivered + unnumbered - filtered - controls");
}

void check_cores(const CounterSnapshot& counters, Findings& findings) {
    std::map<std::string, std::uint64_t> pushed;
    std::map<std::string, std::uint64_t> records;
    for (const RingSnapshot& ring : parts_of(counters, &PollerSnapshot::rings)) {
        pushed[ring.to] += ring.counts[RingCount::pushed];
        records[ring.to] += ring.published_records;
    }
    std::set<std::string> named;
    for (const CoreSnapshot& core : counters.cores) {
        named.insert(core.name);
        findings.expect_equal(core.counts[CoreCount::events], pushed[core.name],
                              "core " + core.name, "events = pushed of its rings");
        findings.expect_equal(core.counts[CoreCount::records], records[core.name],
                              "core " + core.name, "records = records of its rings");
        for (const ActorSnapshot& actor : core.actors) {
            findings.expect_at_most(actor.events, core.counts[CoreCount::events],
                                    fmt::format("core {} actor {}", core.name, actor.name),
                                    "events of the actor <= events of its core");
        }
    }
    for (const auto& [core, count] : pushed) {
        if (!named.contains(core)) {
            findings.expect_equal(0, count, "core " + core, "events = pushed (no such core)");
        }
    }
}

/// received = recorded + not recorded + filtered, where recorded packets are those on disk, and
/// blocks from recovery count as packets.
void check_recorder(const CounterSnapshot& counters, Findings& findings) {
    if (!counters.recorder) {
        return;
    }
    std::uint64_t received = 0;
    for (const PollerSnapshot& poller : counters.pollers) {
        std::uint64_t packets = poller.repairs_taken;
        for (const QueueSnapshot& queue : poller.queues) {
            packets += queue.counts[PortCount::packets];
        }
        findings.expect_equal(packets, poller.recorded + poller.not_recorded + poller.filtered,
                              "recording of poller " + poller.name,
                              "received = recorded + not recorded + filtered");
        received += packets;
    }
    findings.expect_equal(received,
                          counters.recorder->counts[RecorderCount::written] +
                              not_recorded(counters) + filtered_by_recorder(counters),
                          "recording", "received = recorded + not recorded + filtered");
}

Json recording_json(const CounterSnapshot& counters) {
    const auto& counts = counters.recorder->counts;
    return {{"recorded", counts[RecorderCount::written]},
            {"not_recorded", not_recorded(counters)},
            {"filtered", filtered_by_recorder(counters)},
            {"segments", counts[RecorderCount::segments]},
            {"bytes", counts[RecorderCount::bytes]},
            {"compressed", counts[RecorderCount::compressed]},
            {"compressed_from", counts[RecorderCount::compressed_from]},
            {"compressed_to", counts[RecorderCount::compressed_to]},
            {"snapshots", counts[RecorderCount::snapshots]},
            {"recovered_series", counters.recorder->recovered_series}};
}

Json counts_json(const std::vector<AccountRow>& counts) {
    Json out = Json::object();
    for (const auto& [name, count] : counts) {
        out[std::string{name}] = count;
    }
    return out;
}

Json or_null(const std::optional<std::uint64_t>& count) {
    return count ? Json(*count) : Json(nullptr);
}

Json port_json(const QueueSnapshot& queue) {
    return {{"port", queue.name},
            {"packets", queue.counts[PortCount::packets]},
            {"bytes", queue.counts[PortCount::bytes]},
            {"missed", or_null(queue.device.missed)},
            {"no_buffer", or_null(queue.device.no_buffer)},
            {"errors", or_null(queue.device.errors)},
            {"dropped", counts_json(named_counts(nic::Drop_rows, queue.dropped))},
            {"unknown_groups", queue.unknown_groups}};
}

Json stream_json(const StreamTotals& stream) {
    return {{"packets", stream[StreamCount::packets]},
            {"messages", stream[StreamCount::messages]},
            {"accepted", stream[StreamCount::accepted]},
            {"duplicate", stream[StreamCount::duplicate]},
            {"rejected", stream[StreamCount::rejected]}};
}

Json line_json(const LineSnapshot& line) {
    Json gaps = Json::array();
    for (const auto& [first, last] : line.gaps) {
        gaps.push_back(Json::array({first, last}));
    }
    const LineTotals& counts = line.counts;
    Json out{
        {"line", line.line},
        {"highest", counts[LineCount::highest]},
        {"delivered", counts[LineCount::delivered]},
        {"lost", counts[LineCount::lost]},
        {"repaired", counts[LineCount::repaired]},
        {"unasked", counts[LineCount::unasked]},
        {"filtered", counts[LineCount::filtered]},
        {"gaps", gaps},
        {"gaps_unlisted", counts[LineCount::gaps_unlisted]},
        {"streams", {{"A", stream_json(line.streams[0])}, {"B", stream_json(line.streams[1])}}}};
    if (line.left_out != 0) {  // only in replays of cuts
        out["left_out"] = line.left_out;
    }
    if (line.missed_before_start) {  // only if the books took recorded state
        out["missed_before_start"] = *line.missed_before_start;
    }
    return out;
}

Json ring_json(const RingSnapshot& ring) {
    return {{"from", ring.from},
            {"to", ring.to},
            {"routed", ring.counts[RingCount::routed]},
            {"pushed", ring.counts[RingCount::pushed]},
            {"refused", ring.counts[RingCount::refused]}};
}

Json core_json(const CoreSnapshot& core) {
    Json out{{"core", core.name},
             {"events", core.counts[CoreCount::events]},
             {"gap_events", core.counts[CoreCount::gap_events]},
             {"control_events", core.counts[CoreCount::control_events]}};
    out.update(counts_json(account_rows_of(core)));
    Json actors = Json::array();
    for (const ActorSnapshot& actor : core.actors) {
        actors.push_back({{"actor", actor.name}, {"events", actor.events}});
    }
    out["actors"] = std::move(actors);
    return out;
}

/// Writes `"name": [` and one element a line.
template <class Element>
std::string list(const char* name, auto&& elements, Json (*json)(const Element&)) {
    std::string out = fmt::format(" \"{}\": [", name);
    const char* separator = "\n  ";
    for (const Element& element : elements) {
        out += separator + json(element).dump();
        separator = ",\n  ";
    }
    return out + "],\n";
}

}  // namespace

std::vector<std::string> imbalances(const CounterSnapshot& counters) {
    Findings findings;
    check_ports(counters, findings);
    for (const PollerSnapshot& poller : counters.pollers) {
        for (const LineSnapshot& line : poller.lines) {
            check_line(line, findings);
        }
        check_rings(poller, findings);
    }
    check_cores(counters, findings);
    check_recorder(counters, findings);
    return findings.take();
}

std::string account_json(const CounterSnapshot& counters) {
    const Json head = {{"feed", counters.feed},
                       {"balanced", imbalances(counters).empty()},
                       {"seconds", counters.seconds}};
    std::string out = head.dump();
    out.back() = ',';
    out += '\n';
    out += list("ports", parts_of(counters, &PollerSnapshot::queues), port_json);
    out += list("lines", parts_of(counters, &PollerSnapshot::lines), line_json);
    out += list("rings", parts_of(counters, &PollerSnapshot::rings), ring_json);
    out += list("cores", counters.cores, core_json);
    if (counters.recorder) {
        out += " \"recording\": " + recording_json(counters).dump() + ",\n";
    }
    out += " \"rejects\": " + counts_json(rejects_of(counters)).dump() + "}\n";
    return out;
}

std::vector<AccountRow> named_counts(std::span<const Row> rows,
                                     std::span<const std::uint64_t> counts) {
    std::vector<AccountRow> named;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        named.emplace_back(rows[row].name, counts[row]);
    }
    return named;
}

std::vector<AccountRow> rejects_of(const CounterSnapshot& counters) {
    std::vector<AccountRow> rejects;
    for (const PollerSnapshot& poller : counters.pollers) {
        rejects.resize(std::max(rejects.size(), poller.reject_rows.size()));
        for (std::size_t row = 0; row < poller.reject_rows.size(); ++row) {
            rejects[row].first = poller.reject_rows[row].name;
            for (const LineSnapshot& line : poller.lines) {
                rejects[row].second += line.rejected[row];
            }
        }
    }
    return rejects;
}

std::vector<AccountRow> account_rows_of(const CoreSnapshot& core) {
    std::vector<AccountRow> rows;
    for (const std::string_view name : actor_account_rows()) {
        rows.emplace_back(name, 0);
    }
    for (const ActorSnapshot& actor : core.actors) {
        for (const auto& [name, count] : actor.account_rows) {
            const auto row = std::ranges::find(rows, name, &AccountRow::first);
            if (row == rows.end()) {
                rows.emplace_back(name, count);
            } else {
                row->second += count;
            }
        }
    }
    return rows;
}

}  // namespace pinstrike::actors
