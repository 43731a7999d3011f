// path: cold
#include "actors/load_config.h"

#include "actors/feed_keys.h"
#include "actors/feed_rules.h"
#include "config/yaml.h"
#include "feed/line_keys.h"
#include "feed/opra/lines.h"

#include <algorithm>

namespace pinstrike::actors {

namespace {

/// What may be left out and follows from the rest.
void fill_in(FeedConfig& config, const Places& places, Problems& problems) {
    feed::publish_groups(config.lines, feed::opra::published_line, config.retransmission, places,
                         problems);
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

/// In the order of the file, as a reader mends it.
void sort_by_place(Problems& problems, std::size_t first) {
    std::stable_sort(problems.begin() + static_cast<std::ptrdiff_t>(first), problems.end(),
                     [](const Problem& a, const Problem& b) {
                         return std::pair{a.place.line, a.place.column} <
                                std::pair{b.place.line, b.place.column};
                     });
}

}  // namespace

std::optional<FeedConfig> parse_config(std::string_view text, const std::string& file,
                                       Problems& problems) {
    const std::size_t before = problems.size();
    if (const auto root = parse_yaml(text, file, problems)) {
        FeedConfig config;
        Places places{file};
        Reader reader{problems, places};
        // Rules hold over what was understood; so all problems are told at once.
        if (read_section(feed_section(), *root, "", config, reader) ||
            root->kind == Node::Kind::mapping) {
            fill_in(config, places, problems);
            check_feed(config, places, problems);
        }
        sort_by_place(problems, before);
        if (problems.size() == before) {
            return config;
        }
    }
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
