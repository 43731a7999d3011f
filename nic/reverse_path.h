// path: cold
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pinstrike::nic {

/// Packets that the kernel's reverse path filter dropped, on all interfaces of this process's
/// network namespace (TcpExtIPReversePathFilter). The kernel counts them nowhere else. Nothing if
/// it does not tell. `file`: for tests.
[[nodiscard]] std::optional<std::uint64_t> reverse_path_drops(
    const std::string& file = "/proc/self/net/netstat");

}  // namespace pinstrike::nic
