// path: cold
#include "actors/telemetry/top/tables.h"

#include "actors/telemetry/admin/view_text.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pinstrike::actors::top {
namespace {

using nlohmann::json;

const json nothing;

/// The element at the same index in the reading before; null: there is none.
const json& before_of(const Readings& readings, const char* view, std::size_t i) {
    if (readings.before.is_null() || !readings.before.contains(view) ||
        i >= readings.before.at(view).size()) {
        return nothing;
    }
    return readings.before.at(view).at(i);
}

double number(const json& of, const char* member) {
    const json& value = of.at(member);
    return value.is_null() ? 0 : value.get<double>();
}

/// The increase of a counter per second; 0 if it was cleared in between.
double rate(const json& now, const json& before, const char* member, double seconds) {
    if (before.is_null() || seconds <= 0) {
        return 0;
    }
    return std::max(number(now, member) - number(before, member), 0.0) / seconds;
}

Cell rate_cell(const json& now, const json& before, const char* member, double seconds) {
    const double value = rate(now, before, member, seconds);
    return {before.is_null() ? "-" : grouped(static_cast<std::uint64_t>(value + 0.5)), value};
}

Cell count_cell(const json& of, const char* member) {
    const json& value = of.at(member);
    return value.is_null() ? Cell{"-", -1}
                           : Cell{grouped(value.get<std::uint64_t>()), value.get<double>()};
}

Cell word_cell(const json& of, const char* member) {
    const json& value = of.at(member);
    return {value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump(), 0};
}

Cell time_cell(const json& times, const char* member) {
    return {admin::time_text(times, member), times.contains(member) ? number(times, member) : -1};
}

/// Bad states sort first.
Cell state_cell(const json& of) {
    Cell cell = word_cell(of, "state");
    cell.weight = cell.text == "up" || cell.text == "not received" ? 0
                  : cell.text == "unheard"                         ? 1
                  : cell.text == "silent"                          ? 2
                                                                   : 3;
    return cell;
}

/// "counter 1   counter 2"
template <std::size_t Count>
std::string counts_text(const json& of, const std::array<const char*, Count>& counts) {
    std::string text;
    for (const char* count : counts) {
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : "   ", count, count_cell(of, count).text);
    }
    return text;
}

/// The series in the reading before; null: it was not among the busiest.
const json& series_before(const Readings& readings, const json& series) {
    if (!readings.before.is_null()) {
        for (const json& before : readings.before.at("busiest")) {
            if (before.at("series") == series.at("series")) {
                return before;
            }
        }
    }
    return nothing;
}

Cell share_cell(double share) {
    return {fmt::format("{:.0f} %", 100 * share), share};
}

/// The share of stream A in the line's messages since the last reading, or since the start if there
/// were none.
Cell first_cell(const json& now, const json& before) {
    const auto of = [](const json& line, const char* stream) {
        return line.is_null() ? 0.0 : number(line.at(stream), "accepted");
    };
    double a = of(now, "a") - of(before, "a");
    double b = of(now, "b") - of(before, "b");
    if (a + b <= 0) {
        a = of(now, "a");
        b = of(now, "b");
    }
    return a + b > 0 ? share_cell(a / (a + b)) : Cell{"-", -1};
}

/// The skew of the stream that is ahead more often.
Cell ahead_cell(const json& line) {
    const json& a = line.at("a").at("ahead");
    const json& b = line.at("b").at("ahead");
    return time_cell(number(a, "count") >= number(b, "count") ? a : b, "p50_ns");
}

Cell busy_cell(const json& now, const json& before) {
    if (before.is_null()) {
        return share_cell(admin::busy_share(now));
    }
    const double busy = number(now, "busy_ns") - number(before, "busy_ns");
    const double idle = number(now, "idle_ns") - number(before, "idle_ns");
    return share_cell(busy >= 0 && idle >= 0 && busy + idle > 0 ? busy / (busy + idle) : 0);
}

}  // namespace

double Readings::seconds() const {
    return before.is_null() ? 0
                            : number(now, "running_seconds") - number(before, "running_seconds");
}

