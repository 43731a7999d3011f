// path: cold
//
// The options that select a part of a recording.
#pragma once

#include "actors/command/command.h"
#include "feed/recording/recorded_packets.h"

#include <optional>
#include <string>

namespace pinstrike::command {

struct RangeOptions {
    std::string from;
    std::string to;
    std::string lines;

    [[nodiscard]] bool any() const { return !from.empty() || !to.empty() || !lines.empty(); }
};

/// Adds --from, --to and --lines. `options` must outlive the command.
void add_range(CLI::App& command, RangeOptions& options);

/// The range in this recording. Nothing, with a printed reason, if a moment is not one of it.
[[nodiscard]] std::optional<feed::PacketRange> range_of(const RangeOptions& options,
                                                        const feed::RecordedPackets& packets);

}  // namespace pinstrike::command
