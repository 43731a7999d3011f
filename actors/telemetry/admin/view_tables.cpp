// path: cold
#include "actors/telemetry/admin/view_tables.h"

#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors::admin {
namespace {

using nlohmann::json;

const json nothing;

/// A row of a view, and the same row of the reading before (null: there is none).
struct TableRow {
    const json& now;
    const json& before;
    double seconds;
};

/// A column of a table. `member`: the path of its value in the row.
struct Field {
    std::string_view head;
    int counts_width;  ///< as Column::width; 0: the column is not there
    int rates_width;
    Cell (*cell)(const TableRow& row, const char* member);
    const char* member = "";
    bool falls = true;
};

/// The value at a path such as "a/state"; null: there is none.
const json* value_at(const json& of, const char* path) {
    const json::json_pointer pointer{std::string{"/"} + path};
    return of.contains(pointer) ? &of.at(pointer) : nullptr;
}

Cell word_cell(const TableRow& row, const char* member) {
    return {word(row.now, member), 0};
}

Cell number_cell(const TableRow& row, const char* member) {
    return {word(row.now, member), number(row.now, member)};
}

/// Empty if this kind of row has no such count.
Cell count_cell(const TableRow& row, const char* member) {
    if (!row.now.contains(member)) {
        return {"", -1};
    }
    return {count_text(row.now, member),
            row.now.at(member).is_null() ? -1 : number(row.now, member)};
}

Cell rate_cell(const TableRow& row, const char* member) {
    if (!row.now.contains(member)) {
        return {"", -1};
    }
    const double value = rate(row.now, row.before, member, row.seconds);
    return {row.before.is_null() ? "-" : grouped(static_cast<std::uint64_t>(std::llround(value))),
            value};
}

std::string text_of_ns(double ns) {
    const double us = ns / 1e3;
    const auto [value, unit] = us >= 1e6   ? std::pair{us / 1e6, "s"}
                               : us >= 1e3 ? std::pair{us / 1e3, "ms"}
                                           : std::pair{us, "us"};
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

Cell time_cell(const TableRow& row, const char* member) {
    const json* const ns = value_at(row.now, member);
    return ns == nullptr ? Cell{"-", -1} : Cell{text_of_ns(ns->get<double>()), ns->get<double>()};
}

/// Bad states sort first.
Cell state_cell(const TableRow& row, const char* member) {
    Cell cell{value_at(row.now, member)->get<std::string>(), 3};
    cell.weight = cell.text == "up" || cell.text == "not received" ? 0
                  : cell.text == "unheard"                         ? 1
                  : cell.text == "silent"                          ? 2
                                                                   : 3;
    return cell;
}

Cell share_cell(double share) {
    return {fmt::format("{:.0f} %", 100 * share), share};
}

/// The share of stream A in the line's messages since the last reading, or since the start if there
/// were none.
Cell first_cell(const TableRow& row, const char* /*member*/) {
    const auto of = [](const json& line, const char* stream) {
        return line.is_null() ? 0.0 : number(line.at(stream), "accepted");
    };
    double a = of(row.now, "a") - of(row.before, "a");
    double b = of(row.now, "b") - of(row.before, "b");
    if (a + b <= 0) {
        a = of(row.now, "a");
        b = of(row.now, "b");
    }
    return a + b > 0 ? share_cell(a / (a + b)) : Cell{"-", -1};
}

/// The skew of the stream that is earlier more often.
Cell ahead_cell(const TableRow& row, const char* /*member*/) {
    const auto count = [&](const char* stream) {
        return number(row.now.at(stream).at("skew"), "count");
    };
    return time_cell(row, count("a") >= count("b") ? "a/skew/p50_ns" : "b/skew/p50_ns");
}

Cell busy_cell(const TableRow& row, const char* /*member*/) {
    const auto since = [&](const char* member) {
        return number(row.now, member) - (row.before.is_null() ? 0 : number(row.before, member));
    };
    const double busy = since("busy_ns");
    const double idle = since("idle_ns");
    return share_cell(busy >= 0 && idle >= 0 && busy + idle > 0 ? busy / (busy + idle) : 0);
}

Cell fullest_cell(const TableRow& row, const char* /*member*/) {
    const double capacity = number(row.now, "capacity_records");
    const double share = capacity > 0 ? number(row.now, "high_water_records") / capacity : 0;
    return {fmt::format("{:.1f} %", 100 * share), share};
}

Cell gigabits_cell(const TableRow& row, const char* /*member*/) {
    const double gigabits = rate(row.now, row.before, "bytes", row.seconds) * 8 / 1e9;
    return {row.before.is_null() ? "-" : fmt::format("{:.3f}", gigabits), gigabits};
}

Cell dropped_cell(const TableRow& row, const char* /*member*/) {
    const json& dropped = row.now.at("dropped");
    const auto sum = std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0},
                                     [](std::uint64_t so_far, const json& count) {
                                         return so_far + count.get<std::uint64_t>();
                                     });
    return {grouped(sum), static_cast<double>(sum)};
}

