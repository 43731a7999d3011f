// path: hot
#pragma once

#include "feed/arbitration/arbitration_config.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/epoch_tracker.h"
#include "feed/arbitration/recent_blocks.h"
#include "feed/arbitration/sequencer.h"
#include "feed/arbitration/stream_state.h"
#include "feed/event/block.h"

#include <cstddef>

namespace pinstrike::feed {

/// The state that all parts of an arbiter share.
struct ArbiterState {
    ArbiterState(const ArbitrationConfig& config, const Numbering& numbering)
        : sequencer(config, numbering), epochs(sequencer) {}

    ArbiterState(const ArbiterState&) = delete;
    ArbiterState& operator=(const ArbiterState&) = delete;

    [[nodiscard]] StreamState& stream(Stream which) {
        return streams[static_cast<std::size_t>(which)];
    }

    [[nodiscard]] const StreamState& stream(Stream which) const {
        return streams[static_cast<std::size_t>(which)];
    }

    /// The stream that carried the arrival, which must not be a repair.
    [[nodiscard]] StreamState& stream_of(const Arrival& arrival) {
        return streams[static_cast<std::size_t>(arrival.source)];
    }

    [[nodiscard]] const Numbering& numbering() const { return sequencer.numbering(); }

    [[nodiscard]] LineCounters& counters() { return sequencer.counters(); }

    Sequencer sequencer;
    StreamStates streams;
    EpochTracker epochs;
    RecentBlocks recent;
};

}  // namespace pinstrike::feed
