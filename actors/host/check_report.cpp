// path: cold
#include "actors/host/check_report.h"

#include "actors/host/host_report.h"
#include "actors/host/listening.h"
#include "actors/topology/feed_hours.h"
#include "actors/topology/load_config.h"
#include "actors/topology/recording_rate.h"
#include "actors/topology/series_list.h"
#include "actors/topology/topology.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace pinstrike::actors {

namespace {

/// Turns the text into comments, so that the whole output is a config.
void add_comment(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        out += fmt::format("# {}\n", text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

std::string recording_of(const FeedConfig& config, bool config_only,
                         std::optional<double> messages_per_second) {
    return recording_text(
        config, messages_per_second ? messages_per_second : generated_rate(config),
        config_only ? std::nullopt : find_recording_disk(config.record.folder_of(config.name)));
}

}  // namespace

CheckReport check_report(const FeedConfig& config, bool config_only,
                         std::optional<double> messages_per_second) {
    const Topology topology = plan_topology(config);
    HostReport report = report_on(read_host_resources(config), config, topology);
    CheckReport out{effective_config(config) + "\n", {}};
    add_comment(out.text, to_text(topology, config));
    if (topology.record_bytes != 0) {
        add_comment(out.text, recording_of(config, config_only, messages_per_second));
    }
    if (!config_only) {
        static_cast<void>(hours_of(config, report.problems));
        check_listening(config, read_listening_rights(), report.problems);
        add_comment(out.text, to_text(read_series_list(config, report.problems), config));
    }
    add_comment(out.text, report.text);
    for (const std::string& remark : report.remarks) {
        add_comment(out.text, "remark: " + remark);
    }
    if (!config_only) {
        out.problems = std::move(report.problems);
    }
    return out;
}

}  // namespace pinstrike::actors
