// path: cold
#include "nic/capture/capture_links.h"

#include "config/check.h"
#include "nic/packet/bytes.h"
#include "nic/packet/datagram.h"

#include <algorithm>
#include <array>

namespace pinstrike::nic {

namespace {

constexpr std::uint32_t ethernet = 1;
constexpr std::uint16_t no_type = 0xFFFF;

std::uint16_t type_by_version(std::span<const std::byte> packet) {
    const unsigned version = std::to_integer<unsigned>(packet[0]) >> 4;
    return version == 6 ? 0x86DD : ethertype::ipv4;
}

/// The header is the address family of the capturing host, in host or network byte order. The
/// family of IPv4 is 2 on every system; that of IPv6 differs and is not needed.
std::uint16_t type_by_family(std::span<const std::byte> packet) {
    constexpr std::uint32_t inet = 2;
    const std::uint32_t family = load_be32(packet.data());
    return family == inet || family == __builtin_bswap32(inet) ? ethertype::ipv4 : no_type;
}

std::uint16_t type_of_cooked(std::span<const std::byte> packet) {
    return load_be16(packet.data() + 14);
}

std::uint16_t type_of_cooked_2(std::span<const std::byte> packet) {
    return load_be16(packet.data());
}

/// A link type other than Ethernet: the length of its header, and the function that returns the
/// Ethernet type of the content.
struct Link {
    std::uint32_t type;
    std::size_t header_bytes;
    std::uint16_t (*ethernet_type)(std::span<const std::byte> packet);
};

// https://www.tcpdump.org/linktypes.html
constexpr std::array links{
    Link{0, 4, type_by_family},       // BSD loopback
    Link{108, 4, type_by_family},     // OpenBSD loopback
    Link{12, 0, type_by_version},     // raw IP, written with the BSD number
    Link{14, 0, type_by_version},     // the same on OpenBSD
    Link{101, 0, type_by_version},    // raw IP
    Link{228, 0, type_by_version},    // raw IPv4
    Link{113, 16, type_of_cooked},    // Linux cooked
    Link{276, 20, type_of_cooked_2},  // Linux cooked, version 2
};

const Link* find_link(std::uint32_t type) {
    const auto* found = std::find_if(links.begin(), links.end(),
                                     [&](const Link& link) { return link.type == type; });
    return found == links.end() ? nullptr : found;
}

}  // namespace

bool is_known_link_type(std::uint32_t link_type) {
    return link_type == ethernet || find_link(link_type) != nullptr;
}

std::span<const std::byte> as_ethernet(std::uint32_t link_type, std::span<const std::byte> packet,
                                       std::vector<std::byte>& made) {
    if (link_type == ethernet) {
        return packet;
    }
    const Link* link = find_link(link_type);
    PINSTRIKE_CHECK(link != nullptr);
    made.assign(ethernet_header_bytes, std::byte{0});
    store_be16(made.data() + 12, no_type);
    if (!packet.empty() && packet.size() >= link->header_bytes) {
        store_be16(made.data() + 12, link->ethernet_type(packet));
        const std::span<const std::byte> content = packet.subspan(link->header_bytes);
        made.insert(made.end(), content.begin(), content.end());
    }
    return made;
}

}  // namespace pinstrike::nic
