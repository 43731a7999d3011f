// path: hot
#pragma once

#include "config/cache_line.h"
#include "feed/arbitration/arbitration_config.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/epoch_tracker.h"
#include "feed/arbitration/sequencer.h"
#include "feed/arbitration/stream_state.h"
#include "feed/event/block.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace pinstrike::feed {

/// The beginnings of the last 64 data blocks of a line's current epoch. A block that repeats one of
/// them is its copy, even if its block time differs, because the two streams may carry different
/// times after a site failover or behind a relay. The venue's codec compares the beginnings
/// (ArbiterSink::ts_of_copy).
class RecentBlocks {
  public:
    /// Stores the beginning of a block's first copy. The arbiter calls this for nearly every block
    /// and compares beginnings for few, so this only copies bytes.
    void note(const Block& block) {
        BlockStart& start = starts_[count_++ % kept];
        if (block.bytes.size() >= sizeof start) [[likely]] {
            std::memcpy(start.data(), block.bytes.data(), sizeof start);
        } else {
            start = {};
        }
    }

    /// Forgets the blocks of the epoch that ended. Their numbers stood for other messages, and a
    /// block of the new epoch may be equal to one of them without being a copy.
    void clear() { count_ = 0; }

    /// The stored beginnings, in no particular order.
    [[nodiscard]] std::span<const BlockStart> starts() const {
        return {starts_.data(), std::min<std::size_t>(count_, kept)};
    }

  private:
    static constexpr std::size_t kept = 64;

    std::size_t count_ = 0;  ///< in this epoch
    alignas(cache_line_bytes) std::array<BlockStart, kept> starts_{};
};

/// The latest flush of a line's quotes.
class Flushed {
  public:
    void note(Position position) { to_ = std::max(to_, position); }

    /// Whether the message at this position is from before the flush.
    [[nodiscard]] bool covers(Position position) const { return position < to_; }

  private:
    Position to_ = 0;
};

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
    Flushed flushed;
};

}  // namespace pinstrike::feed