constexpr auto line_fields = std::to_array<Field>({{"line", 5, 4, number_cell, "line", false},
                                                   {"state", -7, -7, state_cell, "state"},
                                                   {"A", -7, -7, state_cell, "a/state"},
                                                   {"B", -7, -7, state_cell, "b/state"},
                                                   {"messages/s", 0, 10, rate_cell, "delivered"},
                                                   {"delivered", 16, 0, count_cell, "delivered"},
                                                   {"lost", 10, 8, count_cell, "lost"},
                                                   {"repaired", 8, 8, count_cell, "repaired"},
                                                   {"gaps", 8, 5, count_cell, "gaps"},
                                                   {"A first", 7, 7, first_cell, "", false},
                                                   {"skew", 0, 8, ahead_cell},
                                                   {"A skew", 9, 0, time_cell, "a/skew/p50_ns"},
                                                   {"B skew", 9, 0, time_cell, "b/skew/p50_ns"}});

constexpr auto thread_fields =
    std::to_array<Field>({{"thread", -15, -14, word_cell, "thread", false},
                          {"kind", -7, -7, word_cell, "kind"},
                          {"cpu", 5, 4, word_cell, "cpu"},
                          {"busy", 7, 6, busy_cell},
                          {"packets/s", 0, 12, rate_cell, "packets"},
                          {"messages/s", 0, 12, rate_cell, "messages"},
                          {"packets", 17, 0, count_cell, "packets"},
                          {"messages", 17, 0, count_cell, "messages"},
                          {"longest", 0, 9, time_cell, "longest_step_ns"},
                          {"longest step", 13, 0, time_cell, "longest_step_ns"},
                          {"stall p99", 0, 9, time_cell, "preemptions/p99_ns"}});

constexpr auto ring_fields =
    std::to_array<Field>({{"ring from", -15, -16, word_cell, "from", false},
                          {"to", -15, -16, word_cell, "to", false},
                          {"messages/s", 0, 12, rate_cell, "routed"},
                          {"messages", 18, 0, count_cell, "routed"},
                          {"refused", 13, 12, count_cell, "refused"},
                          {"fullest", 0, 8, fullest_cell},
                          {"fullest so far", 15, 0, count_cell, "high_water_records"},
                          {"of", 9, 10, count_cell, "capacity_records"}});

constexpr auto actor_fields =
    std::to_array<Field>({{"core", -15, -12, word_cell, "core", false},
                          {"actor", -13, -10, word_cell, "actor", false},
                          {"messages/s", 0, 12, rate_cell, "messages"},
                          {"messages", 18, 0, count_cell, "messages"},
                          {"waits p50", 11, 10, time_cell, "waiting/p50_ns"},
                          {"p99", 11, 10, time_cell, "waiting/p99_ns"},
                          {"serves p50", 11, 10, time_cell, "service/p50_ns"},
                          {"p99", 11, 9, time_cell, "service/p99_ns"}});

constexpr auto port_fields = std::to_array<Field>({{"port", -15, -12, word_cell, "port", false},
                                                   {"poller", -13, -12, word_cell, "poller", false},
                                                   {"link", -5, -4, word_cell, "link"},
                                                   {"packets/s", 0, 12, rate_cell, "packets"},
                                                   {"packets", 18, 0, count_cell, "packets"},
                                                   {"to lines", 15, 0, count_cell, "to_lines"},
                                                   {"Gb/s", 0, 7, gigabits_cell},
                                                   {"dropped", 0, 9, dropped_cell},
                                                   {"missed", 11, 9, count_cell, "missed"},
                                                   {"errors", 11, 7, count_cell, "errors"}});

