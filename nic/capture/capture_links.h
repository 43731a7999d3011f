// path: cold
//
// Link types of captures: converts each packet into an Ethernet frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::nic {

/// The known link types, in words.
inline constexpr const char* known_link_types =
    "Ethernet (1), loopback (0, 108), raw IP (12, 14, 101, 228) or Linux cooked (113, 276)";

[[nodiscard]] bool is_known_link_type(std::uint32_t link_type);

/// Converts a packet of a known link type into an Ethernet frame: returns the packet itself, or
/// writes it into `made` with an Ethernet header instead of its own. A packet too short for its own
/// header becomes a bare Ethernet header of type 0, which the parser drops.
[[nodiscard]] std::span<const std::byte> as_ethernet(std::uint32_t link_type,
                                                     std::span<const std::byte> packet,
                                                     std::vector<std::byte>& made);

}  // namespace pinstrike::nic
