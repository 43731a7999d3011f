// path: cold
//
// Converts packets of all known link types of captures into Ethernet frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::nic {

/// The known link types, for messages.
inline constexpr const char* known_link_types =
    "Ethernet (1), loopback (0, 108), raw IP (12, 14, 101, 228) or Linux cooked (113, 276)";

[[nodiscard]] bool is_known_link_type(std::uint32_t link_type);

/// Converts a packet of a known link type into an Ethernet frame. Returns an Ethernet packet as it
/// is; writes any other packet into `made`, with an Ethernet header instead of its own. A packet
/// too short for its own header becomes a bare Ethernet header of type 0xFFFF, which the parser
/// drops.
[[nodiscard]] std::span<const std::byte> as_ethernet(std::uint32_t link_type,
                                                     std::span<const std::byte> packet,
                                                     std::vector<std::byte>& made);

}  // namespace pinstrike::nic
