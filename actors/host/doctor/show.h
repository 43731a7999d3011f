// path: cold
//
// Findings as text for people, JSON for programs, and shell scripts.
#pragma once

#include "actors/host/doctor/finding.h"

#include <string>

namespace pinstrike::actors::doctor {

/// For people, in 80 columns: one line for each good finding. All others have what is wanted, why,
/// and how to fix it. A summary comes last.
[[nodiscard]] std::string findings_text(const Findings& findings);

/// {"worst": "error", "counts": {...}, "findings": [...]}; ASCII, one document, with a line end.
[[nodiscard]] std::string findings_json(const Findings& findings);

/// A shell script that fixes the findings, to be read before it is run. It has one block for each
/// finding, and separates commands that last until the next boot from permanent ones. This program
/// does not run it.
[[nodiscard]] std::string fix_script(const Findings& findings);

}  // namespace pinstrike::actors::doctor
