// path: cold
//
// The account as a person reads it: tables, where to_json() has every figure.
#pragma once

#include "actors/telemetry/account.h"

#include <string>

namespace pinstrike::actors {

/// A row a port, ring and core. A row a line where lines are few; else their sum, and rows of the
/// first that lost something. Ends with a newline; at most 100 columns.
[[nodiscard]] std::string to_text(const Account& account);

}  // namespace pinstrike::actors
