// path: cold
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

namespace pinstrike::actors::admin {

/// The admin socket of the service instance with this name: /run/pinstrike/NAME/admin.sock. A text
/// that ends in ".yaml" is the instance's config: "/etc/pinstrike/NAME.yaml". Any other text that
/// contains '/' is returned as a path.
[[nodiscard]] std::string socket_path(const std::string& instance);

/// nullopt if the path is empty or too long for a socket (107 bytes).
[[nodiscard]] std::optional<sockaddr_un> socket_address(const std::string& path);

/// Converts to the type that the socket API takes for all address families.
[[nodiscard]] inline const sockaddr* as_any(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);  // tidy: the socket API
}

}  // namespace pinstrike::actors::admin
