// path: cold
#include "actors/telemetry/account.h"

#include "actors/telemetry/json_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace pinstrike::actors {

namespace {

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

std::uint64_t sum(const std::vector<NamedCount>& counts) {
    std::uint64_t total = 0;
    for (const auto& [name, count] : counts) {
        total += count;
    }
    return total;
}

void check_ports(const Account& account, Findings& findings) {
    std::uint64_t handed = 0;
    for (const PortAccount& port : account.ports) {
        findings.expect_equal(port.packets, sum(port.dropped) + port.handed, "port " + port.port,
                              "packets = dropped + passed to lines");
        handed += port.handed;
    }
    std::uint64_t arrived = 0;
    for (const LineAccount& line : account.lines) {
        arrived += line.a.packets + line.b.packets + line.retransmission_packets;
    }
    findings.expect_equal(handed, arrived, "ports and lines",
                          "packets passed to lines = packets of the lines' groups");
}

void check_stream(const StreamAccount& stream, const std::string& what, Findings& findings) {
    findings.expect_equal(stream.messages, stream.accepted + stream.duplicate + stream.rejected,
                          what, "messages = accepted + duplicate + rejected");
}

void check_line(const LineAccount& line, Findings& findings) {
    const std::string what = fmt::format("line {}", line.line);
    check_stream(line.a, what + " stream A", findings);
    check_stream(line.b, what + " stream B", findings);
    findings.expect_equal(line.delivered, line.a.accepted + line.b.accepted + line.repaired, what,
                          "delivered = accepted + repaired");
    findings.expect_equal(line.delivered + line.lost, line.highest, what,
                          "delivered + lost = highest");
    findings.expect_at_most(line.filtered + line.controls, line.delivered, what,
                            "filtered + controls <= delivered");
    std::uint64_t size = 0;
    for (const auto& [first, last] : line.gaps) {
        findings.expect_at_most(first, last, what, "first <= last of a gap");
        size += last - first + 1;
    }
    findings.expect_equal(line.lost, size + line.gaps_unlisted, what,
                          "lost = size of gaps + gaps_unlisted");
}

void check_rings(const Account& account, Findings& findings) {
    std::map<std::string, std::uint64_t> routed;
    std::map<std::string, std::uint64_t> to_route;
    for (const RingAccount& ring : account.rings) {
        findings.expect_equal(ring.routed, ring.pushed + ring.refused,
                              fmt::format("ring {} to {}", ring.from, ring.to),
                              "routed = pushed + refused");
        routed[ring.from] += ring.routed;
    }
    std::set<std::string> pollers;
    for (const LineAccount& line : account.lines) {
        to_route[line.poller] += line.delivered - line.filtered - line.controls;
        pollers.insert(line.poller);
    }
    for (const auto& [poller, count] : routed) {
        pollers.insert(poller);
    }
    for (const std::string& poller : pollers) {
        findings.expect_equal(routed[poller], to_route[poller], "poller " + poller,
                              "routed = delivered - filtered - controls");
    }
}

void check_cores(const Account& account, Findings& findings) {
    std::map<std::string, std::uint64_t> pushed;
    std::map<std::string, std::uint64_t> records;
    for (const RingAccount& ring : account.rings) {
        pushed[ring.to] += ring.pushed;
        records[ring.to] += ring.records;
    }
    std::set<std::string> named;
    for (const CoreAccount& core : account.cores) {
        named.insert(core.core);
        findings.expect_equal(core.events, pushed[core.core], "core " + core.core,
                              "events = pushed of its rings");
        findings.expect_equal(core.records, records[core.core], "core " + core.core,
                              "records = records of its rings");
        for (const ActorAccount& actor : core.actors) {
            findings.expect_at_most(actor.events, core.events,
                                    fmt::format("core {} actor {}", core.core, actor.actor),
                                    "events of the actor <= events of its core");
        }
    }
    for (const auto& [core, count] : pushed) {
        if (!named.contains(core)) {
            findings.expect_equal(0, count, "core " + core, "events = pushed (no such core)");
        }
    }
}

Json counts_json(const std::vector<NamedCount>& counts) {
    Json out = Json::object();
    for (const auto& [name, count] : counts) {
        out[name] = count;
    }
    return out;
}

Json port_json(const PortAccount& port) {
    return {{"port", port.port},
            {"packets", port.packets},
            {"bytes", port.bytes},
            {"missed", or_null<Json>(port.missed)},
            {"no_buffer", or_null<Json>(port.no_buffer)},
            {"errors", or_null<Json>(port.errors)},
            {"dropped", counts_json(port.dropped)},
            {"unknown_groups", port.unknown_groups}};
}

Json stream_json(const StreamAccount& stream) {
    return {{"packets", stream.packets},
            {"messages", stream.messages},
            {"accepted", stream.accepted},
            {"duplicate", stream.duplicate},
            {"rejected", stream.rejected}};
}

Json line_json(const LineAccount& line) {
    Json gaps = Json::array();
    for (const auto& [first, last] : line.gaps) {
        gaps.push_back(Json::array({first, last}));
    }
    return {{"line", line.line},
            {"highest", line.highest},
            {"delivered", line.delivered},
            {"lost", line.lost},
            {"repaired", line.repaired},
            {"unasked", line.unasked},
            {"filtered", line.filtered},
            {"gaps", gaps},
            {"gaps_unlisted", line.gaps_unlisted},
            {"streams", {{"A", stream_json(line.a)}, {"B", stream_json(line.b)}}}};
}

Json ring_json(const RingAccount& ring) {
    return {{"from", ring.from},
            {"to", ring.to},
            {"routed", ring.routed},
            {"pushed", ring.pushed},
            {"refused", ring.refused}};
}

Json core_json(const CoreAccount& core) {
    Json actors = Json::array();
    for (const ActorAccount& actor : core.actors) {
        actors.push_back({{"actor", actor.actor}, {"events", actor.events}});
    }
    Json out{{"core", core.core},
             {"events", core.events},
             {"gap_events", core.gap_events},
             {"control_events", core.control_events}};
    for (const auto& [name, count] : core.rows) {
        out[name] = count;
    }
    out["actors"] = std::move(actors);
    return out;
}

/// Writes `"name": [` and one element a line.
template <class Element>
std::string list(const char* name, const std::vector<Element>& elements,
                 Json (*json)(const Element&)) {
    std::string out = fmt::format(" \"{}\": [", name);
    const char* separator = "\n  ";
    for (const Element& element : elements) {
        out += separator + json(element).dump();
        separator = ",\n  ";
    }
    return out + "],\n";
}

}  // namespace

std::vector<std::string> imbalances(const Account& account) {
    Findings findings;
    check_ports(account, findings);
    for (const LineAccount& line : account.lines) {
        check_line(line, findings);
    }
    check_rings(account, findings);
    check_cores(account, findings);
    return findings.take();
}

std::string to_json(const Account& account) {
    const Json head = {{"feed", account.feed},
                       {"balanced", imbalances(account).empty()},
                       {"seconds", account.seconds}};
    std::string out = head.dump();
    out.back() = ',';
    out += '\n';
    out += list("ports", account.ports, port_json);
    out += list("lines", account.lines, line_json);
    out += list("rings", account.rings, ring_json);
    out += list("cores", account.cores, core_json);
    out += " \"rejects\": " + counts_json(account.rejects).dump() + "}\n";
    return out;
}

}  // namespace pinstrike::actors
