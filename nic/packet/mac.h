// path: cold
#pragma once

#include "nic/packet/address.h"

#include <array>
#include <cstdint>

namespace pinstrike::nic {

/// An Ethernet address, in wire order.
struct Mac {
    std::array<std::uint8_t, 6> octets{};
    friend auto operator<=>(const Mac&, const Mac&) = default;
};

/// The Ethernet address of an IPv4 multicast group: 01:00:5E and the low 23 bits (RFC 1112, 6.4).
/// Thirty-two groups share each address.
[[nodiscard]] constexpr Mac multicast_mac(Ipv4 group) noexcept {
    return Mac{{0x01, 0x00, 0x5E, static_cast<std::uint8_t>((group.value >> 16) & 0x7F),
                static_cast<std::uint8_t>(group.value >> 8),
                static_cast<std::uint8_t>(group.value)}};
}

}  // namespace pinstrike::nic
