// path: hot
#pragma once

#include "config/cache_line.h"
#include "feed/arbitration/arbiter_sink.h"
#include "feed/arbitration/epochs.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/block.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

/// The position of one stream of a line. The first cache line has everything that the fast path
/// touches.
struct alignas(cache_line_bytes) StreamState {
    bool fast = false;              ///< its blocks may take the fast path
    std::uint64_t next_number = 0;  ///< the number after its latest data block; 0: none yet
    std::int64_t newest_ts_ns = ArbiterSink::no_ts_ns;  ///< of its latest data in this epoch
    StreamCounters counters;
    EpochIndex epoch = 0;
    bool brought_reset = false;  ///< it carried the reset that began its epoch

    [[nodiscard]] bool has_data() const { return newest_ts_ns != ArbiterSink::no_ts_ns; }

    void join(EpochIndex joined, bool with_reset) {
        epoch = joined;
        brought_reset = with_reset;
        next_number = 0;
        newest_ts_ns = ArbiterSink::no_ts_ns;
    }

    /// Moves the stream past a data block of its epoch.
    void follow(std::uint64_t next, std::int64_t ts_ns) {
        next_number = next;
        newest_ts_ns = ts_ns;
    }
};

static_assert(offsetof(StreamState, counters) + sizeof(StreamCounters) <= cache_line_bytes);

using StreamStates = std::array<StreamState, streams_count>;

}  // namespace pinstrike::feed
