// path: cold
//
// The messages of group membership, byte by byte: IGMPv1 (RFC 1112), v2 (RFC 2236), v3 (RFC 3376).
// Frames are written into the caller's buffer: a poll thread allocates nothing.
#pragma once

#include "nic/packet/address.h"
#include "nic/packet/mac.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pinstrike::nic {

inline constexpr Ipv4 all_hosts{0xE0000001};       // 224.0.0.1: general queries
inline constexpr Ipv4 all_routers{0xE0000002};     // 224.0.0.2: v2 leaves
inline constexpr Ipv4 all_v3_routers{0xE0000016};  // 224.0.0.22: v3 reports

/// A router's question who still listens.
struct IgmpQuery {
    unsigned version = 3;  ///< of the querier: 1, 2 or 3 (told apart as RFC 3376, 7.1)
    Ipv4 group;            ///< 0: a general query, of all groups
    std::int64_t max_response_ns = 0;
};

/// The query in an Ethernet frame, whose IPv4 and IGMP checksums are verified; nullopt for anything
/// else, also for other hosts' reports. A query for single sources counts as one for its group.
[[nodiscard]] std::optional<IgmpQuery> parse_igmp_query(std::span<const std::byte> frame);

/// Who reports: a bypassed NIC has no kernel that would know.
struct IgmpHost {
    Ipv4 address;
    Mac mac;
    std::uint16_t vlan = 0;  ///< 0 untagged
};

/// What a v3 record says of a group. Sources are never listed: "exclude nobody" is "join".
enum class IgmpRecord : std::uint8_t {
    is_joined = 2,  ///< MODE_IS_EXCLUDE {}: the answer to a query
    leave = 3,      ///< CHANGE_TO_INCLUDE_MODE {}
    join = 4,       ///< CHANGE_TO_EXCLUDE_MODE {}
};

/// The longest frame that is written: Ethernet with a VLAN tag, and an IPv4 packet of 1500 bytes.
inline constexpr std::size_t igmp_frame_bytes_max = 1518;
/// So many groups fit a v3 report of 1500 bytes: 24 of IPv4 header, 8 of IGMP, 8 a group.
inline constexpr std::size_t igmp_report_groups_max = (1500 - 24 - 8) / 8;

using IgmpFrame = std::span<std::byte, igmp_frame_bytes_max>;

/// Each writes one frame with TTL 1 and the router alert option, and says how many bytes it has.
/// At most igmp_report_groups_max groups.
std::size_t write_v3_report(IgmpFrame out, const IgmpHost& host, IgmpRecord record,
                            std::span<const Ipv4> groups);
std::size_t write_v2_report(IgmpFrame out, const IgmpHost& host, Ipv4 group);
std::size_t write_v1_report(IgmpFrame out, const IgmpHost& host, Ipv4 group);
std::size_t write_v2_leave(IgmpFrame out, const IgmpHost& host, Ipv4 group);

}  // namespace pinstrike::nic
