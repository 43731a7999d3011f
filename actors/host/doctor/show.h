// path: cold
//
// Findings as people, programs and shells take them.
#pragma once

#include "actors/host/doctor/finding.h"

#include <string>

namespace pinstrike::actors::doctor {

/// For people, in 80 columns: what is well in a line each, all else with what is wanted, why, and
/// what mends it; and a sum.
[[nodiscard]] std::string findings_text(const Findings& findings);

/// {"worst": "error", "counts": {...}, "findings": [...]}; ASCII, one document, a line end behind.
[[nodiscard]] std::string findings_json(const Findings& findings);

/// A shell script that mends what is not well, to be read before it is run: a block a finding; what
/// holds until the next boot apart from what is kept. Nothing here runs it.
[[nodiscard]] std::string fix_script(const Findings& findings);

}  // namespace pinstrike::actors::doctor
