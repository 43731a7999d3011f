// path: cold
#include "actors/telemetry/admin/view_text.h"

#include "config/units.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace pinstrike::actors::admin {
namespace {

using nlohmann::json;

/// "-" if the count is unknown.
std::string count_text(const json& of, const char* member) {
    const json& value = of.at(member);
    return value.is_null() ? "-" : grouped(value.get<std::uint64_t>());
}

std::string word(const json& of, const char* member) {
    const json& value = of.at(member);
    return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::string joined(const json& words) {
    std::string text;
    for (const json& each : words) {
        text += text.empty() ? "" : " ";
        text += each.is_string() ? each.get<std::string>() : each.dump();
    }
    return text;
}

/// "reason 3, reason 1"
std::string reasons_text(const json& counts) {
    std::string text;
    for (const auto& [name, count] : counts.items()) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                            grouped(count.get<std::uint64_t>()));
    }
    return text;
}

std::string ago_text(const json& seconds) {
    if (seconds.is_null()) {
        return "never";
    }
    const auto value = seconds.get<double>();
    return value < 1 ? "now" : fmt::format("{:.0f} s ago", value);
}

/// The share of stream A in the messages that either stream brought first.
std::string share_text(const json& line) {
    const auto a = line.at("a").at("accepted").get<double>();
    const auto b = line.at("b").at("accepted").get<double>();
    return a + b == 0 ? "-" : fmt::format("{:.0f} %", 100 * a / (a + b));
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
        text += fmt::format("down        {}\n", joined(status.at("lines_down")));
    }
    if (!status.at("streams_not_up").empty()) {
        text += fmt::format("not heard   {}\n", joined(status.at("streams_not_up")));
    }
    for (const char* count : {"packets", "dropped", "missed", "delivered", "gaps", "lost",
                              "repaired", "late", "refused"}) {
        text += fmt::format("{:<12}{:>18}\n", count, count_text(status, count));
    }
    return text;
}

std::string lines_text(const json& reply) {
    std::string text = fmt::format("{:>5} {:<8}{:<8}{:<8}{:>16}{:>11}{:>9}{:>9}{:>8}{:>10}{:>10}\n",
                                   "line", "state", "A", "B", "delivered", "lost", "repaired",
                                   "gaps", "A first", "A skew", "B skew");
    for (const json& line : reply.at("lines")) {
        text += fmt::format("{:>5} {:<8}{:<8}{:<8}{:>16}{:>11}{:>9}{:>9}{:>8}{:>10}{:>10}\n",
                            word(line, "line"), word(line, "state"), word(line.at("a"), "state"),
                            word(line.at("b"), "state"), count_text(line, "delivered"),
                            count_text(line, "lost"), count_text(line, "repaired"),
                            count_text(line, "gaps"), share_text(line),
                            time_text(line.at("a").at("ahead"), "p50_ns"),
                            time_text(line.at("b").at("ahead"), "p50_ns"));
    }
    return text;
}

std::string ports_text(const json& reply) {
    std::string text = fmt::format("{:<16}{:<14}{:<6}{:>18}{:>16}{:>12}{:>12}\n", "port", "poller",
                                   "link", "packets", "to lines", "missed", "errors");
    for (const json& port : reply.at("ports")) {
        text += fmt::format("{:<16}{:<14}{:<6}{:>18}{:>16}{:>12}{:>12}\n", word(port, "port"),
                            word(port, "poller"), word(port, "link"), count_text(port, "packets"),
                            count_text(port, "to_lines"), count_text(port, "missed"),
                            count_text(port, "errors"));
        if (!port.at("dropped").empty()) {
            text += fmt::format("  dropped: {}\n", reasons_text(port.at("dropped")));
        }
        for (const json& each : port.value("unknown_groups", json::array())) {
            text += fmt::format("  unknown group {}:{} from {}: {} packets since the start\n",
                                word(each, "group"), word(each, "port"), word(each, "from"),
                                count_text(each, "packets"));
        }
    }
    return text;
}

