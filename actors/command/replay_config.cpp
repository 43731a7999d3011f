// path: cold
#include "actors/command/replay_config.h"

#include "actors/book/transfer/book_transfer.h"
#include "actors/topology/load_config.h"
#include "feed/venue_services.h"
#include "nic/capture/capture_files.h"
#include "nic/packet/address.h"
#include "nic/port_keys.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace pinstrike::command {
namespace {

/// A poller of all lines.
actors::PollerConfig poller_of_all(const actors::FeedConfig& config) {
    actors::PollerConfig poller;
    poller.name = "poll0";
    for (const feed::LineConfig& line : config.lines) {
        poller.lines.push_back(line.number);
    }
    return poller;
}

/// A config with one poller and one core for all published lines.
actors::FeedConfig default_config(bool timed) {
    actors::FeedConfig config;
    config.lines = feed::venue_services(config.kind).published_lines();
    config.pollers.push_back(poller_of_all(config));
    actors::CoreConfig core;
    core.name = "core0";
    core.wait = timed ? actors::WaitStrategy::spin : actors::WaitStrategy::park;
    config.cores.push_back(std::move(core));
    // Only warnings, because the output of the command is its results.
    config.log_level = LogLevel::warning;
    return config;
}

/// Returns the sources that are allowed on any port of the config, because a capture does not say
/// at which port its packets arrived. Empty: all sources are allowed.
std::vector<nic::Subnet> senders_of(const std::vector<nic::PortConfig>& ports) {
    std::vector<nic::Subnet> senders;
    for (const nic::PortConfig& port : ports) {
        if (port.sources.empty()) {
            return {};  // this port allows all sources
        }
        senders.insert(senders.end(), port.sources.begin(), port.sources.end());
    }
    return senders;
}

/// Returns `off` only if all ports of the config turn the check off.
nic::ChecksumCheck check_of(const std::vector<nic::PortConfig>& ports) {
    const bool off =
        !ports.empty() && std::all_of(ports.begin(), ports.end(), [](const nic::PortConfig& port) {
            return port.udp_checksum == nic::ChecksumCheck::off;
        });
    return off ? nic::ChecksumCheck::off : nic::ChecksumCheck::software;
}

/// Returns the keys of ports that are not used for captures and do not have their default values.
std::set<std::string> unused_port_keys(const std::vector<nic::PortConfig>& ports) {
    const std::set<std::string_view> used{"name", "kind", "udp_checksum", "sources"};
    const Section<nic::PortConfig> section = nic::port_section();
    std::set<std::string> unused;
    for (const nic::PortConfig& port : ports) {
        nic::PortConfig plain;
        plain.kind = port.kind;
        const Node defaults = write_section(section, plain);
        const Node values = write_section(section, port);
        for (const Node& value : values.children) {
            const Node* const preset = defaults.find(value.key);
            if (!used.contains(value.key) &&
                (preset == nullptr || to_json(*preset) != to_json(value))) {
                unused.insert("ports." + value.key);
            }
        }
    }
    return unused;
}

/// Prints which keys of a config apply to the packets of captures, and which do not.
void print_replay(const actors::FeedConfig& config, const nic::PortConfig& capture,
                  const std::string& file) {
    std::string senders;
    for (const nic::Subnet& subnet : capture.sources) {
        senders += (senders.empty() ? "" : ", ") + nic::text_of(subnet);
    }
    std::string unused;
    for (const std::string& key : unused_port_keys(config.ports)) {
        unused += key + ", ";
    }
    unused += "when_full, silence";
    unused += config.peer.present() ? ", peer" : "";
    unused += config.metrics_address.empty() ? "" : ", metrics_address";
    complain(
        "{}: of its ports, captures are read by udp_checksum ({}) and sources ({}); not used "
        "for captures: {}",
        file, capture.udp_checksum == nic::ChecksumCheck::off ? "off" : "software",
        senders.empty() ? "all" : senders, unused);
}

/// Keeps the config's threads and lines, and makes the captures its only input.
void feed_from(actors::FeedConfig& config, const ReplaySource& source) {
    const nic::PortConfig port =
        capture_port({source.files, source.pace, source.range.part}, config);
    if (!source.config.empty()) {
        print_replay(config, port, source.config);
    }
    take_repairs(config);
    config.ports = {port};
    config.replay_from = source.range.from;
    config.when_full = actors::WhenFull::wait;
    for (actors::PollerConfig& poller : config.pollers) {
        poller.ports = {port.name};
        if (source.pace.factor != 0 && !source.timed) {
            poller.wait = actors::WaitStrategy::park;
        }
    }
}

/// Leaves only these lines, and the pollers that have some of them.
void select_lines(actors::FeedConfig& config, const std::vector<std::uint16_t>& lines) {
    const auto dropped = [&](std::uint16_t line) {
        return !std::ranges::binary_search(lines, line);
    };
    std::erase_if(config.lines, [&](const feed::LineConfig& line) { return dropped(line.number); });
    for (actors::PollerConfig& poller : config.pollers) {
        std::erase_if(poller.lines, dropped);
    }
    std::erase_if(config.pollers,
                  [](const actors::PollerConfig& poller) { return poller.lines.empty(); });
}

/// Ends the command if a file does not exist or is no capture. Does not open a pipe, because the
/// bytes that are read from it here would be missing in the port.
void check_files(const std::vector<std::string>& files) {
    Problems problems;
    nic::check_captures(files, problems);
    end_unless(problems.empty(), problems);
}

}  // namespace

nic::PortConfig capture_port(nic::CaptureConfig capture, const actors::FeedConfig& feed) {
    nic::PortConfig port;
    port.name = "capture";
    port.kind = nic::PortKind::capture;
    port.own.get<nic::CaptureConfig>() = std::move(capture);
    port.udp_checksum = check_of(feed.ports);
    port.sources = senders_of(feed.ports);
    return port;
}

void take_repairs(actors::FeedConfig& config) {
    const auto published_line = feed::venue_services(config.kind).published_line;
    if (config.recovery.sources.empty() || published_line == nullptr) {
        return;
    }
    for (feed::LineConfig& line : config.lines) {
        const auto published = published_line(line.number);
        if (published && line.retransmission[0].port == 0) {
            line.retransmission = published->retransmission;
        }
    }
}

actors::FeedConfig replay_config(const ReplaySource& source) {
    actors::FeedConfig config = source.config.empty()
                                    ? default_config(source.timed)
                                    : load_or_end(actors::load_config, source.config);
    if (!source.range.part.frames) {
        check_files(source.files);
    }
    if (!source.range.lines.empty()) {
        select_lines(config, source.range.lines);
        if (config.lines.empty()) {
            complain("--lines: the config has none of these lines");
            throw Ended{Exit::usage};
        }
    }
    feed_from(config, source);
    return config;
}

void make_single_core(actors::FeedConfig& config, MakeActor make_actor, bool takes_state) {
    actors::PollerConfig poller = poller_of_all(config);
    poller.ports = {config.ports.front().name};
    poller.wait = actors::WaitStrategy::park;
    actors::CoreConfig core;
    core.name = "core0";
    core.wait = actors::WaitStrategy::park;
    core.actors.clear();
    core.make_own = std::move(make_actor);
    if (takes_state) {
        core.own_transfer_bytes = actors::BookTransfer::memory_bytes({.takes = true});
    }
    config.pollers = {std::move(poller)};
    config.cores = {std::move(core)};
    config.publish = {};
    config.metrics_address.clear();
}

}  // namespace pinstrike::command
