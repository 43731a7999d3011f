// path: cold
#pragma once

#include "config/problem.h"
#include "nic/port.h"
#include "nic/port_config.h"

#include <memory>
#include <vector>

namespace pinstrike::nic::dpdk {

/// Opens one Port for each queue of the device, in the order of `groups_by_queue`. Uses the running
/// EAL, or starts EAL for this port alone. Empty, with problems added, if a step fails.
[[nodiscard]] std::vector<std::unique_ptr<Port>> open_dpdk(
    const PortConfig& config, const std::vector<std::vector<Group>>& groups_by_queue,
    Problems& problems);

}  // namespace pinstrike::nic::dpdk
