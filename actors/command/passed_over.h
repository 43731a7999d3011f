// path: cold
//
// Counts the packets of a capture that `decode` cannot use, by the reasons for which a port drops
// packets.
#pragma once

#include "actors/poller/poller_task.h"
#include "actors/poller/unknown_groups.h"
#include "nic/packet/datagram.h"
#include "nic/packet/packet.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::command {

class PassedOver {
  public:
    /// Parses the datagram of a packet, even if its checksums are wrong. If there is none, counts
    /// the packet and returns false.
    bool parse(const nic::Packet& packet, nic::Datagram& out);

    /// Counts a datagram whose destination is not a group of a line.
    void count_unknown(const nic::Datagram& datagram);

    /// The number of packets so far that may have held market data.
    [[nodiscard]] std::uint64_t candidates() const;

    /// Returns the lines to print about the capture; none: every packet was used.
    [[nodiscard]] std::vector<std::string> lines(std::string_view path) const;

  private:
    std::uint64_t packets_ = 0;
    std::uint64_t unknown_ = 0;
    actors::DropCounters drops_;
    actors::DropCounters wrong_sums_;  ///< of packets that are decoded nevertheless
    actors::UnknownGroups groups_;
};

}  // namespace pinstrike::command
