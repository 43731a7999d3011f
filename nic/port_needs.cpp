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
    return property_of(port, &PortKindRow::system_calls);
}

std::vector<Right> rights_kept_by(const PortConfig& port) {
    return property_of(port, &PortKindRow::rights);
}

}  // namespace pinstrike::nic