Table lines_table(const Readings& readings) {
    Table table{{{"line", 4, false},
                 {"state", -7},
                 {"A", -7},
                 {"B", -7},
                 {"messages/s", 10},
                 {"lost", 8},
                 {"repaired", 8},
                 {"gaps", 5},
                 {"A first", 7, false},
                 {"skew", 8}},
                {}};
    const double seconds = readings.seconds();
    const json& lines = readings.now.at("lines");
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const json& line = lines[i];
        const json& before = before_of(readings, "lines", i);
        table.rows.push_back({{word_cell(line, "line").text, number(line, "line")},
                              state_cell(line),
                              state_cell(line.at("a")),
                              state_cell(line.at("b")),
                              rate_cell(line, before, "delivered", seconds),
                              count_cell(line, "lost"),
                              count_cell(line, "repaired"),
                              count_cell(line, "gaps"),
                              first_cell(line, before),
                              ahead_cell(line)});
    }
    return table;
}

Table threads_table(const Readings& readings) {
    Table table{{{"thread", -14, false},
                 {"kind", -7},
                 {"cpu", 4},
                 {"busy", 6},
                 {"packets/s", 12},
                 {"messages/s", 12},
                 {"longest", 9},
                 {"stops p99", 9}},
                {}};
    const double seconds = readings.seconds();
    const json& threads = readings.now.at("threads");
    for (std::size_t i = 0; i < threads.size(); ++i) {
        const json& thread = threads[i];
        const json& before = before_of(readings, "threads", i);
        const bool polls = thread.contains("packets");
        const json longest{{"longest", thread.at("longest_step_ns")}};
        table.rows.push_back({word_cell(thread, "thread"), word_cell(thread, "kind"),
                              word_cell(thread, "cpu"), busy_cell(thread, before),
                              polls ? rate_cell(thread, before, "packets", seconds) : Cell{"", -1},
                              polls ? Cell{"", -1} : rate_cell(thread, before, "messages", seconds),
                              time_cell(longest, "longest"),
                              time_cell(thread.at("stops"), "p99_ns")});
    }
    return table;
}

Table rings_table(const Readings& readings) {
    Table table{{{"ring from", -16, false},
                 {"to", -16, false},
                 {"messages/s", 12},
                 {"refused", 12},
                 {"fullest", 8},
                 {"of", 10}},
                {}};
    const double seconds = readings.seconds();
    const json& rings = readings.now.at("rings");
    for (std::size_t i = 0; i < rings.size(); ++i) {
        const json& ring = rings[i];
        const double capacity = number(ring, "capacity_records");
        const double share = capacity > 0 ? number(ring, "high_water_records") / capacity : 0;
        table.rows.push_back({word_cell(ring, "from"),
                              word_cell(ring, "to"),
                              rate_cell(ring, before_of(readings, "rings", i), "routed", seconds),
                              count_cell(ring, "refused"),
                              {fmt::format("{:.1f} %", 100 * share), share},
                              count_cell(ring, "capacity_records")});
    }
    return table;
}

Table actors_table(const Readings& readings) {
    Table table{{{"core", -12, false},
                 {"actor", -10, false},
                 {"messages/s", 12},
                 {"waits p50", 10},
                 {"p99", 10},
                 {"serves p50", 10},
                 {"p99", 9}},
                {}};
    const double seconds = readings.seconds();
    const json& actors = readings.now.at("actors");
    for (std::size_t i = 0; i < actors.size(); ++i) {
        const json& actor = actors[i];
        table.rows.push_back(
            {word_cell(actor, "core"), word_cell(actor, "actor"),
             rate_cell(actor, before_of(readings, "actors", i), "messages", seconds),
             time_cell(actor.at("waiting"), "p50_ns"), time_cell(actor.at("waiting"), "p99_ns"),
             time_cell(actor.at("service"), "p50_ns"), time_cell(actor.at("service"), "p99_ns")});
    }
    return table;
}

