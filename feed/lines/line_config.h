// path: cold
#pragma once

#include "feed/event/block.h"
#include "nic/packet/address.h"

#include <array>
#include <cstdint>

namespace pinstrike::feed {

/// One line of the venue: its number and the multicast groups of its two streams.
struct LineConfig {
    std::uint16_t number = 0;
    std::array<nic::Group, streams_count> streams;
    /// Retransmission groups; port 0: not joined.
    std::array<nic::Group, streams_count> retransmission;

    friend bool operator==(const LineConfig&, const LineConfig&) = default;
};

/// The line and stream on which a block arrived; 0 and '?' if no line has its group and port.
struct Origin {
    std::uint16_t line = 0;
    char stream = '?';
};

}  // namespace pinstrike::feed
