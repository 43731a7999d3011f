// path: cold
//
// What `decode` could not use of a capture, by the reasons for which a port drops packets.
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
    /// The datagram of a packet, whatever its checksums; false, and counted, where it has none.
    bool parse(const nic::Packet& packet, nic::Datagram& out);

    /// The datagram's destination is no line's.
    void count_unknown(const nic::Datagram& datagram);

    /// The lines to print about this capture; none if every packet was used.
    [[nodiscard]] std::vector<std::string> lines(std::string_view path) const;

  private:
    std::uint64_t packets_ = 0;
    std::uint64_t unknown_ = 0;
    actors::DropCounters drops_;
    actors::DropCounters wrong_sums_;  ///< of packets that are decoded all the same
    actors::UnknownGroups groups_;
};

}  // namespace pinstrike::command
