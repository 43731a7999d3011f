// path: cold
#include "actors/command/range_options.h"

#include "config/print_problems.h"
#include "config/units.h"
#include "feed/recording/moment.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::command {
namespace {

/// Sets an end of the range. False: it is not one moment of the recording.
bool set_end(const std::string& text, const feed::RecordedPackets& packets, std::int64_t& end_ns) {
    const auto moment = text.empty() ? std::nullopt : feed::parse_moment(text);
    if (!moment) {
        return true;  // the recording's own end
    }
    const auto ns = feed::ns_of(*moment, packets.first_ns(), packets.last_ns());
    if (!ns) {
        complain(
            "{}: has no date, and the recording has packets of several days; expected "
            "YYYY-MM-DDT{}",
            text, text);
        return false;
    }
    end_ns = *ns;
    return true;
}

std::string moment_error(const std::string& text) {
    return feed::parse_moment(text)
               ? std::string{}
               : "found " + text + ", expected HH:MM[:SS], with YYYY-MM-DDT in front or Z behind";
}

}  // namespace

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

std::optional<feed::PacketRange> range_of(const RangeOptions& options,
                                          const feed::RecordedPackets& packets) {
    feed::PacketRange range;
    if (!set_end(options.from, packets, range.from_ns) ||
        !set_end(options.to, packets, range.to_ns)) {
        return std::nullopt;
    }
    if (range.from_ns >= range.to_ns) {
        complain("--to {}: expected a moment after --from {}", options.to, options.from);
        return std::nullopt;
    }
    if (!options.lines.empty()) {
        range.lines = *parse_ranges(options.lines);
        std::ranges::sort(range.lines);
    }
    return range;
}

}  // namespace pinstrike::command
