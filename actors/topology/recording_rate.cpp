// path: cold
#include "actors/topology/recording_rate.h"

#include "actors/topology/topology.h"
#include "config/time_units.h"
#include "config/units.h"
#include "feed/traffic/traffic_generator.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace pinstrike::actors {

namespace {

/// Of one stream, with the frame and pcapng's block around it. deploy/CAPACITY.md says how it was
/// measured.
constexpr double bytes_of_message = 58;

/// What a replay with books takes. deploy/CAPACITY.md says how it was measured.
constexpr double replayed_messages_per_second = 5e6;

constexpr double calendar_day_s = 24 * 3600;

/// The part of the feed's messages that come on recorded lines.
double recorded_part(const FeedConfig& config) {
    const std::vector<std::uint16_t>& wanted = config.record.lines;
    if (wanted.empty() || config.lines.empty()) {
        return 1;
    }
    const auto lines =
        std::ranges::count_if(wanted, [](std::uint16_t number) { return number != 0; });
    return static_cast<double>(lines) / static_cast<double>(config.lines.size());
}

/// How many days of so many bytes are kept, and what limits them; no text: nothing does.
std::pair<double, std::string> days_kept(const FeedConfig& config, double bytes_of_day,
                                         const std::optional<RecordingDisk>& disk) {
    std::pair<double, std::string> least{std::numeric_limits<double>::infinity(), ""};
    const auto limit = [&](double days, const char* key) {
        if (days < least.first) {
            least = {days, key};
        }
    };
    const RecordConfig& record = config.record;
    if (record.keep_bytes != 0) {
        limit(static_cast<double>(record.keep_bytes) / bytes_of_day, "record.keep_bytes");
    }
    if (disk) {
        const auto all = static_cast<double>(disk->free_bytes + disk->recorded_bytes);
        limit(std::max(all - static_cast<double>(record.free_bytes), 0.0) / bytes_of_day,
              "the disk's size and record.free");
    }
    if (record.keep_ns != 0) {
        limit(static_cast<double>(record.keep_ns) / second_ns / calendar_day_s, "record.keep");
    }
    return least;
}

/// What the interval of the snapshots means for a start, and for a replay from a moment.
std::string snapshots_text(const FeedConfig& config, double messages_per_second) {
    const double interval_s = static_cast<double>(config.record.snapshot_interval_ns) / second_ns;
    const double messages = messages_per_second * recorded_part(config) * interval_s;
    return fmt::format(
        "recorded state: up to {} messages since the last snapshot, which are read in about {:.1f} "
        "s (record.snapshot_interval)\n",
        grouped(static_cast<std::uint64_t>(messages)), messages / replayed_messages_per_second);
}

}  // namespace

std::optional<double> generated_rate(const FeedConfig& config) {
    const feed::TrafficGenerator* const generator = feed::traffic_generator();
    const bool generates = generator != nullptr && generator->venue == config.kind &&
                           std::ranges::any_of(config.ports, [](const auto& port) {
                               return nic::row_of(port.kind).generates;
                           });
    if (!generates) {
        return std::nullopt;
    }
    return (config.traffic != nullptr ? config.traffic : generator->defaults)
        ->messages_per_second();
}

double recorded_bytes_per_second(const FeedConfig& config, double messages_per_second) {
    const feed::StreamsReceived received = streams_received(config);
    const auto streams = std::ranges::count(received, true);
    const double copies = config.record.streams == RecordedStreams::first
                              ? std::min<double>(static_cast<double>(streams), 1)
                              : static_cast<double>(streams);
    return messages_per_second * bytes_of_message * copies * recorded_part(config);
}

std::string recording_text(const FeedConfig& config, std::optional<double> messages_per_second,
                           const std::optional<RecordingDisk>& disk) {
    if (!messages_per_second) {
        return "recording: `pinstrike check --rate N` says what N messages a second take on disk\n";
    }
    constexpr double mega = 1e6;
    constexpr double giga = 1e9;
    const double bytes_per_second = recorded_bytes_per_second(config, *messages_per_second);
    const double bytes_of_day = bytes_per_second * trading_day_s;
    std::string text = fmt::format(
        "recording of {} messages/s on average: about {:.1f} MB/s, {:.1f} GB in a trading day of "
        "6.5 hours ({:.0f} bytes for each copy of a message)\n",
        grouped(static_cast<std::uint64_t>(*messages_per_second)), bytes_per_second / mega,
        bytes_of_day / giga, bytes_of_message);
    if (const auto [days, limit] = days_kept(config, bytes_of_day, disk); !limit.empty()) {
        text +=
            fmt::format("recording is kept for about {:.1f} days, because of {}\n", days, limit);
    }
    if (takes_snapshots(config)) {
        text += snapshots_text(config, *messages_per_second);
    }
    return text;
}

}  // namespace pinstrike::actors