std::string threads_text(const json& reply) {
    std::string text = fmt::format("{:<16}{:<8}{:>5}{:>8}{:>18}{:>18}{:>14}\n", "thread", "kind",
                                   "cpu", "busy", "packets", "messages", "longest step");
    for (const json& thread : reply.at("threads")) {
        const bool polls = thread.contains("packets");
        const double longest_us = thread.at("longest_step_ns").get<double>() / 1e3;
        text += fmt::format("{:<16}{:<8}{:>5}{:>6.0f} %{:>18}{:>18}{:>11.0f} us\n",
                            word(thread, "thread"), word(thread, "kind"), word(thread, "cpu"),
                            100 * busy_share(thread), polls ? count_text(thread, "packets") : "",
                            polls ? "" : count_text(thread, "messages"), longest_us);
    }
    return text;
}

std::string rings_text(const json& reply) {
    std::string text = fmt::format("{:<16}{:<16}{:>18}{:>14}{:>16}{:>10}\n", "ring from", "to",
                                   "messages", "refused", "fullest so far", "of");
    for (const json& ring : reply.at("rings")) {
        text += fmt::format("{:<16}{:<16}{:>18}{:>14}{:>16}{:>10}\n", word(ring, "from"),
                            word(ring, "to"), count_text(ring, "routed"),
                            count_text(ring, "refused"), count_text(ring, "high_water_records"),
                            count_text(ring, "capacity_records"));
    }
    return text;
}

std::string actors_text(const json& reply) {
    std::string text = fmt::format("{:<16}{:<14}{:>18}{:>12}{:>12}{:>12}{:>12}\n", "core", "actor",
                                   "messages", "waits p50", "p99", "serves p50", "p99");
    for (const json& actor : reply.at("actors")) {
        const json& waiting = actor.at("waiting");
        const json& service = actor.at("service");
        text += fmt::format("{:<16}{:<14}{:>18}{:>12}{:>12}{:>12}{:>12}\n", word(actor, "core"),
                            word(actor, "actor"), count_text(actor, "messages"),
                            time_text(waiting, "p50_ns"), time_text(waiting, "p99_ns"),
                            time_text(service, "p50_ns"), time_text(service, "p99_ns"));
    }
    return text;
}

std::string latency_text(const json& reply) {
    std::string text = fmt::format("{:<24}{:>14}{:>11}{:>11}{:>11}{:>11}{:>12}\n", "latency",
                                   "count", "p50", "p90", "p99", "p99.9", "highest");
    for (const auto& [stage, times] : reply.at("latency").items()) {
        text += fmt::format("{:<24}{:>14}{:>11}{:>11}{:>11}{:>11}{:>12}\n", stage,
                            count_text(times, "count"), time_text(times, "p50_ns"),
                            time_text(times, "p90_ns"), time_text(times, "p99_ns"),
                            time_text(times, "p999_ns"), time_text(times, "highest_ns"));
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

std::string time_text(const json& times, const char* member) {
    if (!times.contains(member)) {
        return "-";
    }
    const auto us = times.at(member).get<double>() / 1e3;
    const auto [value, unit] = us >= 1e6   ? std::pair{us / 1e6, "s"}
                               : us >= 1e3 ? std::pair{us / 1e3, "ms"}
                                           : std::pair{us, "us"};
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

double busy_share(const json& thread) {
    const auto busy = thread.at("busy_ns").get<double>();
    const auto idle = thread.at("idle_ns").get<double>();
    return busy + idle > 0 ? busy / (busy + idle) : 0;
}

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
        const json& ahead = stream.at("ahead");
        text += fmt::format("  skew to the other stream {:>20} (p99 {}, highest {})\n",
                            time_text(ahead, "p50_ns"), time_text(ahead, "p99_ns"),
                            time_text(ahead, "highest_ns"));
    }
    return text;
}

std::string view_text(const json& reply, const std::string& name) {
    using Text = std::function<std::string(const json&)>;
    static const std::map<std::string, Text> texts{
        {"status", status_text},   {"lines", lines_text},     {"ports", ports_text},
        {"rings", rings_text},     {"threads", threads_text}, {"actors", actors_text},
        {"latency", latency_text},
    };
    return texts.at(name)(reply);
}

}  // namespace pinstrike::actors::admin
