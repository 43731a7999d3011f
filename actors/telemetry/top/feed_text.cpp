// path: cold
#include "actors/telemetry/top/feed_text.h"

#include "config/joined.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace pinstrike::actors::top {
namespace {

using nlohmann::json;

const json nothing;

/// "counter 1   counter 2"
std::string counts_text(const Readings& readings, std::initializer_list<const char*> counts) {
    return joined(counts, "   ", [&](const char* count) {
        return fmt::format("{} {}", count, admin::count_text(readings.now.at("status"), count));
    });
}

}  // namespace

std::string rates_text(const Readings& readings) {
    const json& now = readings.now.at("status");
    const json& before = readings.before.is_null() ? nothing : readings.before.at("status");
    const double seconds = readings.seconds();
    const auto text_of = [&](const char* count) {
        const double rate = admin::rate(now, before, count, seconds);
        return before.is_null() ? "-" : grouped(static_cast<std::uint64_t>(rate + 0.5));
    };
    return fmt::format("{} messages/s   {} packets/s   {:.3f} Gb/s", text_of("delivered"),
                       text_of("packets"), admin::rate(now, before, "bytes", seconds) * 8 / 1e9);
}

std::string totals_text(const Readings& readings) {
    return counts_text(readings, {"delivered", "packets", "gaps", "repaired"});
}

std::string losses_text(const Readings& readings) {
    return counts_text(readings, {"lost", "refused", "dropped", "missed"});
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
        std::ranges::replace(words, '_', ' ');
        text += fmt::format("  {} {} {}", words, admin::time_text(times, "p50_ns"),
                            admin::time_text(times, "p99_ns"));
    }
    return text;
}

std::string plain_text(const Readings& readings) {
    return fmt::format("{:.0f} s   {}   {}   {}\n", admin::number(readings.now, "running_seconds"),
                       rates_text(readings), losses_text(readings), lines_up_text(readings));
}

}  // namespace pinstrike::actors::top
