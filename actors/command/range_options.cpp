// path: cold
#include "actors/command/range_options.h"

#include "config/units.h"
#include "feed/event/series_key.h"
#include "feed/recording/moment.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pinstrike::command {
namespace {

/// Sets an end of the range. Ends the command if it is not one moment of the recording.
void set_end(const std::string& text, const feed::RecordedPackets& packets, std::int64_t& end_ns) {
    const auto moment = text.empty() ? std::nullopt : feed::parse_moment(text);
    if (!moment) {
        return;  // the recording's own end
    }
    const auto ns = feed::ns_of(*moment, packets.first_ns(), packets.last_ns());
    if (!ns) {
        complain(
            "{}: has no date, and the recording has packets of several days; expected "
            "YYYY-MM-DDT{}",
            text, text);
        throw Ended{Exit::usage};
    }
    end_ns = *ns;
}

std::string moment_error(const std::string& text) {
    return feed::parse_moment(text)
               ? std::string{}
               : "found " + text + ", expected HH:MM[:SS], with YYYY-MM-DDT in front or Z behind";
}

/// Empty if the text can be a root, otherwise the error.
std::string root_error(const std::string& text) {
    return !text.empty() && text.size() <= feed::SeriesKey::symbol_bytes
               ? ""
               : "found " + text + ", expected roots of at most 5 characters, such as SPY,SPXW";
}

}  // namespace

void add_underlyings(CLI::App& command, std::vector<std::string>& roots, const std::string& what) {
    command.add_option("--underlyings", roots, what)->delimiter(',')->check(root_error);
}

void add_range(CLI::App& command, RangeOptions& options) {
    command.add_option("--from", options.from, "The first moment (default: the beginning)")
        ->check(moment_error);
    command.add_option("--to", options.to, "The moment behind the last packet (default: the end)")
        ->check(moment_error);
    command.add_option("--lines", options.lines, "Only these lines: 1-4,12 (default: all packets)")
        ->check([](const std::string& text) {
            return parse_ranges(text) ? std::string{}
                                      : "found " + text + ", expected numbers such as 1-4,12";
        });
}

feed::RecordedPackets open_recording(const std::string& folder, const feed::SegmentSpan& span) {
    Problems problems;
    auto packets = feed::RecordedPackets::open(folder, problems, span);
    end_unless(packets.has_value(), problems);
    return std::move(*packets);
}

feed::PacketRange range_of(const RangeOptions& options, const feed::RecordedPackets& packets) {
    feed::PacketRange range;
    set_end(options.from, packets, range.from_ns);
    set_end(options.to, packets, range.to_ns);
    if (range.from_ns >= range.to_ns) {
        complain("--to {}: expected a moment after --from {}", options.to, options.from);
        throw Ended{Exit::usage};
    }
    if (!options.lines.empty()) {
        range.lines = *parse_ranges(options.lines);
        std::ranges::sort(range.lines);
    }
    return range;
}

}  // namespace pinstrike::command
