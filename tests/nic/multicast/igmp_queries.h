// path: cold
//
// IGMP queries as routers send them.
#pragma once

#include "nic/multicast/igmp.h"
#include "nic/packet/bytes.h"
#include "nic/packet/internet_checksum.h"
#include "tests/nic/frames.h"

#include <array>
#include <cstddef>

namespace pinstrike::nic {

/// The frame of a query. `message` is the IGMP message with a checksum of zero.
inline Bytes query_frame(Bytes message, Ipv4 destination = all_hosts) {
    store_checksum(message.data() + 2, checksum_sum(message.data(), message.size()));
    const IgmpHost router{Ipv4{0x0A000001}, Mac{{2, 0, 0, 0, 0, 1}}, 0};
    std::array<std::byte, igmp_frame_bytes_max> buffer{};
    const std::size_t report = write_message(buffer, router, IgmpMessage::v2_report, destination);
    Bytes frame(buffer.begin(), buffer.begin() + static_cast<long>(report - 8));
    std::byte* ip = frame.data() + 14;
    store_be16(ip + 2, static_cast<std::uint16_t>(24 + message.size()));
    store_be16(ip + 10, 0);
    store_checksum(ip + 10, checksum_sum(ip, 24));
    frame.insert(frame.end(), message.begin(), message.end());
    return frame;
}

inline Bytes message_of(unsigned code, Ipv4 group, std::size_t bytes) {
    Bytes message(bytes);
    message[0] = std::byte{0x11};
    message[1] = static_cast<std::byte>(code);
    store_be32(message.data() + 4, group.value);
    return message;
}

inline Bytes v3_query(unsigned code, Ipv4 group = {}) {
    return query_frame(message_of(code, group, 12));
}

inline Bytes v2_query(unsigned code, Ipv4 group = {}) {
    return query_frame(message_of(code, group, 8));
}

inline Bytes v1_query() {
    return query_frame(message_of(0, {}, 8));
}

}  // namespace pinstrike::nic
