// path: cold
#include "actors/telemetry/admin/view_text.h"

#include "actors/telemetry/admin/view_tables.h"
#include "config/joined.h"
#include "config/units.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace pinstrike::actors::admin {
namespace {

using nlohmann::json;

/// The words or numbers of a list.
std::string words_text(const json& words) {
    return joined(words, " ", [](const json& each) { return word(each); });
}

/// "reason 3, reason 1"
std::string reasons_text(const json& counts) {
    return joined(counts.items(), ", ", [](const auto& each) {
        return fmt::format("{} {}", each.key(),
                           grouped(each.value().template get<std::uint64_t>()));
    });
}

std::string ago_text(const json& seconds) {
    if (seconds.is_null()) {
        return "never";
    }
    const auto value = seconds.get<double>();
    return value < 1 ? "now" : fmt::format("{:.0f} s ago", value);
}

std::string status_text(const json& reply) {
    const json& status = reply.at("status");
    const auto lines = status.at("lines").get<std::size_t>();
    std::string text = fmt::format(
        "feed {}   pinstrike {}   process {}   running {}\n", word(reply, "feed"),
        word(reply, "version"), word(reply, "process"),
        duration_text(static_cast<std::int64_t>(reply.at("running_seconds").get<double>()) *
                      1'000'000'000));
    text += fmt::format("config {}   log level {}   counts of the last {:.0f} s\n\n",
                        word(reply, "config_file"), word(reply, "log_level"),
                        reply.at("counted_seconds").get<double>());
    text +=
        fmt::format("lines       {} of {} up\n", status.at("lines_up").get<std::size_t>(), lines);
    if (!status.at("lines_down").empty()) {
        text += fmt::format("down        {}\n", words_text(status.at("lines_down")));
    }
    if (!status.at("streams_not_up").empty()) {
        text += fmt::format("not heard   {}\n", words_text(status.at("streams_not_up")));
    }
    for (const char* count : {"packets", "dropped", "missed", "delivered", "gaps", "lost",
                              "repaired", "late", "refused"}) {
        text += fmt::format("{:<12}{:>18}\n", count, count_text(status, count));
    }
    return text;
}

/// What a row of the view `ports` has beside its columns.
std::string below_port(const json& port) {
    std::string text;
    if (!port.at("dropped").empty()) {
        text += fmt::format("  dropped: {}\n", reasons_text(port.at("dropped")));
    }
    for (const json& each : port.value("unknown_groups", json::array())) {
        text += fmt::format("  unknown group {}:{} from {}: {} packets since the start\n",
                            word(each, "group"), word(each, "port"), word(each, "from"),
                            count_text(each, "packets"));
    }
    return text;
}

std::string counts_text(const json& of, std::string_view indent) {
    std::string text;
    for (const auto& [name, value] : of.items()) {
        if (value.is_number_unsigned() && name != "line" && value.get<std::uint64_t>() != 0) {
            text += fmt::format("{}{:<24}{:>20}\n", indent, name, count_text(of, name.c_str()));
        }
    }
    return text;
}

}  // namespace

std::string line_text(const json& line) {
    std::string text = fmt::format("line {}   {}   on {}\n", word(line, "line"),
                                   word(line, "state"), word(line, "poller"));
    text += counts_text(line, "  ");
    if (!line.at("rejects").empty()) {
        text += fmt::format("  rejects: {}\n", reasons_text(line.at("rejects")));
    }
    for (const char* name : {"a", "b"}) {
        const json& stream = line.at(name);
        text += fmt::format("stream {}   {}   heard {}\n", name[0] == 'a' ? 'A' : 'B',
                            word(stream, "state"), ago_text(stream.at("heard_seconds_ago")));
        text += counts_text(stream, "  ");
        const json& skew = stream.at("skew");
        text += fmt::format("  skew to the other stream {:>20} (p99 {}, highest {})\n",
                            time_text(skew, "p50_ns"), time_text(skew, "p99_ns"),
                            time_text(skew, "highest_ns"));
    }
    return text;
}

std::string view_text(const json& reply, const std::string& name) {
    if (name == "status") {
        return status_text(reply);
    }
    const Table table = view_table({reply, nullptr}, name, Figures::counts);
    std::string text = heads_text(table) + '\n';
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        text += row_text(table, row) + '\n';
        text += name == "ports" ? below_port(reply.at(name).at(row)) : "";
    }
    return text;
}

}  // namespace pinstrike::actors::admin
