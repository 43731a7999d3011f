// path: cold
//
// Parses a reading from the text that /latency returns.
#pragma once

#include "actors/telemetry/latency/reading.h"

#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors {

/// nullopt, with the reason in `complaint`, if the text is not an answer of pinstrike.
[[nodiscard]] std::optional<LatencyReading> parse_reading(std::string_view text,
                                                          std::string& complaint);

}  // namespace pinstrike::actors
