// path: cold
#include "nic/capture/tunnel.h"

#include "nic/capture/cut_frame.h"
#include "nic/packet/bytes.h"
#include "nic/packet/datagram.h"

#include <cstdint>
#include <optional>

namespace pinstrike::nic {

namespace {

constexpr std::uint8_t gre_protocol = 47;

// Flags and types of RFC 2784 and RFC 2890; ERSPAN: draft-foschiano-erspan-03.
constexpr unsigned has_checksum = 0x8000;
constexpr unsigned has_routing = 0x4000;  // RFC 1701; variable length, not supported
constexpr unsigned has_key = 0x2000;
constexpr unsigned has_sequence = 0x1000;
constexpr unsigned version_bits = 0x0007;
constexpr std::uint16_t carries_ethernet = 0x6558;
constexpr std::uint16_t carries_erspan = 0x88BE;  // type I without a sequence number, else II
constexpr std::uint16_t carries_erspan_3 = 0x22EB;
constexpr std::size_t gre_bytes_min = 4;
constexpr std::size_t erspan_2_bytes = 8;
constexpr std::size_t erspan_3_bytes = 12;
constexpr std::size_t erspan_3_subheader_bytes = 8;

struct Carried {
    std::span<const std::byte> bytes;
    bool is_ipv4 = false;
};

std::optional<std::span<const std::byte>> behind(std::span<const std::byte> bytes,
                                                 std::size_t count) {
    return bytes.size() < count ? std::nullopt : std::optional{bytes.subspan(count)};
}

/// The frame after an ERSPAN header of type III, whose last bit says whether a subheader follows.
std::optional<std::span<const std::byte>> behind_erspan_3(std::span<const std::byte> bytes) {
    const auto rest = behind(bytes, erspan_3_bytes);
    const bool more = rest && (std::to_integer<unsigned>(bytes[erspan_3_bytes - 1]) & 1U) != 0;
    return more ? behind(*rest, erspan_3_subheader_bytes) : rest;
}

std::optional<Carried> carried_by_gre(std::span<const std::byte> gre) {
    if (gre.size() < gre_bytes_min) {
        return std::nullopt;
    }
    const unsigned flags = load_be16(gre.data());
    const std::uint16_t type = load_be16(gre.data() + 2);
    const auto field = [flags](unsigned flag) { return (flags & flag) != 0 ? 4U : 0U; };
    const auto content =
        behind(gre, gre_bytes_min + field(has_checksum) + field(has_key) + field(has_sequence));
    if (!content || (flags & (has_routing | version_bits)) != 0) {
        return std::nullopt;
    }
    std::optional<std::span<const std::byte>> inner;
    if (type == carries_ethernet || type == ethertype::ipv4) {
        inner = content;
    } else if (type == carries_erspan) {
        inner = behind(*content, (flags & has_sequence) != 0 ? erspan_2_bytes : 0);
    } else if (type == carries_erspan_3) {
        inner = behind_erspan_3(*content);
    }
    return inner ? std::optional{Carried{*inner, type == ethertype::ipv4}} : std::nullopt;
}

std::optional<Ipv4Packet> ipv4_of(const CapturedFrame& frame) {
    Ipv4Packet whole;
    return walk_ipv4(frame.bytes, whole) == not_dropped ? whole : ipv4_of_cut(frame);
}

}  // namespace

std::span<const std::byte> TunnelExit::inside(const CapturedFrame& frame) {
    const std::optional<Ipv4Packet> ip = ipv4_of(frame);
    if (!ip || drop_of_other_protocol(*ip) != Drop::not_udp || ip->protocol() != gre_protocol) {
        return frame.bytes;
    }
    const std::optional<Carried> carried = carried_by_gre(ip->content());
    if (!carried) {
        return frame.bytes;
    }
    if (!carried->is_ipv4) {
        return carried->bytes;
    }
    rewritten_.assign(ethernet_header_bytes, std::byte{0});
    store_be16(rewritten_.data() + 12, ethertype::ipv4);
    rewritten_.insert(rewritten_.end(), carried->bytes.begin(), carried->bytes.end());
    return rewritten_;
}

}  // namespace pinstrike::nic
