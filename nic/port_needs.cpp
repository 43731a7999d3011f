// path: cold
#include "nic/port_needs.h"

#include "nic/port_kind.h"

#include <algorithm>
#include <array>

namespace pinstrike::nic {

bool shares_device(std::string_view kernel_driver) {
    constexpr std::array<std::string_view, 3> drivers{"mlx5_core", "mlx4_core", "mana"};
    return std::find(drivers.begin(), drivers.end(), kernel_driver) != drivers.end();
}

std::vector<SystemCall> calls_of(const PortConfig& port) {
    const PortKindRow& kind = row_of(port.kind);
    return kind.system_calls == nullptr ? std::vector<SystemCall>{} : kind.system_calls(port);
}

std::vector<Right> rights_kept_by(const PortConfig& port) {
    const PortKindRow& kind = row_of(port.kind);
    return kind.rights == nullptr ? std::vector<Right>{} : kind.rights(port);
}

}  // namespace pinstrike::nic
