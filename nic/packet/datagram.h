// path: hot
//
// Finds the UDP payload in an Ethernet frame. Each length field is checked against the bytes of the
// frame before the bytes that it covers are read. Frames that are not UDP over IPv4 are dropped
// with the reason. Padding after the IPv4 packet is ignored, because Ethernet pads frames to 60
// bytes.
#pragma once

#include "nic/packet/address.h"
#include "nic/packet/bytes.h"
#include "nic/packet/drops.h"
#include "nic/packet/internet_checksum.h"
#include "nic/packet/packet.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pinstrike::nic {

/// The largest IPv4 packet of a jumbo frame, as switches of market data networks have it.
inline constexpr std::size_t jumbo_packet_bytes = 9216;

inline constexpr std::size_t ethernet_header_bytes = 14;
inline constexpr std::size_t vlan_tag_bytes = 4;
inline constexpr std::size_t vlan_tags_max = 4;
inline constexpr std::size_t tag_bytes_max = 14;
inline constexpr std::size_t ipv4_header_bytes_min = 20;
inline constexpr std::size_t udp_header_bytes = 8;

namespace ethertype {
inline constexpr std::uint16_t ipv4 = 0x0800;
inline constexpr std::uint16_t arp = 0x0806;
inline constexpr std::uint16_t vlan = 0x8100;          // 802.1Q
inline constexpr std::uint16_t service_vlan = 0x88A8;  // 802.1ad, the outer tag of QinQ
// The outer tags of switches before 802.1ad.
inline constexpr std::uint16_t old_qinq = 0x9100;
inline constexpr std::uint16_t old_qinq_2 = 0x9200;
inline constexpr std::uint16_t old_qinq_3 = 0x9300;
inline constexpr std::uint16_t vn_tag = 0x8926;  // VN-Tag: adapters whose ports belong to a switch
inline constexpr std::uint16_t extender_port = 0x893F;   // 802.1BR, E-TAG
inline constexpr std::uint16_t cisco_metadata = 0x8909;  // security group of the sender
inline constexpr std::uint16_t arista_timestamp = 0xD28B;
inline constexpr std::uint16_t least = 0x0600;  // smaller values are lengths, as in spanning tree
inline constexpr std::uint16_t ipv6 = 0x86DD;
inline constexpr std::uint16_t pause = 0x8808;
inline constexpr std::uint16_t slow_protocols = 0x8809;  // LACP
inline constexpr std::uint16_t lldp = 0x88CC;
}  // namespace ethertype

namespace ip_protocol {
inline constexpr std::uint8_t igmp = 2;
inline constexpr std::uint8_t udp = 17;
inline constexpr std::uint8_t icmp_v6 = 58;
inline constexpr std::uint8_t ospf = 89;
inline constexpr std::uint8_t pim = 103;
inline constexpr std::uint8_t vrrp = 112;
}  // namespace ip_protocol

/// A UDP datagram inside a Packet, valid as long as the packet's bytes. Addresses and ports in host
/// order.
struct Datagram {
    std::uint32_t source_ip = 0;
    std::uint32_t group_ip = 0;  ///< destination address
    std::uint16_t source_port = 0;
    std::uint16_t port = 0;  ///< destination port
    std::span<const std::byte> payload;
};

/// An IPv4 packet inside a frame; the size of `bytes` is the packet's total length.
struct Ipv4Packet {
    std::span<const std::byte> bytes;
    std::size_t header_bytes = 0;

    [[nodiscard]] std::uint8_t protocol() const { return std::to_integer<std::uint8_t>(bytes[9]); }

    [[nodiscard]] std::span<const std::byte> content() const { return bytes.subspan(header_bytes); }
};

