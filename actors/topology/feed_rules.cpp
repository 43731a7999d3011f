// path: cold
#include "actors/topology/feed_rules.h"

#include "actors/topology/actor_kinds.h"
#include "config/nearest.h"
#include "config/units.h"
#include "feed/lines/line_keys.h"
#include "feed/recovery/recovery_keys.h"
#include "feed/venue_services.h"
#include "nic/port_keys.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

namespace {

/// The inputs of a rule. Each rule is a function of them.
struct Rules {
    const FeedConfig& config;
    const Places& places;
    Problems& problems;

    template <class... Values>
    void report(const std::string& path, fmt::format_string<Values...> text,
                Values&&... values) const {
        add_problem(problems, places.at(path),
                    path + ": " + fmt::format(text, std::forward<Values>(values)...));
    }

    [[nodiscard]] const nic::PortConfig* port(const std::string& name) const {
        const auto found = std::ranges::find(config.ports, name, &nic::PortConfig::name);
        return found == config.ports.end() ? nullptr : &*found;
    }
};

void check_not_empty(const Rules& rules, const char* key, std::size_t count) {
    if (count == 0 && rules.places.sound(key)) {
        rules.report(key, "found an empty list, expected at least one");
    }
}

template <class Named>
void check_names(const Rules& rules, const std::vector<Named>& list, const char* key) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto [first, fresh] = seen.emplace(list[i].name, i);
        if (!fresh) {
            rules.report(fmt::format("{}[{}].name", key, i),
                         "found \"{}\" again, expected a unique name: {}[{}] has it", list[i].name,
                         key, first->second);
        }
    }
}

/// A poller or core that shares its CPU loses packets whenever the other thread runs.
void check_cpus(const Rules& rules) {
    std::map<CpuIndex, std::string> owners;
    const auto claim = [&](CpuIndex cpu, const std::string& path) {
        if (cpu < 0 || !rules.places.sound(path)) {
            return;
        }
        const auto [owner, fresh] = owners.emplace(cpu, path);
        if (!fresh) {
            rules.report(path, "found cpu {} again, expected a processor for each: {} has it", cpu,
                         owner->second);
        }
    };
    for (std::size_t i = 0; i < rules.config.pollers.size(); ++i) {
        claim(rules.config.pollers[i].cpu, fmt::format("pollers[{}].cpu", i));
    }
    for (std::size_t i = 0; i < rules.config.cores.size(); ++i) {
        claim(rules.config.cores[i].cpu, fmt::format("cores[{}].cpu", i));
    }
}

/// Every port that a poller names exists, and every port is read by a poller.
void check_port_use(const Rules& rules) {
    std::vector<std::string> names;
    std::ranges::transform(rules.config.ports, std::back_inserter(names), &nic::PortConfig::name);
    std::set<std::string> used;
    for (std::size_t i = 0; i < rules.config.pollers.size(); ++i) {
        const auto& ports = rules.config.pollers[i].ports;
        std::set<std::string> own;
        for (std::size_t j = 0; j < ports.size(); ++j) {
            const std::string path = fmt::format("pollers[{}].ports[{}]", i, j);
            if (rules.port(ports[j]) == nullptr) {
                rules.report(path, "found \"{}\", expected the name of a port{}", ports[j],
                             did_you_mean(ports[j], names));
            }
            if (!own.insert(ports[j]).second) {
                rules.report(path, "found \"{}\" again, expected each port once", ports[j]);
            }
        }
        used.insert(own.begin(), own.end());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!used.contains(names[i])) {
            rules.report(fmt::format("ports[{}]", i),
                         "found port \"{}\" in no poller, expected it in the ports of one",
                         names[i]);
        }
    }
}

/// Every line of the feed is on exactly one poller.
void check_line_use(const Rules& rules) {
    std::set<std::uint16_t> known;
    for (const feed::LineConfig& line : rules.config.lines) {
        known.insert(line.number);
    }
    std::map<std::uint16_t, std::size_t> owners;
    for (std::size_t i = 0; i < rules.config.pollers.size(); ++i) {
        std::vector<std::uint16_t> unknown;
        std::map<std::size_t, std::vector<std::uint16_t>> taken;
        for (const std::uint16_t line : rules.config.pollers[i].lines) {
            if (!known.contains(line)) {
                unknown.push_back(line);
                continue;
            }
            const auto [owner, fresh] = owners.emplace(line, i);
            if (!fresh) {
                taken[owner->second].push_back(line);
            }
        }
        const std::string path = fmt::format("pollers[{}].lines", i);
        if (!unknown.empty()) {
            rules.report(path, "found {}, expected lines of the feed ({})", ranges_text(unknown),
                         ranges_text({known.begin(), known.end()}));
        }
        for (const auto& [other, lines] : taken) {
            rules.report(path,
                         "found {} again, expected each line in one poller: pollers[{}] has it",
                         ranges_text(lines), other);
        }
    }
    std::vector<std::uint16_t> idle{known.begin(), known.end()};
    std::erase_if(idle, [&](std::uint16_t line) { return owners.contains(line); });
    if (!idle.empty()) {
        add_problem(rules.problems, rules.places.at(fmt::format("lines#{}", idle.front())),
                    fmt::format("lines: found {} in no poller, expected each line in one",
                                ranges_text(idle)));
    }
}

