// path: cold
#pragma once

#include "actors/telemetry/metrics/families.h"

namespace pinstrike::actors {

/// Adds the statistics of jemalloc; nothing if it is not linked (tests, sanitizers). The module
/// does not depend on it.
void add_allocator_statistics(Families& out);

}  // namespace pinstrike::actors