/// The length of a switch's timestamp tag including its type. `behind` are the bytes after the
/// type: a subtype, a version whose second-to-last hexadecimal digit gives the timestamp's length,
/// and the timestamp. 0 if the tag is unknown.
[[nodiscard]] inline std::size_t timestamp_tag_bytes(std::span<const std::byte> behind) noexcept {
    constexpr std::size_t head_bytes = 6;
    constexpr std::uint16_t timestamp_subtype = 1;
    if (behind.size() < head_bytes - 2) {
        return tag_bytes_max;  // does not fit the frame, so the caller reports vlan_truncated
    }
    if (load_be16(behind.data()) != timestamp_subtype) {
        return 0;
    }
    switch (load_be16(behind.data() + 2) >> 4 & 0xF) {
        case 1:
            return head_bytes + 8;
        case 2:
            return head_bytes + 6;
        default:
            return 0;
    }
}

/// The length of a tag that begins with this type; `behind` are the bytes after the type. 0 if no
/// tag begins with this type.
[[nodiscard]] inline std::size_t tag_bytes(std::uint16_t type,
                                           std::span<const std::byte> behind) noexcept {
    switch (type) {
        case ethertype::vlan:
        case ethertype::service_vlan:
        case ethertype::old_qinq:
        case ethertype::old_qinq_2:
        case ethertype::old_qinq_3:
            return vlan_tag_bytes;
        case ethertype::vn_tag:
            return 6;
        case ethertype::extender_port:
        case ethertype::cisco_metadata:
            return 8;
        case ethertype::arista_timestamp:
            return timestamp_tag_bytes(behind);
        default:
            return 0;
    }
}

/// Skips the tags of an Ethernet frame; `type` and `offset` are then the Ethernet type and the
/// start of the content.
[[nodiscard]] inline Drop walk_ethernet(std::span<const std::byte> frame, std::uint16_t& type,
                                        std::size_t& offset) noexcept {
    if (frame.size() < ethernet_header_bytes) {
        return Drop::frame_truncated;
    }
    type = load_be16(frame.data() + 12);
    offset = ethernet_header_bytes;
    for (std::size_t tags = 0; type != ethertype::ipv4; ++tags) {
        const std::size_t bytes = tag_bytes(type, frame.subspan(offset));
        if (bytes == 0) {
            return not_dropped;
        }
        if (tags == vlan_tags_max) {
            return Drop::vlan_depth;
        }
        if (frame.size() < offset + bytes) {
            return Drop::vlan_truncated;
        }
        offset += bytes;
        type = load_be16(frame.data() + offset - 2);
    }
    return not_dropped;
}

/// True if an IPv6 packet carries an ICMPv6 message, directly or after hop-by-hop options (RFC
/// 8200).
[[nodiscard]] inline bool is_icmp_v6(std::span<const std::byte> packet) noexcept {
    constexpr std::size_t next_header_at = 6;
    constexpr std::size_t header_bytes = 40;
    if (packet.size() <= header_bytes) {
        return false;
    }
    const auto next = std::to_integer<std::uint8_t>(packet[next_header_at]);
    const auto behind_options = std::to_integer<std::uint8_t>(packet[header_bytes]);
    return next == ip_protocol::icmp_v6 || (next == 0 && behind_options == ip_protocol::icmp_v6);
}

/// The reason to drop a frame that is not IPv4.
[[nodiscard, gnu::noinline]] inline Drop drop_of_other_type(
    std::uint16_t type, std::span<const std::byte> content) noexcept {
    switch (type) {
        case ethertype::arp:
            return Drop::arp;
        case ethertype::pause:
        case ethertype::slow_protocols:
        case ethertype::lldp:
            return Drop::link_control;
        case ethertype::ipv6:
            return is_icmp_v6(content) ? Drop::ipv6_control : Drop::not_ipv4;
        default:
            return type < ethertype::least ? Drop::link_control : Drop::not_ipv4;
    }
}

