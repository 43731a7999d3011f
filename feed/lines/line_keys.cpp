// path: cold
#include "feed/lines/line_keys.h"

#include "config/limits.h"
#include "feed/event/limits.h"
#include "nic/packet/address.h"
#include "nic/port_keys.h"

#include <fmt/format.h>

#include <map>

namespace pinstrike::feed {

namespace {

Section<LineConfig> line_section() {
    const auto group_of = [](auto groups, Stream stream) {
        return [groups, at = static_cast<std::size_t>(stream)](auto& line) -> auto& {
            return (line.*groups)[at];
        };
    };
    const Form<nic::Group> repairs = or_word("none", nic::Group{}, nic::group_form());
    Section<LineConfig> section{"a line"};
    section
        .key("number", &LineConfig::number, integer<std::uint16_t>(1, line_number_max),
             "Number of the line in messages, metrics and the account.")
        .required()
        .key("a", group_of(&LineConfig::streams, Stream::a), nic::group_form(),
             "Group and port of stream A.")
        .required()
        .key("b", group_of(&LineConfig::streams, Stream::b), nic::group_form(),
             "Group and port of stream B.")
        .required()
        .key("retransmission_a", group_of(&LineConfig::retransmission, Stream::a), repairs,
             "Group and port on which repairs of stream A are sent.")
        .key("retransmission_b", group_of(&LineConfig::retransmission, Stream::b), repairs,
             "Group and port on which repairs of stream B are sent.");
    return section;
}

Node written(const LineConfig& line) {
    Node node = write_section(line_section(), line);
    std::erase_if(node.children, [](const Node& child) { return child.text == "none"; });
    node.flow = true;
    return node;
}

/// Reads one element: a mapping with groups, or numbers and ranges.
bool read_element(const Section<LineConfig>& section,
                  const Form<std::vector<std::uint16_t>>& ranges, const Node& node,
                  const std::string& path, std::vector<LineConfig>& into, Reader& reader) {
    std::vector<LineConfig> found;
    bool good = false;
    if (node.kind == Node::Kind::mapping) {
        good = read_section(section, node, path, found.emplace_back(), reader);
    } else {
        std::vector<std::uint16_t> numbers;
        good = ranges.read(node, path, numbers, reader);
        for (const std::uint16_t number : numbers) {
            found.push_back({.number = number, .streams = {}, .retransmission = {}});
        }
    }
    if (good) {
        for (const LineConfig& line : found) {
            reader.note_place(fmt::format("lines#{}", line.number), node.mark);
        }
        into.insert(into.end(), found.begin(), found.end());
    }
    return good;
}

std::string number_path(const LineConfig& line) {
    return fmt::format("lines#{}", line.number);
}

}  // namespace

Form<std::vector<LineConfig>> lines_form() {
    const Section<LineConfig> section = line_section();
    const Form<std::vector<std::uint16_t>> ranges = number_ranges();
    Form<std::vector<LineConfig>> form;
    form.words = "numbers and ranges such as 1-96, 220, or a list of them and of {number, a, b}";
    form.schema =
        schema_any_of(ranges.schema, schema_list(schema_any_of(ranges.schema, schema_of(section))));
    form.document = [section](const std::string& path, std::vector<KeyDoc>& docs) {
        document_section(section, path, docs);
    };
    form.write = [](const std::vector<LineConfig>& lines) {
        std::vector<Node> nodes;
        for (const LineConfig& line : lines) {
            nodes.push_back(written(line));
        }
        return Node::sequence_of(std::move(nodes));
    };
    form.read = [section, ranges](const Node& node, const std::string& path,
                                  std::vector<LineConfig>& into, Reader& reader) {
        into.clear();
        if (node.kind != Node::Kind::sequence) {
            return read_element(section, ranges, node, path, into, reader);
        }
        bool good = true;
        for (std::size_t i = 0; i < node.children.size() && into.size() <= numbers_max; ++i) {
            const std::string at = fmt::format("{}[{}]", path, i);
            reader.note_place(at, node.children[i].mark);
            good &= read_element(section, ranges, node.children[i], at, into, reader);
        }
        return good;
    };
    return form;
}

void publish_groups(std::vector<LineConfig>& lines, const PublishedLine& published,
                    bool retransmission, const Places& places, Problems& problems) {
    std::vector<std::uint16_t> unknown;
    for (LineConfig& line : lines) {
        if (line.streams.front().port != 0) {
            continue;
        }
        const auto from_venue = published ? published(line.number) : std::nullopt;
        if (!from_venue) {
            unknown.push_back(line.number);
            continue;
        }
        line.streams = from_venue->streams;
        if (retransmission) {
            line.retransmission = from_venue->retransmission;
        }
    }
    if (!unknown.empty()) {
        add_problem(problems, places.at(fmt::format("lines#{}", unknown.front())),
                    fmt::format("lines: found {}, expected numbers that the venue publishes, or "
                                "{{number, a, b}} with the groups",
                                ranges_text(unknown)));
    }
}

void check_lines(std::span<const LineConfig> lines, bool share_groups, const Places& places,
                 Problems& problems) {
    std::map<std::uint16_t, unsigned> times;
    std::map<nic::Group, std::uint16_t> owners;
    for (const LineConfig& line : lines) {
        if (++times[line.number] == 2) {
            add_problem(
                problems, places.at(number_path(line)),
                fmt::format("lines: found line {} again, expected each line once", line.number));
        }
        if (times[line.number] > 1) {
            continue;
        }
        for (const auto* groups : {&line.streams, &line.retransmission}) {
            for (const nic::Group& group : *groups) {
                const auto [owner, fresh] = owners.emplace(group, line.number);
                const bool shared = share_groups && owner->second != line.number;
                if (group.port != 0 && !fresh && !shared) {
                    add_problem(
                        problems, places.at(number_path(line)),
                        fmt::format("lines: found {} twice (lines {} and {}), expected each "
                                    "group and port once",
                                    nic::text_of(group), owner->second, line.number));
                }
            }
        }
    }
}

}  // namespace pinstrike::feed