/// A datagram goes to one poller, so lines that share a group are read by one poller.
void check_shared_groups(const Rules& rules) {
    std::map<std::uint16_t, std::size_t> pollers;
    for (std::size_t i = 0; i < rules.config.pollers.size(); ++i) {
        for (const std::uint16_t line : rules.config.pollers[i].lines) {
            pollers.emplace(line, i);
        }
    }
    std::map<nic::Group, std::uint16_t> first_lines;
    for (const feed::LineConfig& line : rules.config.lines) {
        for (const nic::Group& group : line.streams) {
            const std::uint16_t first = first_lines.emplace(group, line.number).first->second;
            if (pollers[line.number] != pollers[first]) {
                rules.report(fmt::format("pollers[{}].lines", pollers[line.number]),
                             "found line {}, which shares {} with line {} of "
                             "pollers[{}], expected both in one poller",
                             line.number, nic::text_of(group), first, pollers[first]);
                break;
            }
        }
    }
}

/// True if one of the ports brings the stream ('A' or 'B').
bool brings(const Rules& rules, const std::vector<std::string>& ports, char stream) {
    return std::ranges::any_of(ports, [&](const std::string& name) {
        const nic::PortConfig* port = rules.port(name);
        return port != nullptr && port->streams.find(stream) != std::string::npos;
    });
}

/// Both streams of a line must reach the same poller, which could not detect duplicates otherwise.
/// A feed may lack one stream altogether.
void check_streams(const Rules& rules) {
    for (std::size_t i = 0; i < rules.config.pollers.size(); ++i) {
        const PollerConfig& poller = rules.config.pollers[i];
        const bool ports_known = std::ranges::all_of(
            poller.ports, [&](const std::string& name) { return rules.port(name) != nullptr; });
        if (!ports_known) {
            continue;
        }
        for (const char stream : {'A', 'B'}) {
            if (poller.lines.empty() || brings(rules, poller.ports, stream)) {
                continue;
            }
            std::string elsewhere;
            for (std::size_t j = 0; j < rules.config.pollers.size(); ++j) {
                if (j != i && brings(rules, rules.config.pollers[j].ports, stream)) {
                    elsewhere = fmt::format("it arrives at pollers[{}]", j);
                }
            }
            const char other = stream == 'A' ? 'B' : 'A';
            if (elsewhere.empty() && brings(rules, poller.ports, other)) {
                continue;  // the feed has one stream
            }
            rules.report(fmt::format("pollers[{}].ports", i),
                         "found no port that receives stream {} of lines {}, expected "
                         "both streams of a line at one poller: {}",
                         stream, ranges_text(poller.lines),
                         elsewhere.empty() ? "no port of the feed receives it" : elsewhere);
        }
    }
}

/// A poller that waits for a full ring would lose packets of a live port uncounted. A poller with
/// captures runs on packet time, which does not apply to live packets.
void check_live(const Rules& rules) {
    const auto& ports = rules.config.ports;
    const auto live =
        std::ranges::find_if(ports, [](const auto& port) { return nic::row_of(port.kind).live; });
    if (live != ports.end() && rules.config.when_full == WhenFull::wait) {
        rules.report("when_full",
                     "found wait with the live port \"{}\", expected "
                     "refuse",
                     live->name);
    }
    for (std::size_t i = 0; i < rules.config.pollers.size(); ++i) {
        bool captures = false;
        bool others = false;
        for (const std::string& name : rules.config.pollers[i].ports) {
            const nic::PortConfig* port = rules.port(name);
            const bool capture = port != nullptr && nic::row_of(port->kind).replays;
            captures |= capture;
            others |= port != nullptr && !capture;
        }
        if (captures && others) {
            rules.report(fmt::format("pollers[{}].ports", i),
                         "found captures beside other ports, expected one or the other: captures "
                         "are replayed on their own time");
        }
    }
}

