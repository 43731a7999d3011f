// path: cold
#pragma once

#include "nic/capture/replay_gate.h"

#include <cstdint>
#include <memory>
#include <string>

namespace pinstrike::actors {

/// Where the range of a replay begins, and the snapshot that has the state of its books before.
struct ReplayFrom {
    std::string snapshot;  ///< path
    std::int64_t from_ns = 0;
    std::shared_ptr<nic::ReplayGate> gate;  ///< of the port that replays the packets
    /// The begin of the trade date of which states are taken; INT64_MIN: of any.
    std::int64_t trade_date_begin_ns = INT64_MIN;
};

}  // namespace pinstrike::actors
