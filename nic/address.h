// path: cold
#pragma once

#include "nic/port_config.h"

#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::nic {

/// "224.0.204.1", without leading zeros.
std::optional<Ipv4> parse_ipv4(std::string_view text);
std::string text_of(Ipv4 address);

/// "162.69.44.0/24"; the bits behind the prefix must be 0. A bare address is a subnet of one.
std::optional<Subnet> parse_subnet(std::string_view text);
std::string text_of(const Subnet& subnet);

/// "224.0.204.1:45001": any address, any port but 0.
std::optional<Group> parse_group(std::string_view text);
std::string text_of(const Group& group);

/// Of one host: below 224.0.0.0, where groups and reserved addresses begin.
constexpr bool is_unicast(Ipv4 address) {
    return (address.value >> 28) < 0xE;
}

/// 224.0.0.0/4.
constexpr bool is_multicast(Ipv4 address) {
    return (address.value >> 28) == 0xE;
}

}  // namespace pinstrike::nic