/// Finds the IPv4 packet of a frame and checks its header's lengths, but not its checksum.
[[nodiscard]] inline Drop walk_ipv4(std::span<const std::byte> frame, Ipv4Packet& out) noexcept {
    std::uint16_t type = 0;
    std::size_t offset = 0;
    if (const Drop drop = walk_ethernet(frame, type, offset); drop != not_dropped) [[unlikely]] {
        return drop;
    }
    if (type != ethertype::ipv4) [[unlikely]] {
        return drop_of_other_type(type, frame.subspan(offset));
    }
    const std::span<const std::byte> rest = frame.subspan(offset);
    if (rest.size() < ipv4_header_bytes_min) [[unlikely]] {
        return Drop::ip_truncated;
    }
    const unsigned version_and_length = std::to_integer<unsigned>(rest[0]);
    out.header_bytes = (version_and_length & 0xFU) * 4;
    const std::size_t total_bytes = load_be16(rest.data() + 2);
    if ((version_and_length >> 4) != 4 || out.header_bytes < ipv4_header_bytes_min ||
        total_bytes < out.header_bytes) [[unlikely]] {
        return Drop::ip_header;
    }
    if (total_bytes > rest.size()) [[unlikely]] {
        return Drop::ip_truncated;
    }
    out.bytes = rest.first(total_bytes);
    return not_dropped;
}

/// True if the hardware or software found the checksum wrong. With `off` no checksum is verified;
/// with `software` the hardware's verdict is ignored; with `offload` the sum is computed only if
/// the hardware gave no verdict.
template <class Sum>
[[nodiscard, gnu::always_inline]] inline bool checksum_is_wrong(Checksum verdict,
                                                                ChecksumCheck check,
                                                                Sum&& sum) noexcept {
    if (check == ChecksumCheck::off) {
        return false;
    }
    if (verdict != Checksum::unknown && check == ChecksumCheck::offload) {
        return verdict == Checksum::bad;
    }
    return !checksum_is_whole(sum());
}

/// True for the common kind of frame: untagged, an IPv4 header of 20 bytes, not a fragment, UDP.
/// One vector comparison of 16 bytes, from the Ethernet type on, tests all of these.
[[nodiscard]] inline bool has_common_headers(std::span<const std::byte> frame) noexcept {
    constexpr std::size_t least_bytes =
        ethernet_header_bytes + ipv4_header_bytes_min + udp_header_bytes;
    if (frame.size() < least_bytes) [[unlikely]] {
        return false;
    }
    // The mask selects type, version and length, fragment flag and offset, and protocol.
    const __m128i mask = _mm_setr_epi8(-1, -1, -1, 0, 0, 0, 0, 0, 0x3F, -1, 0, -1, 0, 0, 0, 0);
    const __m128i common = _mm_setr_epi8(ethertype::ipv4 >> 8, ethertype::ipv4 & 0xFF, 0x45, 0, 0,
                                         0, 0, 0, 0, 0, 0, ip_protocol::udp, 0, 0, 0, 0);
    __m128i bytes;
    std::memcpy(&bytes, frame.data() + 12, sizeof bytes);
    const __m128i difference = _mm_xor_si128(_mm_and_si128(bytes, mask), common);
    return _mm_testz_si128(difference, difference) != 0;
}

/// walk_ipv4() for a frame that has the common headers.
[[nodiscard]] inline Drop walk_common_ipv4(std::span<const std::byte> frame,
                                           Ipv4Packet& out) noexcept {
    const std::span<const std::byte> rest = frame.subspan(ethernet_header_bytes);
    const std::size_t total_bytes = load_be16(rest.data() + 2);
    if (total_bytes < ipv4_header_bytes_min) [[unlikely]] {
        return Drop::ip_header;
    }
    if (total_bytes > rest.size()) [[unlikely]] {
        return Drop::ip_truncated;
    }
    out = {rest.first(total_bytes), ipv4_header_bytes_min};
    return not_dropped;
}

/// The reason to drop an IPv4 packet that carries no complete UDP datagram; not_dropped if it may
/// carry one.
[[nodiscard]] inline Drop drop_of_other_protocol(const Ipv4Packet& ip) noexcept {
    constexpr unsigned more_fragments_and_offset = 0x3FFF;
    if ((load_be16(ip.bytes.data() + 6) & more_fragments_and_offset) != 0) {
        return Drop::fragment;
    }
    if (ip.protocol() != ip_protocol::udp) {
        switch (ip.protocol()) {
            case ip_protocol::igmp:
                return Drop::igmp;
            case ip_protocol::ospf:
            case ip_protocol::pim:
            case ip_protocol::vrrp:
                return Drop::routing;
            default:
                return Drop::not_udp;
        }
    }
    return not_dropped;
}

