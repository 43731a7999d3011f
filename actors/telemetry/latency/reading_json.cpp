// path: cold
#include "actors/telemetry/latency/reading_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <utility>

namespace pinstrike {

using nlohmann::json;

static void to_json(json& sent, const Histogram::Snapshot& taken) {
    json buckets = json::array();
    for (std::size_t i = 0; i < Histogram::buckets_count; ++i) {
        if (taken.buckets[i] != 0) {
            buckets.push_back({i, taken.buckets[i]});
        }
    }
    sent = {{"count", taken.count},
            {"sum_ns", taken.sum_ns},
            {"highest_ns", taken.highest_ns},
            {"buckets", std::move(buckets)}};
}

/// Throws if the value is no whole number, which get() would convert.
static std::uint64_t whole(const json& value) {
    return value.get_ref<const std::uint64_t&>();
}

/// The count is that of the buckets.
static void from_json(const json& sent, Histogram::Snapshot& taken) {
    for (const json& bucket : sent.at("buckets")) {
        const std::uint64_t count = whole(bucket.at(1));
        taken.buckets.at(whole(bucket.at(0))) += count;
        taken.count += count;
    }
    taken.sum_ns = whole(sent.at("sum_ns"));
    taken.highest_ns = whole(sent.at("highest_ns"));
}

namespace actors {

// Each member by its name, both ways.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageReading, stage, thread, actor, all, preempted)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoopReading, thread, polls, steps, looked_ns, not_empty,
                                   preemptions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LatencyReading, feed, version, running_s, seconds, clock_error_s,
                                   clock_steps, from_due, stages, loops)

json reading_json(const LatencyReading& reading) {
    return reading;
}

std::optional<LatencyReading> parse_reading(const json& answer, std::string& complaint) {
    try {
        if (answer.contains("error")) {
            complaint = answer.at("error").get<std::string>();
            return std::nullopt;
        }
        return answer.at("histograms").get<LatencyReading>();
    } catch (const std::exception& failure) {  // of json, or a bucket that there is not
        complaint = fmt::format("the answer has no reading: {}", failure.what());
        return std::nullopt;
    }
}

}  // namespace actors
}  // namespace pinstrike
