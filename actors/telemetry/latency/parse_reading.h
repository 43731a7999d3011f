// path: cold
//
// A reading back from the text that /latency answers with.
#pragma once

#include "actors/telemetry/latency/reading.h"

#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors {

/// Nothing, and `complaint` says why, where the text is not what a pinstrike answers.
[[nodiscard]] std::optional<LatencyReading> parse_reading(std::string_view text,
                                                          std::string& complaint);

}  // namespace pinstrike::actors
