// path: cold
//
// Which queue a group's frames come to. One queue takes everything; of several, each poller's gets
// its groups by a flow rule of the NIC, and what no rule names comes to queue 0.
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

/// The rules for all queues but the first. A group on two queues is a Problem: a frame is received
/// once.
[[nodiscard]] std::vector<SteeringRule> plan_steering(
    const PortConfig& port, const std::vector<std::vector<Group>>& groups_by_queue,
    Problems& problems);

/// Plans the rules and asks the driver for them; the first one refused is a Problem that says which
/// and what to do. A driver that cannot match UDP ports gets rules by address and protocol, if that
/// tells the queues apart. True if all stand.
bool install_steering(std::uint16_t device, const PortConfig& port,
                      const std::vector<std::vector<Group>>& groups_by_queue, Problems& problems);

}  // namespace pinstrike::nic::dpdk
