// path: cold
//
// Reads and writes IGMP messages: IGMPv1 (RFC 1112), v2 (RFC 2236), v3 (RFC 3376). Frames are
// written into the caller's buffer because poll threads do not allocate.
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

/// A router's query for members of groups.
struct IgmpQuery {
    unsigned version = 3;  ///< the querier's: 1, 2 or 3, distinguished as in RFC 3376, 7.1
    Ipv4 group;            ///< 0: a general query, for all groups
    std::int64_t max_response_ns = 0;
};

/// Parses the IGMP query in an Ethernet frame and verifies its IPv4 and IGMP checksums; nullopt for
/// any other frame, including other hosts' reports. A group-and-source-specific query is treated as
/// a query for the group.
[[nodiscard]] std::optional<IgmpQuery> parse_igmp_query(std::span<const std::byte> frame);

/// The source addresses of reports. The kernel does not know them for a NIC that bypasses it.
struct IgmpHost {
    Ipv4 address;
    Mac mac;
    std::uint16_t vlan = 0;  ///< 0: untagged
};

/// The type of a v3 group record. Records list no sources, because a host that excludes no source
/// joins the group for all sources.
enum class IgmpRecord : std::uint8_t {
    is_joined = 2,  ///< MODE_IS_EXCLUDE {}: the answer to a query
    leave = 3,      ///< CHANGE_TO_INCLUDE_MODE {}
    join = 4,       ///< CHANGE_TO_EXCLUDE_MODE {}
};

/// A message of IGMPv1 or v2 about one group, by its type.
enum class IgmpMessage : std::uint8_t { v1_report = 0x12, v2_report = 0x16, v2_leave = 0x17 };

/// The longest frame written: an Ethernet header with a VLAN tag and an IPv4 packet of 1500 bytes.
inline constexpr std::size_t igmp_frame_bytes_max = 1518;
/// The maximum number of groups in a v3 report, which has at most 1500 bytes: 24 bytes of IPv4
/// header, 8 of IGMP header, 8 per group.
inline constexpr std::size_t igmp_report_groups_max = (1500 - 24 - 8) / 8;

using IgmpFrame = std::span<std::byte, igmp_frame_bytes_max>;

/// Each function writes one frame with TTL 1 and the router alert option and returns its length in
/// bytes. `groups` has at most igmp_report_groups_max groups.
std::size_t write_v3_report(IgmpFrame out, const IgmpHost& host, IgmpRecord record,
                            std::span<const Ipv4> groups);
std::size_t write_message(IgmpFrame out, const IgmpHost& host, IgmpMessage message, Ipv4 group);

}  // namespace pinstrike::nic
