// path: cold
//
// Copies of frames. A reader of captures keeps only its last frame valid, and a burst holds many.
#pragma once

#include "config/cache_line.h"
#include "nic/capture/capture_reader.h"
#include "nic/packet/datagram.h"
#include "nic/packet/packet.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::nic {

/// The length of the longest frame that the parser accepts: an IPv4 packet of maximum length after
/// the maximum number of tags. Longer frames are cut to this length.
inline constexpr std::size_t replayed_frame_bytes_max =
    ethernet_header_bytes + vlan_tags_max * tag_bytes_max + 0xFFFF;

/// The space for one frame. The kernel maps a page of it when it is first written, so the
/// worst-case size costs address space only.
inline constexpr std::size_t replayed_slot_bytes_max = whole_cache_lines(replayed_frame_bytes_max);

/// The frame, cut to the maximum, in a copy of its bytes behind the first `used_bytes` of the
/// buffer. Without its comment.
inline CapturedFrame copy_of(const CapturedFrame& frame, std::byte* buffer,
                             std::size_t& used_bytes) {
    const std::size_t bytes = std::min(frame.bytes.size(), replayed_frame_bytes_max);
    std::byte* const slot = buffer + used_bytes;
    std::memcpy(slot, frame.bytes.data(), bytes);
    used_bytes += whole_cache_lines(bytes);
    CapturedFrame copy = frame;
    copy.bytes = {slot, bytes};
    copy.comment = {};
    return copy;
}

inline Packet packet_of(const CapturedFrame& frame) {
    Packet packet;
    packet.bytes = frame.bytes.data();
    packet.length_bytes = static_cast<std::uint32_t>(frame.bytes.size());
    packet.ts_receive_ns = frame.ts_ns;
    return packet;
}

}  // namespace pinstrike::nic
