// path: cold
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

namespace pinstrike::actors::admin {

/// Where the instance of this name listens as a service: /run/pinstrike/NAME/admin.sock. What has a
/// '/' is a path already.
[[nodiscard]] std::string socket_path(const std::string& instance);

/// None: the path is too long for a socket (107 bytes) or empty.
[[nodiscard]] std::optional<sockaddr_un> socket_address(const std::string& path);

/// For the socket API, which takes any family.
[[nodiscard]] inline const sockaddr* as_any(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);  // tidy: the socket API
}

}  // namespace pinstrike::actors::admin
