// path: cold
//
// What every name that the program shows means: keys of a config, metrics, counters, reasons, log
// codes, alerts and what the rules record.
#pragma once

#include "config/explain.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// All of them, kind by kind.
[[nodiscard]] std::vector<Explanation> all_explanations();

/// Alerts and recorded series. Generated from deploy/prometheus/pinstrike.rules.yml and
/// deploy/RUNBOOK.md at each build.
[[nodiscard]] std::vector<Explanation> alert_explanations();

/// Those that a user may mean: of that name or metric ("pinstrike_line_lost_messages", with or
/// without what a histogram's series end in); of keys, find_keys.
[[nodiscard]] std::vector<Explanation> find_explanations(std::string_view asked);

/// Names near to what was asked, for a user who mistyped, best first.
[[nodiscard]] std::vector<std::string> near_explanations(std::string_view asked);

}  // namespace pinstrike::actors
