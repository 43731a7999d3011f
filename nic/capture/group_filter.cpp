// path: cold
#include "nic/capture/group_filter.h"

#include "nic/capture/cut_frame.h"
#include "nic/packet/datagram.h"
#include "nic/packet/packet.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace pinstrike::nic {

bool GroupFilter::knows(const Group& group) const {
    return std::binary_search(own.begin(), own.end(), group) ||
           std::binary_search(others.begin(), others.end(), group);
}

bool GroupFilter::selects(const CapturedFrame& frame) const {
    if (others.empty() && takes_rest) {
        return true;
    }
    Packet packet;
    packet.bytes = frame.bytes.data();
    packet.length_bytes = static_cast<std::uint32_t>(frame.bytes.size());
    std::optional<Group> group = group_of_cut(frame);
    if (Datagram datagram; parse_udp(packet, ChecksumCheck::off, datagram) == not_dropped) {
        group = Group{{datagram.group_ip}, datagram.port};
    }
    if (!group) {
        return takes_rest;
    }
    return std::binary_search(own.begin(), own.end(), *group) ||
           (takes_rest && !std::binary_search(others.begin(), others.end(), *group));
}

}  // namespace pinstrike::nic
