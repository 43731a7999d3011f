// path: cold
//
// The meaning of every name that the program shows: config keys, metrics, counters, reasons, log
// codes, alerts and recorded series.
#pragma once

#include "config/explain.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// All explanations, sorted by kind.
[[nodiscard]] std::vector<Explanation> all_explanations();

/// Alerts and recorded series. Generated from deploy/prometheus/pinstrike.rules.yml and
/// deploy/RUNBOOK.md at each build.
[[nodiscard]] std::vector<Explanation> alert_explanations();

/// The explanations with the name or metric name `asked` ("pinstrike_line_lost_messages", with or
/// without the suffix of a histogram's series). For keys, find_keys applies.
[[nodiscard]] std::vector<Explanation> find_explanations(std::string_view asked);

/// Names similar to `asked`, for a user who mistyped, best first.
[[nodiscard]] std::vector<std::string> near_explanations(std::string_view asked);

}  // namespace pinstrike::actors