/// A venue never repeats its times. Blocks that seem to repeat are old, or follow a reset that was
/// lost.
void check_looped_captures(const Rules& rules) {
    const auto& ports = rules.config.ports;
    const auto other = std::ranges::find_if(ports, [](const nic::PortConfig& port) {
        return !nic::property_of(port, &nic::PortKindRow::may_repeat_times);
    });
    if (rules.config.arbitration.looped_captures && other != ports.end()) {
        rules.report("arbitration.looped_captures",
                     "found true with the port \"{}\", expected only ports of kind pcap "
                     "or sim, or DPDK's net_pcap with rx_pcap: a venue never repeats "
                     "its times",
                     other->name);
    }
}

void check_silence(const Rules& rules) {
    const feed::SilenceConfig& silence = rules.config.silence;
    if (rules.places.sound("silence") && silence.down_after_ns < silence.silent_after_ns) {
        rules.report("silence.stream_down_after",
                     "found {}, expected at least silence.stream_silent_after, which is {}",
                     duration_text(silence.down_after_ns), duration_text(silence.silent_after_ns));
    }
}

/// Whoever names a line wrongly would miss it on the disk.
void check_record(const Rules& rules) {
    std::set<std::uint16_t> unknown{rules.config.record.lines.begin(),
                                    rules.config.record.lines.end()};
    unknown.erase(0);  // packets of no line
    for (const feed::LineConfig& line : rules.config.lines) {
        unknown.erase(line.number);
    }
    if (!unknown.empty()) {
        rules.report("record.lines", "found {}, expected lines of the feed, or 0",
                     ranges_text({unknown.begin(), unknown.end()}));
    }
}

/// Each source is named once, and exists.
void check_recovery(const Rules& rules) {
    const feed::RecoveryConfig& recovery = rules.config.recovery;
    std::set<feed::RepairKind> named;
    for (std::size_t i = 0; i < recovery.sources.size(); ++i) {
        const std::string path = fmt::format("recovery.sources[{}]", i);
        const std::string word = feed::word_of(recovery.sources[i]);
        if (!rules.places.sound(path)) {
            continue;
        }
        if (!named.insert(recovery.sources[i]).second) {
            rules.report(path, "found {} again, expected each source once", word);
        } else if (recovery.sources[i] == feed::RepairKind::peer && rules.places.sound("peer") &&
                   rules.config.peer.connect.empty()) {
            rules.report(path,
                         "found peer, expected addresses in peer.connect: there is no peer to ask");
        }
    }
    if (recovery.give_up_after_ns <= recovery.request_after_ns &&
        rules.places.sound("recovery.give_up_after")) {
        rules.report(
            "recovery.give_up_after",
            "found no more than request_after, expected more: no source would ever be asked");
    }
}

/// The settings for peers have a use: this host asks peers, or peers can ask it.
void check_peers(const Rules& rules) {
    const FeedConfig& config = rules.config;
    if (!rules.places.sound("peer") || !rules.places.sound("history")) {
        return;
    }
    if (config.history.memory_bytes != 0 && !config.peer.present()) {
        rules.report("history",
                     "found history without section peer, expected both: no peer could request "
                     "what is kept");
    }
    if (!config.peer.present()) {
        return;
    }
    if (!config.peer.connect.empty() && rules.places.sound("recovery.sources") &&
        !has_source(config.recovery, feed::RepairKind::peer)) {
        rules.report("peer.connect",
                     "found peers in connect, expected recovery.sources to name peer as well");
    }
    if (config.peer.connect.empty() && config.history.memory_bytes == 0) {
        rules.report("peer",
                     "found neither connect nor section history, expected one of them: no peer is "
                     "asked, and nothing is kept for peers");
    }
}

/// True if the list was understood, and this key in each of its elements.
bool all_sound(const Places& places, const std::string& list, std::size_t count, const char* key) {
    bool sound = places.reached(list);
    for (std::size_t i = 0; i < count; ++i) {
        sound = sound && places.sound(fmt::format("{}[{}].{}", list, i, key));
    }
    return sound;
}

/// A kind that aggregates by underlying needs each underlying on one core.
void check_sharding(const Rules& rules, const ActorKind& kind) {
    if (!kind.needs_underlyings_whole() || rules.config.sharding == Sharding::underlying ||
        !rules.places.sound("sharding")) {
        return;
    }
    for (std::size_t core = 0; core < rules.config.cores.size(); ++core) {
        const auto& actors = rules.config.cores[core].actors;
        for (std::size_t i = 0; i < actors.size(); ++i) {
            if (actors[i] == kind.name()) {
                rules.report(fmt::format("cores[{}].actors[{}]", core, i),
                             "found \"{}\" with sharding series, expected sharding "
                             "underlying: it aggregates by underlying",
                             actors[i]);
            }
        }
    }
}

