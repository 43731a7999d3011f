// path: hot
//
// A port of a poller, and the burst that it gave last.
#pragma once

#include "actors/poller/kept_packets.h"
#include "actors/poller/poller_task.h"
#include "actors/poller/unknown_groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::actors {

struct PollerInput : PollerPort {
    PollerInput(PollerPort given, std::size_t position)
        : PollerPort(std::move(given)),
          index(position),
          keeps(port->keeps()),
          kept(keeps ? nic::kept_packets_max : 0),
          burst(burst_packets) {}

    [[nodiscard]] bool allows(std::uint32_t source) const noexcept {
        return sources.empty() || std::any_of(sources.begin(), sources.end(),
                                              [=](auto subnet) { return subnet.contains(source); });
    }

    /// A frame with no datagram for anybody here; the port answers queries for its groups.
    void drop(const nic::Packet& packet, nic::Drop reason, std::int64_t now_ns) {
        drops.bump(reason);
        if (reason == nic::Drop::igmp) {
            port->on_igmp(packet, now_ns);
        }
    }

    /// By value, so that the caller's datagram can stay in registers.
    void drop_unknown(nic::Datagram datagram) noexcept {
        unknown_groups.count(datagram);
        drops.bump(nic::Drop::unknown_group);
    }

    std::size_t index;  ///< among the poller's
    bool keeps;
    KeptPackets kept;
    std::vector<nic::Packet> burst;
    std::size_t filled = 0;  ///< packets in the burst
    std::size_t taken = 0;   ///< of these, admitted
    DropCounters drops;
    UnknownGroups unknown_groups;
    Counter handed;  ///< packets handed to lines
};

}  // namespace pinstrike::actors
