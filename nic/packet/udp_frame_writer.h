// path: hot
//
// Writes the headers of a multicast UDP frame, for generators, for tests, and for ports that
// receive payloads without headers. It is the inverse of datagram.h.
#pragma once

#include "nic/packet/address.h"
#include "nic/packet/datagram.h"
#include "nic/packet/mac.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pinstrike::nic {

/// Addresses and IP options of the frames to write.
struct UdpRoute {
    Ipv4 source;
    std::uint16_t source_port = 0;
    Group destination;
    Mac source_mac{{0x02, 0, 0, 0, 0, 1}};
    std::uint16_t vlan = 0;  ///< 802.1Q identifier; 0: untagged
    std::uint8_t time_to_live = 16;
    std::uint8_t type_of_service = 0;
    bool dont_fragment = true;
};

enum class UdpChecksumSent : std::uint8_t { none, computed };

/// The length of the headers in front of the payload: 42 bytes, or 46 with a VLAN tag.
[[nodiscard]] constexpr std::size_t udp_headers_bytes(std::uint16_t vlan) noexcept {
    return ethernet_header_bytes + (vlan != 0 ? vlan_tag_bytes : 0) + ipv4_header_bytes_min +
           udp_header_bytes;
}

/// Writes the Ethernet header of an IPv4 frame, including a VLAN tag if `vlan` is not 0. Returns
/// the length of the header.
inline std::size_t write_ethernet_header(std::byte* out, const Mac& destination, const Mac& source,
                                         std::uint16_t vlan) noexcept {
    std::memcpy(out, destination.octets.data(), 6);
    std::memcpy(out + 6, source.octets.data(), 6);
    std::size_t at = 12;
    if (vlan != 0) {
        store_be16(out + at, ethertype::vlan);
        store_be16(out + at + 2, vlan & 0xFFF);
        at += vlan_tag_bytes;
    }
    store_be16(out + at, ethertype::ipv4);
    return at + 2;
}

/// Writes all headers of a datagram. The payload must already be at out +
/// udp_headers_bytes(route.vlan), and the IPv4 packet has at most 65535 bytes.
inline void write_udp_headers(std::byte* out, const UdpRoute& route, std::size_t payload_bytes,
                              UdpChecksumSent checksum) noexcept {
    std::byte* ip = out + write_ethernet_header(out, multicast_mac(route.destination.address),
                                                route.source_mac, route.vlan);
    const auto udp_bytes = static_cast<std::uint16_t>(udp_header_bytes + payload_bytes);
    store_be16(ip, static_cast<std::uint16_t>(0x4500 | route.type_of_service));
    store_be16(ip + 2, static_cast<std::uint16_t>(ipv4_header_bytes_min + udp_bytes));
    store_be16(ip + 4, 0);
    store_be16(ip + 6, route.dont_fragment ? 0x4000 : 0);
    ip[8] = std::byte{route.time_to_live};
    ip[9] = std::byte{ip_protocol::udp};
    store_be16(ip + 10, 0);
    store_be32(ip + 12, route.source.value);
    store_be32(ip + 16, route.destination.address.value);
    store_checksum(ip + 10, checksum_sum(ip, ipv4_header_bytes_min));
    std::byte* udp = ip + ipv4_header_bytes_min;
    store_be16(udp, route.source_port);
    store_be16(udp + 2, route.destination.port);
    store_be16(udp + 4, udp_bytes);
    store_be16(udp + 6, 0);
    if (checksum == UdpChecksumSent::computed) {
        store_checksum(udp + 6, udp_pseudo_sum(ip + 12, udp_bytes) + checksum_sum(udp, udp_bytes));
        if (load_be16(udp + 6) == 0) {
            store_be16(udp + 6, 0xFFFF);  // zero would mean "no checksum" (RFC 768)
        }
    }
}

}  // namespace pinstrike::nic
