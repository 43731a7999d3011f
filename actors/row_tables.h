// path: cold
//
// Every table of counters and reasons there is, for `explain`.
#pragma once

#include "config/explain.h"

#include <vector>

namespace pinstrike::actors {

[[nodiscard]] std::vector<RowTable> row_tables();

}  // namespace pinstrike::actors