/// True if the checksum of the IPv4 header is wrong.
[[nodiscard, gnu::always_inline]] inline bool ip_checksum_is_wrong(const Packet& packet,
                                                                   ChecksumCheck check,
                                                                   const Ipv4Packet& ip) noexcept {
    return checksum_is_wrong(packet.ip_checksum, check,
                             [&] { return ipv4_header_sum(ip.bytes.data(), ip.header_bytes); });
}

/// Reads the datagram of an IPv4 packet that carries UDP and is not a fragment, and verifies its
/// checksum.
[[nodiscard, gnu::always_inline]] inline Drop read_udp(const Packet& packet, ChecksumCheck check,
                                                       const Ipv4Packet& ip,
                                                       Datagram& out) noexcept {
    const std::byte* header = ip.bytes.data();
    const std::span<const std::byte> udp = ip.content();
    if (udp.size() < udp_header_bytes) [[unlikely]] {
        return Drop::udp_truncated;
    }
    const std::uint16_t udp_bytes = load_be16(udp.data() + 4);
    if (udp_bytes < udp_header_bytes || udp_bytes > udp.size()) [[unlikely]] {
        return Drop::udp_truncated;
    }
    const bool sent_without_checksum = load_be16(udp.data() + 6) == 0;
    const auto udp_sum = [&]() __attribute__((always_inline)) {
        return udp_pseudo_sum(header + 12, udp_bytes) + checksum_sum(udp.data(), udp_bytes);
    };
    if (!sent_without_checksum && checksum_is_wrong(packet.udp_checksum, check, udp_sum))
        [[unlikely]] {
        return Drop::udp_checksum;
    }
    out.source_ip = load_be32(header + 12);
    out.group_ip = load_be32(header + 16);
    out.source_port = load_be16(udp.data());
    out.port = load_be16(udp.data() + 2);
    out.payload = udp.subspan(udp_header_bytes, udp_bytes - udp_header_bytes);
    return not_dropped;
}

/// parse_udp() for frames without the common headers. Out of line to keep the inlined fast path
/// small.
[[nodiscard, gnu::noinline]] inline Drop parse_unusual_udp(const Packet& packet,
                                                           ChecksumCheck check,
                                                           Datagram& out) noexcept {
    Ipv4Packet ip;
    if (const Drop drop = walk_ipv4(packet.frame(), ip); drop != not_dropped) {
        return drop;
    }
    if (ip_checksum_is_wrong(packet, check, ip)) {
        return Drop::ip_checksum;
    }
    if (const Drop drop = drop_of_other_protocol(ip); drop != not_dropped) {
        return drop;
    }
    return read_udp(packet, check, ip, out);
}

/// Finds the UDP datagram in a frame, or returns the reason to drop the frame; `out` is then
/// unspecified. `check` applies to the checksums of UDP and of the IPv4 header. A UDP checksum of
/// zero means that the sender computed none (RFC 768), and is accepted.
[[nodiscard, gnu::always_inline]] inline Drop parse_udp(const Packet& packet, ChecksumCheck check,
                                                        Datagram& out) noexcept {
    if (!has_common_headers(packet.frame())) [[unlikely]] {
        Datagram unusual;  // a separate object, so that `out` can stay in registers
        const Drop drop = parse_unusual_udp(packet, check, unusual);
        out = unusual;
        return drop;
    }
    Ipv4Packet ip;
    if (const Drop drop = walk_common_ipv4(packet.frame(), ip); drop != not_dropped) [[unlikely]] {
        return drop;
    }
    if (ip_checksum_is_wrong(packet, check, ip)) [[unlikely]] {
        return Drop::ip_checksum;
    }
    return read_udp(packet, check, ip, out);
}

}  // namespace pinstrike::nic
