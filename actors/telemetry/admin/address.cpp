// path: cold
#include "actors/telemetry/admin/address.h"

#include <cstring>
#include <filesystem>

namespace pinstrike::actors::admin {

std::string socket_path(const std::string& instance) {
    const bool is_config = instance.ends_with(".yaml");
    if (!is_config && instance.find('/') != std::string::npos) {
        return instance;
    }
    const std::string name = is_config ? std::filesystem::path(instance).stem().string() : instance;
    return "/run/pinstrike/" + name + "/admin.sock";
}

std::optional<sockaddr_un> socket_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        return std::nullopt;
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

}  // namespace pinstrike::actors::admin
