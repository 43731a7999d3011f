// path: cold
#pragma once

#include "nic/port_config.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pinstrike::nic {

/// Packets that the kernel's reverse path filter dropped, on all interfaces of this process's
/// network namespace (TcpExtIPReversePathFilter). The kernel counts them nowhere else. Nothing if
/// it does not tell. `file`: for tests.
[[nodiscard]] std::optional<std::uint64_t> reverse_path_drops(
    const std::string& file = "/proc/self/net/netstat");

/// The same; nothing if none of these ports receives through the kernel's sockets.
[[nodiscard]] std::optional<std::uint64_t> reverse_path_drops(std::span<const PortConfig> ports);

}  // namespace pinstrike::nic
