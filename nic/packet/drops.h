// path: hot
//
// The reasons for which a frame does not reach a line, one row each. The poller counts
// unknown_group and foreign_source, because it knows the lines and the allowed senders. parse_udp
// finds all other reasons.
#pragma once

#include "config/rows.h"

namespace pinstrike::nic {

#define PINSTRIKE_NIC_DROPS(ROW)                                                                   \
    ROW(frame_truncated, packets, "the frame ends within its Ethernet header")                     \
    ROW(vlan_truncated, packets, "the frame ends within a tag between the addresses and the type") \
    ROW(vlan_depth, packets,                                                                       \
        "more than four tags between the addresses and the type, from VLANs or switches")          \
    ROW(arp, packets, "an ARP frame")                                                              \
    ROW(link_control, packets, "a protocol frame of a switch: LLDP, LACP, spanning tree or pause") \
    ROW(ipv6_control, packets, "an ICMPv6 message: neighbour or multicast listener discovery")     \
    ROW(not_ipv4, packets, "the Ethernet type is not supported")                                   \
    ROW(ip_truncated, packets, "the frame ends before the IPv4 header or the total length does")   \
    ROW(ip_header, packets, "the IPv4 version, header length or total length is impossible")       \
    ROW(ip_checksum, packets, "the checksum of the IPv4 header is wrong")                          \
    ROW(fragment, packets, "a fragment of an IPv4 packet: market data is never fragmented")        \
    ROW(igmp, packets, "a group membership message; the port answers queries, lines ignore them")  \
    ROW(routing, packets, "a message between routers: OSPF, PIM or VRRP")                          \
    ROW(not_udp, packets, "the IPv4 protocol is not supported")                                    \
    ROW(udp_truncated, packets, "the IPv4 packet ends before the UDP header or its length does")   \
    ROW(udp_checksum, packets, "the UDP checksum is wrong")                                        \
    ROW(unknown_group, packets,                                                                    \
        "no line of this poller listens to the destination group and port")                        \
    ROW(foreign_source, packets, "the sender is outside the allowed source subnets")

PINSTRIKE_ROWS(Drop, PINSTRIKE_NIC_DROPS)

/// The result of parse_udp for a frame that it does not drop.
inline constexpr Drop not_dropped = static_cast<Drop>(Drop_count);

/// True for control frames that occur in any network and indicate no fault.
[[nodiscard]] constexpr bool is_network_control(Drop drop) {
    return drop == Drop::arp || drop == Drop::igmp || drop == Drop::link_control ||
           drop == Drop::ipv6_control || drop == Drop::routing;
}

}  // namespace pinstrike::nic