constexpr auto latency_fields =
    std::to_array<Field>({{"stage", 0, -20, word_cell, "stage", false},
                          {"latency", -23, 0, word_cell, "stage", false},
                          {"count", 14, 13, count_cell, "count"},
                          {"p50", 10, 8, time_cell, "p50_ns"},
                          {"p90", 10, 8, time_cell, "p90_ns"},
                          {"p99", 10, 8, time_cell, "p99_ns"},
                          {"p99.9", 10, 8, time_cell, "p999_ns"},
                          {"highest", 11, 8, time_cell, "highest_ns"}});

constexpr auto series_fields =
    std::to_array<Field>({{"busiest series", 0, -34, word_cell, "series", false},
                          {"quotes/s", 0, 11, rate_cell, "quotes"},
                          {"quotes", 0, 13, count_cell, "quotes"},
                          {"bid", 0, 9, word_cell, "bid"},
                          {"offer", 0, 9, word_cell, "offer"}});

/// The rows of the view; of the view `latency`, whose rows have names, each with its name.
json rows_of(const json& reading, const std::string& view) {
    json rows = reading.is_null() ? json::array() : reading.value(view, json::array());
    if (rows.is_object()) {
        json named = json::array();
        for (auto& [name, row] : rows.items()) {
            row["stage"] = name;
            named.push_back(std::move(row));
        }
        return named;
    }
    return rows;
}

/// The same row in the reading before: at the same place, or with the same series.
const json& row_before(const json& before, std::size_t at, const json& row) {
    if (row.contains("series")) {
        const auto same = std::find_if(before.begin(), before.end(), [&](const json& each) {
            return each.at("series") == row.at("series");
        });
        return same == before.end() ? nothing : *same;
    }
    return at < before.size() ? before.at(at) : nothing;
}

struct ViewTable {
    std::string_view name;
    std::span<const Field> fields;
};

constexpr auto views = std::to_array<ViewTable>({{"lines", line_fields},
                                                 {"threads", thread_fields},
                                                 {"rings", ring_fields},
                                                 {"ports", port_fields},
                                                 {"actors", actor_fields},
                                                 {"latency", latency_fields},
                                                 {"busiest", series_fields}});

}  // namespace

double Readings::seconds() const {
    return before.is_null() ? 0
                            : number(now, "running_seconds") - number(before, "running_seconds");
}

Table view_table(const Readings& readings, std::string_view view, Figures figures) {
    const ViewTable* const described = std::ranges::find(views, view, &ViewTable::name);
    Table table;
    table.cuts = figures == Figures::rates;
    std::vector<Field> shown;
    for (const Field& field : described->fields) {
        const int width = figures == Figures::counts ? field.counts_width : field.rates_width;
        if (width != 0) {
            shown.push_back(field);
            table.columns.push_back({field.head, width, field.falls});
        }
    }
    const json before = rows_of(readings.before, std::string{view});
    for (const json& now : rows_of(readings.now, std::string{view})) {
        const TableRow row{now, row_before(before, table.rows.size(), now), readings.seconds()};
        std::vector<Cell>& cells = table.rows.emplace_back();
        for (const Field& field : shown) {
            cells.push_back(field.cell(row, field.member));
        }
    }
    return table;
}

double number(const json& of, const char* member) {
    const json& value = of.at(member);
    return value.is_null() ? 0 : value.get<double>();
}

double rate(const json& now, const json& before, const char* member, double seconds) {
    if (before.is_null() || seconds <= 0) {
        return 0;
    }
    return std::max(number(now, member) - number(before, member), 0.0) / seconds;
}

std::string count_text(const json& of, const char* member) {
    const json& value = of.at(member);
    return value.is_null() ? "-" : grouped(value.get<std::uint64_t>());
}

std::string word(const json& of, const char* member) {
    return word(of.at(member));
}

std::string word(const json& value) {
    return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
}

std::string time_text(const json& times, const char* member) {
    return time_cell({times, nothing, 0}, member).text;
}

}  // namespace pinstrike::actors::admin
