// path: cold
#include "actors/telemetry/metrics/metric_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pinstrike::actors {

namespace {

/// Whether `word` is one of the words in the name, which underscores separate.
bool has_word(std::string_view name, std::string_view word) {
    return fmt::format("_{}_", name).find(fmt::format("_{}_", word)) != std::string::npos;
}

/// Subject and name of the rows that can decrease.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> falling{
    {{"line", "lost"}, {"recovery", "open"}, {"recovery", "in_flight"}}};

}  // namespace

std::string_view word_of(MetricKind kind) {
    constexpr std::array<std::string_view, 3> words{"counter", "gauge", "histogram"};
    return words[static_cast<std::size_t>(kind)];
}

std::string row_name(std::string_view subject, const Row& row) {
    std::string name{subject};
    name.append("_").append(row.name);
    if (!has_word(row.name, row.unit)) {
        name.append("_").append(row.unit);
    }
    return name;
}

bool can_fall(std::string_view subject, const Row& row) {
    return std::ranges::count(falling, std::pair{subject, row.name}) != 0;
}

std::string metric_name(std::string_view subject, const Row& row) {
    return row_name(subject, row) + (can_fall(subject, row) ? "" : "_total");
}

std::string metric_name(const ActorTable& table, std::size_t row) {
    return row_name(table.subject, table.rows[row]) + (table.gauges ? "" : "_total");
}

}  // namespace pinstrike::actors
