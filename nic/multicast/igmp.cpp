// path: cold
#include "nic/multicast/igmp.h"

#include "config/check.h"
#include "nic/packet/bytes.h"
#include "nic/packet/datagram.h"
#include "nic/packet/internet_checksum.h"
#include "nic/packet/udp_frame_writer.h"

#include <cstring>

namespace pinstrike::nic {

namespace {

namespace igmp_type {
constexpr std::uint8_t query = 0x11;
constexpr std::uint8_t v3_report = 0x22;
}  // namespace igmp_type

constexpr std::size_t short_message_bytes = 8;  // v1 and v2 messages, header of a v3 report
constexpr std::size_t v3_query_bytes_min = 12;
constexpr std::size_t v3_record_bytes = 8;          // without sources
constexpr std::size_t ip_header_bytes = 24;         // with the router alert option
constexpr std::uint32_t router_alert = 0x94040000;  // RFC 2113
constexpr std::int64_t tenth_ns = 100'000'000;
constexpr std::int64_t v1_response_ns = 100 * tenth_ns;

/// RFC 3376, 4.1.1: tenths of a second; codes from 128 on are floating-point numbers.
std::int64_t v3_response_ns(unsigned code) {
    if (code < 128) {
        return code * tenth_ns;
    }
    const unsigned mantissa = code & 0xF;
    const unsigned exponent = (code >> 4) & 0x7;
    return static_cast<std::int64_t>((mantissa | 0x10) << (exponent + 3)) * tenth_ns;
}

/// Writes the headers and the IGMP checksum; the message must already be at message_at(out, host).
/// Returns the length of the frame.
std::size_t write_headers(IgmpFrame out, const IgmpHost& host, Ipv4 destination,
                          std::size_t message_bytes) {
    std::byte* ip = out.data() + write_ethernet_header(out.data(), multicast_mac(destination),
                                                       host.mac, host.vlan);
    store_be16(ip, 0x46C0);  // six words; precedence "internetwork control" (RFC 3376, 4)
    store_be16(ip + 2, static_cast<std::uint16_t>(ip_header_bytes + message_bytes));
    store_be16(ip + 4, 0);
    store_be16(ip + 6, 0x4000);  // do not fragment
    ip[8] = std::byte{1};
    ip[9] = std::byte{ip_protocol::igmp};
    store_be16(ip + 10, 0);
    store_be32(ip + 12, host.address.value);
    store_be32(ip + 16, destination.value);
    store_be32(ip + 20, router_alert);
    store_checksum(ip + 10, checksum_sum(ip, ip_header_bytes));
    std::byte* message = ip + ip_header_bytes;
    store_be16(message + 2, 0);
    store_checksum(message + 2, checksum_sum(message, message_bytes));
    return static_cast<std::size_t>(message + message_bytes - out.data());
}

std::byte* message_at(IgmpFrame out, const IgmpHost& host) {
    return out.data() + ethernet_header_bytes + (host.vlan != 0 ? vlan_tag_bytes : 0) +
           ip_header_bytes;
}

}  // namespace

std::optional<IgmpQuery> parse_igmp_query(std::span<const std::byte> frame) {
    Ipv4Packet ip;
    if (walk_ipv4(frame, ip) != not_dropped || ip.protocol() != ip_protocol::igmp ||
        (load_be16(ip.bytes.data() + 6) & 0x3FFF) != 0 ||
        checksum_fold(checksum_sum(ip.bytes.data(), ip.header_bytes)) != 0xFFFF) {
        return std::nullopt;
    }
    const std::span<const std::byte> message = ip.content();
    if (message.size() < short_message_bytes ||
        std::to_integer<std::uint8_t>(message[0]) != igmp_type::query ||
        checksum_fold(checksum_sum(message.data(), message.size())) != 0xFFFF) {
        return std::nullopt;
    }
    const unsigned code = std::to_integer<unsigned>(message[1]);
    IgmpQuery query;
    query.group = Ipv4{load_be32(message.data() + 4)};
    if (message.size() == short_message_bytes) {
        query.version = code == 0 ? 1 : 2;
        query.max_response_ns = code == 0 ? v1_response_ns : code * tenth_ns;
        return query;
    }
    if (message.size() < v3_query_bytes_min) {
        return std::nullopt;  // RFC 3376, 7.1: a query has 8, or at least 12 bytes
    }
    query.max_response_ns = v3_response_ns(code);
    return query;
}

std::size_t write_v3_report(IgmpFrame out, const IgmpHost& host, IgmpRecord record,
                            std::span<const Ipv4> groups) {
    PINSTRIKE_CHECK(groups.size() <= igmp_report_groups_max);
    std::byte* message = message_at(out, host);
    const std::size_t message_bytes = short_message_bytes + groups.size() * v3_record_bytes;
    std::memset(message, 0, message_bytes);
    message[0] = std::byte{igmp_type::v3_report};
    store_be16(message + 6, static_cast<std::uint16_t>(groups.size()));
    std::byte* at = message + short_message_bytes;
    for (const Ipv4 group : groups) {
        at[0] = static_cast<std::byte>(record);
        store_be32(at + 4, group.value);
        at += v3_record_bytes;
    }
    return write_headers(out, host, all_v3_routers, message_bytes);
}

std::size_t write_message(IgmpFrame out, const IgmpHost& host, IgmpMessage message, Ipv4 group) {
    std::byte* const at = message_at(out, host);
    std::memset(at, 0, short_message_bytes);
    at[0] = static_cast<std::byte>(message);
    store_be32(at + 4, group.value);
    return write_headers(out, host, message == IgmpMessage::v2_leave ? all_routers : group,
                         short_message_bytes);
}

}  // namespace pinstrike::nic
