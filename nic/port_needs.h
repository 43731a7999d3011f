// path: cold
//
// The needs of an open port: system calls for polling, and capabilities for a clean close. The
// process gives up all other rights (actors/host/confine).
#pragma once

#include <linux/sockios.h>

#include <cstdint>
#include <string_view>

namespace pinstrike::nic {

/// A permitted system call. If `argument` names an argument, the call is permitted only if that
/// argument's bits under `mask` equal `value`. Several rows of one name are alternatives.
struct SystemCall {
    static constexpr unsigned any_argument = ~0U;
    static constexpr std::uint64_t whole_word = ~std::uint64_t{0};

    std::string_view name;
    unsigned argument = any_argument;
    std::uint64_t mask = 0;
    std::uint64_t value = 0;
};

/// The system call that asks whether a kernel interface is up.
inline constexpr SystemCall ask_link{"ioctl", 1, SystemCall::whole_word, SIOCGIFFLAGS};

/// A Linux capability.
struct Right {
    unsigned capability;
    std::string_view name;
    std::string_view purpose;
};

/// True for kernel drivers that stay bound to their device while DPDK uses it.
[[nodiscard]] constexpr bool shares_device(std::string_view kernel_driver) {
    return kernel_driver == "mlx5_core" || kernel_driver == "mlx4_core" || kernel_driver == "mana";
}

}  // namespace pinstrike::nic
