// path: cold
#include "nic/capture/cut_frame.h"

#include "nic/packet/bytes.h"
#include "nic/packet/datagram.h"

namespace pinstrike::nic {

std::optional<Group> group_of_cut(const CapturedFrame& frame) {
    constexpr unsigned fragment_offset = 0x1FFF;
    constexpr std::size_t ports_bytes = 4;
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
    const std::size_t header_bytes = (std::to_integer<std::size_t>(ip[0]) & 0xFU) * 4;
    const bool is_udp = std::to_integer<std::uint8_t>(ip[9]) == ip_protocol::udp &&
                        (load_be16(ip.data() + 6) & fragment_offset) == 0;
    if (!is_udp || header_bytes < ipv4_header_bytes_min || ip.size() < header_bytes + ports_bytes) {
        return std::nullopt;
    }
    return Group{{load_be32(ip.data() + 16)}, load_be16(ip.data() + header_bytes + 2)};
}

}  // namespace pinstrike::nic
