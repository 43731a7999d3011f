// path: cold
//
// Steers the frames of each group to a receive queue. A single queue receives everything. With
// several queues, flow rules of the NIC steer the groups of each poller to its queue, and frames
// that match no rule go to queue 0.
#pragma once

#include "config/problem.h"
#include "nic/port_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

struct SteeringRule {
    Group group;
    std::uint16_t queue = 0;
    friend bool operator==(const SteeringRule&, const SteeringRule&) = default;
};

/// "224.0.204.1:45001 to queue 1"
[[nodiscard]] std::string text_of(const SteeringRule& rule);

/// Plans the rules for all queues except the first. A group on two queues is a Problem, because a
/// frame can go to only one queue.
[[nodiscard]] std::vector<SteeringRule> plan_steering(
    const PortConfig& port, const std::vector<std::vector<Group>>& groups_by_queue,
    Problems& problems);

/// Plans the rules and installs them; a Problem names the first rule that the driver refused and
/// what to do. If the driver cannot match UDP ports, and no address belongs to two queues, the
/// rules match address and protocol instead. True if all rules are installed.
bool install_steering(std::uint16_t device, const PortConfig& port,
                      const std::vector<std::vector<Group>>& groups_by_queue, Problems& problems);

}  // namespace pinstrike::nic::dpdk
