// path: cold
//
// Derives the command line of EAL from the config. Checks ports and host before EAL starts, because
// EAL reports errors in its own terms or ends the process.
#pragma once

#include "config/problem.h"
#include "nic/dpdk/host.h"
#include "nic/dpdk/memory_need.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

/// The properties of the host on which opening the ports depends.
struct PortResources {
    std::vector<Hugepages> hugepages;
    Capabilities capabilities;
    std::optional<std::size_t> memory_lock_bytes;  ///< nullopt: unlimited
    std::string sys = "/sys";                      ///< root of the sysfs with the devices
};

[[nodiscard]] PortResources read_port_resources();

/// The problems of the ports on this host, apart from memory: devices, drivers, files, rights,
/// and EAL arguments that contradict the derived ones.
[[nodiscard]] Problems check_devices(std::span<const PortDemand> ports,
                                     const PortResources& resources);

/// All problems of the ports: those that check_devices() finds, and those of hugepages.
[[nodiscard]] Problems check_ports(std::span<const PortDemand> ports,
                                   const PortResources& resources);

/// The argv of rte_eal_init. EAL's main lcore runs on `main_cpu`. Virtual devices are not included,
/// because each is created when its port opens, so that an error names its port.
[[nodiscard]] std::vector<std::string> eal_arguments(std::span<const PortDemand> ports,
                                                     unsigned main_cpu);

}  // namespace pinstrike::nic::dpdk
