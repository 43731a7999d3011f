// path: cold
#pragma once

#include "actors/appliance.h"

#include <prometheus/metric_family.h>

#include <vector>

namespace pinstrike::actors {

/// Every figure of an appliance as metric families. Any cold thread, at any time: it reads counters
/// that their threads write, and asks ports and allocator for their own.
[[nodiscard]] std::vector<prometheus::MetricFamily> appliance_metrics(Appliance& appliance);

}  // namespace pinstrike::actors
