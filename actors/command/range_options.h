// path: cold
//
// The options that select a part of a recording.
#pragma once

#include "actors/command/command.h"
#include "feed/recording/recorded_packets.h"

#include <string>
#include <vector>

namespace pinstrike::command {

struct RangeOptions {
    std::string from;
    std::string to;
    std::string lines;

    [[nodiscard]] bool any() const { return !from.empty() || !to.empty() || !lines.empty(); }
};

/// Adds --from, --to and --lines. `options` must outlive the command.
void add_range(CLI::App& command, RangeOptions& options);

/// Adds --underlyings. `roots` must outlive the command.
void add_underlyings(CLI::App& command, std::vector<std::string>& roots, const std::string& what);

/// Opens a recording. Ends the command if it cannot be read.
[[nodiscard]] feed::RecordedPackets open_recording(const std::string& folder,
                                                   const feed::SegmentSpan& span = {});

/// The range in this recording. Ends the command if a moment is not one of it.
[[nodiscard]] feed::PacketRange range_of(const RangeOptions& options,
                                         const feed::RecordedPackets& packets);

}  // namespace pinstrike::command
