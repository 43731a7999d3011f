// path: cold
#include "nic/capture/cut_frame.h"

#include "nic/packet/bytes.h"

namespace pinstrike::nic {

std::optional<Ipv4Packet> ipv4_of_cut(const CapturedFrame& frame) {
    std::uint16_t type = 0;
    std::size_t offset = 0;
    if (frame.cut_bytes == 0 || walk_ethernet(frame.bytes, type, offset) != not_dropped ||
        type != ethertype::ipv4) {
        return std::nullopt;
    }
    const std::span<const std::byte> ip = frame.bytes.subspan(offset);
    if (ip.size() < ipv4_header_bytes_min || load_be16(ip.data() + 2) <= ip.size()) {
        return std::nullopt;
    }
    const auto version_and_length = std::to_integer<std::size_t>(ip[0]);
    const std::size_t header_bytes = (version_and_length & 0xFU) * 4;
    if ((version_and_length >> 4) != 4 || header_bytes < ipv4_header_bytes_min ||
        ip.size() < header_bytes) {
        return std::nullopt;
    }
    return Ipv4Packet{ip, header_bytes};
}

std::optional<Group> group_of_cut(const CapturedFrame& frame) {
    constexpr unsigned fragment_offset = 0x1FFF;
    constexpr std::size_t ports_bytes = 4;
    const std::optional<Ipv4Packet> ip = ipv4_of_cut(frame);
    if (!ip || ip->protocol() != ip_protocol::udp ||
        (load_be16(ip->bytes.data() + 6) & fragment_offset) != 0 ||
        ip->content().size() < ports_bytes) {
        return std::nullopt;
    }
    return Group{{load_be32(ip->bytes.data() + 16)}, load_be16(ip->content().data() + 2)};
}

}  // namespace pinstrike::nic
