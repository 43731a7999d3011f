// path: cold
#pragma once

#include "feed/event/block.h"
#include "nic/packet/address.h"

#include <array>
#include <cstdint>
#include <vector>

namespace pinstrike::feed {

/// One line of the venue: its number and where its two streams come.
struct LineConfig {
    std::uint16_t number = 0;
    std::array<nic::Group, streams_count> streams;
    /// Retransmission groups; port 0 means none is listened to.
    std::array<nic::Group, streams_count> retransmission;

    friend bool operator==(const LineConfig&, const LineConfig&) = default;
};

}  // namespace pinstrike::feed
