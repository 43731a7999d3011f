// path: cold
//
// The kind of port `pcap`: its keys, rules and needs.
#include "nic/port_kind.h"

#include "nic/capture/capture_config.h"
#include "nic/capture/capture_files.h"
#include "nic/capture/merged_captures.h"
#include "nic/capture/pcap_port.h"
#include "nic/port_keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace pinstrike::nic {
namespace {

Form<Pace> pace_form() {
    return scalar_form<Pace>(
        "max, real, or x and a factor such as x2.5",
        schema_type("string").add("pattern", Node::quote("^(max|real|x[0-9.]+)$")), parse_pace,
        [](const Pace& pace) {
            return Node::plain(pace.factor == 0   ? "max"
                               : pace.factor == 1 ? "real"
                                                  : fmt::format("x{}", pace.factor));
        });
}

void add_keys(Section<PortConfig>& section) {
    section
        .key("files", own(&CaptureConfig::files), list_of(text(), "a list of files"),
             "Captures (pcap, pcapng; compressed or not), merged by time; a folder stands for all "
             "captures in it.")
        .key("pace", own(&CaptureConfig::pace), pace_form(),
             "How fast captures are replayed: max (as fast as they are read), real, or a factor. "
             "The same for all ports of captures, which are replayed together.");
}

void check(const PortRules& rules, std::size_t i) {
    if (rules.ports[i].own.get<CaptureConfig>().files.empty() && rules.sound(i, {"files"})) {
        rules.report(rules.path(i, "files"), "found none, expected at least one capture");
    }
}

Pace pace_of(const PortConfig& port) {
    return port.own.get<CaptureConfig>().pace;
}

/// Captures of several ports are merged by time as well, so they need the same pace.
void check_pace(const PortRules& rules) {
    if (!rules.sound({"kind", "pace"})) {
        return;
    }
    const PortConfig* first = nullptr;
    for (std::size_t i = 0; i < rules.ports.size(); ++i) {
        const PortConfig& port = rules.ports[i];
        if (port.kind != PortKind::capture) {
            continue;
        }
        first = first == nullptr ? &port : first;
        if (pace_of(port).factor != pace_of(*first).factor) {
            rules.report(rules.path(i, "pace"),
                         fmt::format("found another pace than that of port {}, expected one for "
                                     "all: captures are replayed together",
                                     first->name));
        }
    }
}

/// All queues read the same captures. Each queue delivers the frames of its own groups, and the
/// first queue also delivers the frames of groups that no queue has.
GroupFilter filter_of(const GroupsByQueue& groups_by_queue, std::size_t queue) {
    GroupFilter filter;
    filter.takes_rest = queue == 0;
    for (std::size_t each = 0; each < groups_by_queue.size(); ++each) {
        std::vector<Group>& groups = each == queue ? filter.own : filter.others;
        groups.insert(groups.end(), groups_by_queue[each].begin(), groups_by_queue[each].end());
    }
    std::sort(filter.own.begin(), filter.own.end());
    std::sort(filter.others.begin(), filter.others.end());
    return filter;
}

/// A pipe can be read only once, so only one queue can read it.
void check_pipes(const PortConfig& config, std::size_t queues, Problems& problems) {
    for (const std::string& file : config.own.get<CaptureConfig>().files) {
        std::error_code unknown;
        if (queues > 1 && std::filesystem::exists(file, unknown) &&
            !std::filesystem::is_regular_file(file, unknown) &&
            !std::filesystem::is_directory(file, unknown)) {
            add_problem(
                problems, file,
                fmt::format("port {}: {} pollers read it, but its bytes can be read only once; "
                            "one poller or a regular file expected",
                            config.name, queues));
        }
    }
}

/// Includes folders, because one that cannot be read has no captures here.
std::vector<std::string> files_of(const PortConfig& port) {
    const std::vector<std::string>& paths = port.own.get<CaptureConfig>().files;
    Problems ignored;
    std::vector<std::string> files = capture_files(paths, ignored);
    std::copy_if(paths.begin(), paths.end(), std::back_inserter(files), [](const auto& path) {
        std::error_code unknown;
        return std::filesystem::is_directory(path, unknown);
    });
    return files;
}

void check_content(const PortConfig& port, Problems& problems) {
    std::vector<std::string> paths = port.own.get<CaptureConfig>().files;
    std::erase_if(paths, [](const std::string& path) { return ::access(path.c_str(), R_OK) != 0; });
    check_captures(paths, problems);
}

std::string source_of(const PortConfig& port) {
    const std::size_t count = port.own.get<CaptureConfig>().files.size();
    return fmt::format("{} capture{}", count, count == 1 ? "" : "s");
}

Ports open(const PortOpening& opening) {
    const PortConfig& config = opening.config;
    const auto& own = config.own.get<CaptureConfig>();
    const GroupsByQueue& groups = opening.groups_by_queue;
    Problems& problems = opening.problems;
    Ports ports;
    if (own.files.empty()) {
        add_problem(problems, "", fmt::format("port {}: kind pcap needs files", config.name));
    }
    check_pipes(config, groups.size(), problems);
    for (std::size_t queue = 0; queue < groups.size() && problems.empty(); ++queue) {
        std::unique_ptr<FrameStream> frames =
            own.part.frames ? own.part.frames->open(filter_of(groups, queue), problems)
                            : MergedCaptures::open(own.files, filter_of(groups, queue), problems);
        ports.push_back(PcapPort::open(opening.queue_name(queue), std::move(frames), own.part,
                                       own.pace, config.burst_packets, problems, opening.start));
    }
    return ports;
}

}  // namespace

std::optional<Pace> parse_pace(const std::string& text) {
    if (text == "max") {
        return Pace{0};
    }
    if (text == "real") {
        return Pace{1};
    }
    const auto factor = text.starts_with('x') ? parse_number(text.substr(1)) : std::nullopt;
    return factor && *factor > 0 && *factor <= 1e6 ? std::optional{Pace{*factor}} : std::nullopt;
}

extern const PortKindRow capture_port;

constinit const PortKindRow capture_port{
    .word = "pcap",
    .sentence = "capture files",
    .replays = true,
    .add_keys = add_keys,
    .check = check,
    .check_together = check_pace,
    .may_repeat_times = [](const PortConfig& /*port*/) { return true; },
    .source = source_of,
    .pace = pace_of,
    .files = files_of,
    .check_content = check_content,
    // A poll thread reads a pipe, and a recording that goes on. Other threads read files.
    .system_calls = [](const PortConfig& /*port*/) -> std::vector<SystemCall> {
        return {{"close"},   {"flock"},      {"fstat"},
                {"lseek"},   {"newfstatat"}, {"openat", 2, O_ACCMODE, O_RDONLY},
                {"pread64"}, {"read"}};
    },
    .open = open,
};

}  // namespace pinstrike::nic
