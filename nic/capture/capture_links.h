// path: cold
//
// Link types of captures: each packet becomes an Ethernet frame, whatever it was captured from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::nic {

/// What is read, in words.
inline constexpr const char* known_link_types =
    "Ethernet (1), loopback (0, 108), raw IP (12, 14, 101, 228) or Linux cooked (113, 276)";

[[nodiscard]] bool is_known_link_type(std::uint32_t link_type);

/// The packet as an Ethernet frame: itself, or written into `made` with an Ethernet header in place
/// of its own. Of a known link type. What is too short for its own header becomes a bare header of
/// type 0, which the parser then counts as not IPv4.
[[nodiscard]] std::span<const std::byte> as_ethernet(std::uint32_t link_type,
                                                     std::span<const std::byte> packet,
                                                     std::vector<std::byte>& made);

}  // namespace pinstrike::nic