Table ports_table(const Readings& readings) {
    Table table{{{"port", -12, false},
                 {"poller", -12, false},
                 {"link", -4},
                 {"packets/s", 12},
                 {"Gb/s", 7},
                 {"dropped", 9},
                 {"missed", 9},
                 {"errors", 7}},
                {}};
    const double seconds = readings.seconds();
    const json& ports = readings.now.at("ports");
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const json& port = ports[i];
        const json& before = before_of(readings, "ports", i);
        std::uint64_t dropped = 0;
        for (const json& count : port.at("dropped")) {
            dropped += count.get<std::uint64_t>();
        }
        const double gigabits = rate(port, before, "bytes", seconds) * 8 / 1e9;
        table.rows.push_back({word_cell(port, "port"),
                              word_cell(port, "poller"),
                              word_cell(port, "link"),
                              rate_cell(port, before, "packets", seconds),
                              {before.is_null() ? "-" : fmt::format("{:.3f}", gigabits), gigabits},
                              {grouped(dropped), static_cast<double>(dropped)},
                              count_cell(port, "missed"),
                              count_cell(port, "errors")});
    }
    return table;
}

Table latency_table(const Readings& readings) {
    Table table{{{"stage", -20, false},
                 {"count", 13},
                 {"p50", 8},
                 {"p90", 8},
                 {"p99", 8},
                 {"p99.9", 8},
                 {"highest", 8}},
                {}};
    for (const auto& [stage, times] : readings.now.at("latency").items()) {
        table.rows.push_back({{stage, 0},
                              count_cell(times, "count"),
                              time_cell(times, "p50_ns"),
                              time_cell(times, "p90_ns"),
                              time_cell(times, "p99_ns"),
                              time_cell(times, "p999_ns"),
                              time_cell(times, "highest_ns")});
    }
    return table;
}

Table busiest_table(const Readings& readings) {
    Table table{{{"busiest series", -34, false},
                 {"quotes/s", 11},
                 {"quotes", 13},
                 {"bid", 9},
                 {"offer", 9}},
                {}};
    const double seconds = readings.seconds();
    for (const json& series : readings.now.at("busiest")) {
        const json& before = series_before(readings, series);
        table.rows.push_back(
            {word_cell(series, "series"), rate_cell(series, before, "quotes", seconds),
             count_cell(series, "quotes"), word_cell(series, "bid"), word_cell(series, "offer")});
    }
    return table;
}

std::string rates_text(const Readings& readings) {
    const json& now = readings.now.at("status");
    const json& before = readings.before.is_null() ? nothing : readings.before.at("status");
    const double seconds = readings.seconds();
    return fmt::format("{} messages/s   {} packets/s   {:.3f} Gb/s",
                       rate_cell(now, before, "delivered", seconds).text,
                       rate_cell(now, before, "packets", seconds).text,
                       rate(now, before, "bytes", seconds) * 8 / 1e9);
}

std::string totals_text(const Readings& readings) {
    return counts_text(readings.now.at("status"),
                       std::array{"delivered", "packets", "gaps", "repaired"});
}

std::string losses_text(const Readings& readings) {
    return counts_text(readings.now.at("status"),
                       std::array{"lost", "refused", "dropped", "missed"});
}

std::string lines_up_text(const Readings& readings) {
    const json& status = readings.now.at("status");
    std::string text = fmt::format("lines {} of {} up", status.at("lines_up").get<std::size_t>(),
                                   status.at("lines").get<std::size_t>());
    const json& streams = status.at("streams_not_up");
    text +=
        streams.empty() ? ", all streams heard" : fmt::format(", {} not heard:", streams.size());
    for (const json& stream : streams) {
        text += ' ' + stream.get<std::string>();
    }
    return text;
}

std::string latency_text(const Readings& readings) {
    std::string text = "p50 p99:";
    for (const auto& [stage, times] : readings.now.at("latency").items()) {
        std::string words = stage;
        std::replace(words.begin(), words.end(), '_', ' ');
        text += fmt::format("  {} {} {}", words, admin::time_text(times, "p50_ns"),
                            admin::time_text(times, "p99_ns"));
    }
    return text;
}

std::string plain_text(const Readings& readings) {
    return fmt::format("{:.0f} s   {}   {}   {}\n", number(readings.now, "running_seconds"),
                       rates_text(readings), losses_text(readings), lines_up_text(readings));
}

}  // namespace pinstrike::actors::top
