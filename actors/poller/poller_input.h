// path: hot
//
// A port of a poller, and the last burst that it received.
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

    /// Counts a frame that carries no datagram. The port answers IGMP queries for its groups.
    void drop(const nic::Packet& packet, nic::Drop reason, std::int64_t now_ns) {
        drops.bump(reason);
        if (reason == nic::Drop::igmp) {
            port->on_igmp(packet, now_ns);
        }
    }

    /// Takes the datagram by value, so that the caller can keep its own in registers.
    void drop_unknown(nic::Datagram datagram) noexcept {
        unknown_groups.count(datagram);
        drops.bump(nic::Drop::unknown_group);
    }

    std::size_t index;  ///< within the poller
    bool keeps;
    KeptPackets kept;
    std::vector<nic::Packet> burst;
    std::size_t filled = 0;  ///< packets in the burst
    std::size_t taken = 0;   ///< packets of the burst that were processed
    DropCounters drops;
    UnknownGroups unknown_groups;
    Counter handed;  ///< packets given to lines
};

}  // namespace pinstrike::actors