/// A core has one pair of rings for the exchange of state, so only one of its actors can use it.
void check_state_exchange(const Rules& rules, std::span<const ActorKind* const> kinds) {
    const auto exchanges = [&](const std::string& name) {
        return std::ranges::any_of(kinds, [&](const ActorKind* kind) {
            return kind->name() == name && kind->transfer_bytes(true) != 0;
        });
    };
    const bool snapshots = rules.config.record.on && rules.config.record.snapshot_interval_ns != 0;
    const bool exchanged = rules.config.peer.state || snapshots;
    for (std::size_t core = 0; exchanged && core < rules.config.cores.size(); ++core) {
        const auto& actors = rules.config.cores[core].actors;
        const auto first = std::ranges::find_if(actors, exchanges);
        const auto second =
            first == actors.end() ? first : std::find_if(first + 1, actors.end(), exchanges);
        if (second != actors.end()) {
            rules.report(fmt::format("cores[{}].actors[{}]", core, second - actors.begin()),
                         "found \"{}\" beside \"{}\" with peer.state or "
                         "record.snapshot_interval, expected one actor on a core that "
                         "exchanges state",
                         *second, *first);
        }
    }
}

/// Readers find the whole market only if every core publishes its part.
void check_publish(const Rules& rules, std::span<const ActorKind* const> kinds) {
    const auto publishes = [&](const std::string& name) {
        return std::ranges::any_of(kinds, [&](const ActorKind* kind) {
            return kind->name() == name && kind->published_shape(actor_setup(rules.config));
        });
    };
    for (std::size_t core = 0; rules.config.publish.on() && core < rules.config.cores.size();
         ++core) {
        if (std::ranges::count_if(rules.config.cores[core].actors, publishes) != 1) {
            rules.report(fmt::format("cores[{}].actors", core),
                         "found none or several that publish their state with publish.memory, "
                         "expected one such actor on each core");
        }
    }
    if (rules.config.publish.stream && !rules.config.publish.on()) {
        rules.report("publish.stream",
                     "found on without memory, expected publish.memory other "
                     "than off");
    }
}

}  // namespace

void check_actors(const FeedConfig& config, std::span<const ActorKind* const> kinds,
                  const Places& places, Problems& problems) {
    const Rules rules{config, places, problems};
    for (const ActorKind* kind : kinds) {
        for (const ActorMistake& mistake : kind->mistakes(actor_setup(config))) {
            rules.report(fmt::format("{}.{}", kind->name(), mistake.key), "{}", mistake.text);
        }
        check_sharding(rules, *kind);
    }
    check_state_exchange(rules, kinds);
    check_publish(rules, kinds);
}

void check_feed(const FeedConfig& config, const Places& places, Problems& problems) {
    const Rules rules{config, places, problems};
    const auto ports = [&](const char* key) {
        return all_sound(places, "ports", config.ports.size(), key);
    };
    const auto pollers = [&](const char* key) {
        return all_sound(places, "pollers", config.pollers.size(), key);
    };
    nic::check_ports(config.ports, places, problems);
    check_not_empty(rules, "ports", config.ports.size());
    check_not_empty(rules, "pollers", config.pollers.size());
    check_not_empty(rules, "cores", config.cores.size());
    check_not_empty(rules, "lines", config.lines.size());
    check_cpus(rules);
    check_actors(config, actor_kinds(), places, problems);
    check_recovery(rules);
    check_silence(rules);
    check_peers(rules);
    if (pollers("name")) {
        check_names(rules, config.pollers, "pollers");
    }
    if (all_sound(places, "cores", config.cores.size(), "name")) {
        check_names(rules, config.cores, "cores");
    }
    const bool share_groups =
        places.sound("kind") && feed::venue_services(config.kind).lines_share_groups;
    feed::check_lines(config.lines, share_groups, places,
                      problems);  // the lines that were understood
    const bool lines = places.sound("lines") && !config.lines.empty();
    if (lines && places.sound("record.lines")) {
        check_record(rules);
    }
    const bool line_use = lines && pollers("lines");
    const bool port_use = ports("name") && pollers("ports");
    if (line_use) {
        check_line_use(rules);
        if (share_groups) {
            check_shared_groups(rules);
        }
    }
    if (port_use) {
        check_port_use(rules);
    }
    if (port_use && ports("kind")) {
        check_live(rules);
        check_looped_captures(rules);
    }
    if (port_use && line_use && ports("streams")) {
        check_streams(rules);
    }
}

}  // namespace pinstrike::actors
