// path: cold
#include "actors/telemetry/latency/latency_rows.h"
#include "actors/telemetry/latency/latency_text.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace pinstrike::actors {
namespace {

constexpr std::array kind_words{"all", "without_preemption", "by_time", "preemption"};

/// Quoting by RFC 4180, because names come from configs and may contain any character.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string out = "\"";
    for (const char letter : text) {
        out += letter == '"' ? "\"\"" : std::string(1, letter);
    }
    return out + '"';
}

}  // namespace

std::string latency_csv(const LatencyReading& reading) {
    std::string out = "stage,thread,actor,samples,count";
    for (const Percentile& percentile : percentiles) {
        out += fmt::format(",{}_ns", percentile.name);
    }
    out += ",max_ns\n";
    for (const LatencyRow& row : latency_rows(reading)) {
        const bool counted = row.kind != LatencyRow::Kind::by_time;
        out += fmt::format("{},{},{},{},{}", quoted(row.stage), quoted(row.thread),
                           quoted(row.actor), kind_words[static_cast<std::size_t>(row.kind)],
                           counted ? fmt::format("{}", row.taken.count) : "");
        for (const Percentile& percentile : percentiles) {
            const auto value = percentile_ns(row, percentile);
            out += value ? fmt::format(",{}", *value) : ",";
        }
        out += row.taken.count != 0 ? fmt::format(",{}\n", row.taken.highest_ns) : ",\n";
    }
    return out;
}

}  // namespace pinstrike::actors
