// path: cold
#pragma once

#include "nic/port_config.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pinstrike::nic {

/// Packets that the kernel's reverse path filter dropped, on all interfaces of this process's
/// network namespace (TcpExtIPReversePathFilter); the kernel has no other counter of them. nullopt
/// if the kernel does not report it. Only tests pass another `file`.
[[nodiscard]] std::optional<std::uint64_t> reverse_path_drops(
    const std::string& file = "/proc/self/net/netstat");

/// The same; nullopt if none of these ports receives through kernel sockets.
[[nodiscard]] std::optional<std::uint64_t> reverse_path_drops(std::span<const PortConfig> ports);

}  // namespace pinstrike::nic
