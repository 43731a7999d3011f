// path: cold
//
// The command line of EAL, derived from the config; and what can be known to be wrong before EAL is
// asked, which would answer in its own words or end the process.
#pragma once

#include "config/problem.h"
#include "nic/dpdk/host.h"
#include "nic/dpdk/memory_need.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

/// What of the machine decides whether ports can be opened.
struct Machine {
    std::vector<Hugepages> hugepages;
    Capabilities capabilities;
    std::optional<std::size_t> memory_lock_bytes;  ///< nullopt: unlimited
    std::string sys = "/sys";                      ///< where devices are looked up
};

[[nodiscard]] Machine read_machine();

/// What is wrong with the ports on this machine but for memory: devices, drivers, files, rights,
/// EAL arguments that contradict the derived ones.
[[nodiscard]] Problems check_devices(std::span<const PortDemand> ports, const Machine& machine);

/// All that is wrong: the devices, and the hugepages.
[[nodiscard]] Problems check_ports(std::span<const PortDemand> ports, const Machine& machine);

/// argv of rte_eal_init. EAL's main lcore is `main_cpu`. Devices of the kind vdev are not in it:
/// each is created when its port opens, so that a failure names its port.
[[nodiscard]] std::vector<std::string> eal_arguments(std::span<const PortDemand> ports,
                                                     unsigned main_cpu);

}  // namespace pinstrike::nic::dpdk
