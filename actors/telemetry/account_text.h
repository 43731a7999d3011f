// path: cold
//
// The account for people, as tables. They leave out some figures; to_json() has all of them.
#pragma once

#include "actors/telemetry/account.h"

#include <string>

namespace pinstrike::actors {

/// One row for each port, ring and core. One row for each line if there are few; else their sum,
/// and rows of the first lines that lost messages. Ends with a newline; at most 100 columns.
[[nodiscard]] std::string to_text(const Account& account);

}  // namespace pinstrike::actors
