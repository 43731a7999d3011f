// path: cold
//
// What a port needs of the kernel once it is open: system calls while it polls, and rights to end
// cleanly. All else is taken away (actors/host/confine).
#pragma once

#include "nic/port_config.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::nic {

/// A system call that may be made; of one with an argument, only where its bits under `mask` are
/// `value`. Several of one name are alternatives.
struct SystemCall {
    static constexpr unsigned any_argument = ~0U;

    std::string_view name;
    unsigned argument = any_argument;
    std::uint64_t mask = 0;
    std::uint64_t value = 0;
};

/// Of the thread that polls the port.
[[nodiscard]] std::vector<SystemCall> calls_of(const PortConfig& port);

/// A Linux capability.
struct Right {
    unsigned capability;
    std::string_view name;
    std::string_view purpose;
};

/// Drivers of the kernel that keep their device, and let DPDK at it (mlx5_core).
[[nodiscard]] bool shares_device(std::string_view kernel_driver);

/// Of the thread that opens and closes the port, after it is open. Looks at the host for the driver
/// of a PCI device.
[[nodiscard]] std::vector<Right> rights_kept_by(const PortConfig& port);

}  // namespace pinstrike::nic
