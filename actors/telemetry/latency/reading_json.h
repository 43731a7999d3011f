// path: cold
//
// A reading as JSON: how the admin socket answers the request `histograms`.
#pragma once

#include "actors/telemetry/latency/reading.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace pinstrike::actors {

/// Every figure exactly, with the buckets that are not empty. README.md of telemetry/admin
/// describes the members.
[[nodiscard]] nlohmann::json reading_json(const LatencyReading& reading);

/// The reading in the answer to `histograms`. nullopt, with the reason in `complaint`, if the
/// answer has none, or one that is not as reading_json() makes it.
[[nodiscard]] std::optional<LatencyReading> parse_reading(const nlohmann::json& answer,
                                                          std::string& complaint);

}  // namespace pinstrike::actors
