// path: cold
//
// The part of a recording that `replay` replays, with the snapshot that it begins with.
#pragma once

#include "actors/command/range_options.h"
#include "actors/snapshot/replay_from.h"
#include "config/problem.h"
#include "nic/capture/capture_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::command {

struct ReplayRange {
    nic::CapturePart part;
    std::optional<actors::ReplayFrom> from;  ///< nullopt: the books begin empty
    std::vector<std::uint16_t> lines;        ///< sorted; none: all
};

/// Finds the range in the recording, and says which snapshot it begins with, or that there is none.
/// Nothing, with the status and a printed reason, if there is no such range.
[[nodiscard]] std::optional<ReplayRange> replay_range(const std::string& folder,
                                                      const RangeOptions& options, Exit& status);

/// The recording behind its last snapshot of the trade date of `begun_before_ns`, with segments
/// that were begun before. Nothing, with the status and a printed reason, if there is none.
[[nodiscard]] std::optional<ReplayRange> range_behind_snapshot(const std::string& folder,
                                                               std::int64_t begun_before_ns,
                                                               Exit& status);

}  // namespace pinstrike::command
