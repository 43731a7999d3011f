// path: cold
#include "actors/topology/load_config.h"

#include "actors/topology/feed_keys.h"
#include "actors/topology/feed_rules.h"
#include "config/yaml.h"
#include "feed/lines/line_keys.h"
#include "feed/venue_services.h"
#include "nic/port_kind.h"

#include <map>
#include <utility>

namespace pinstrike::actors {

namespace {

/// Fills in keys that were left out and follow from others.
void fill_in(FeedConfig& config, const Places& places, Problems& problems) {
    // A config with retransmission as a source of recovery also needs to receive its groups.
    config.retransmission |= has_source(config.recovery, feed::RepairKind::retransmission);
    if (places.sound("kind")) {
        feed::publish_groups(config.lines, feed::venue_services(config.kind).published_line,
                             config.retransmission, places, problems);
    }
    for (nic::PortConfig& port : config.ports) {
        port.keeps_packets =
            nic::row_of(port.kind).keeps_packets && config.history.memory_bytes != 0;
    }
    for (PollerConfig& poller : config.pollers) {
        if (poller.lines.empty()) {
            for (const feed::LineConfig& line : config.lines) {
                poller.lines.push_back(line.number);
            }
        }
        if (poller.ports.empty()) {
            for (const nic::PortConfig& port : config.ports) {
                poller.ports.push_back(port.name);
            }
        }
    }
}

/// Adds problems in the order of their places in the file. Those of one place keep their order.
void add_by_place(Problems found, Problems& problems) {
    std::multimap<std::pair<unsigned, unsigned>, Problem> by_place;
    for (Problem& problem : found) {
        const std::pair place{problem.place.line, problem.place.column};
        by_place.emplace(place, std::move(problem));
    }
    for (auto& [place, problem] : by_place) {
        problems.push_back(std::move(problem));
    }
}

}  // namespace

std::optional<FeedConfig> parse_config(std::string_view text, const std::string& file,
                                       Problems& problems) {
    Problems found;
    FeedConfig config;
    if (const auto root = parse_yaml(text, file, found)) {
        Places places{file};
        Reader reader{found, places};
        read_section(feed_section(), *root, "", config, reader);
        // The rules run over the keys that were understood, so that all problems are reported at
        // once.
        if (root->kind == Node::Kind::mapping) {
            fill_in(config, places, found);
            if (places.has("series_map")) {
                config.series_map_place = places.at("series_map");
            }
            check_feed(config, places, found);
        }
    }
    if (found.empty()) {
        return config;
    }
    add_by_place(std::move(found), problems);
    return std::nullopt;
}

std::optional<FeedConfig> load_config(const std::string& path, Problems& problems) {
    const auto text = read_text(path, problems);
    return text ? parse_config(*text, path, problems) : std::nullopt;
}

std::string effective_config(const FeedConfig& config) {
    return to_yaml(write_section(feed_section(), config));
}

}  // namespace pinstrike::actors
