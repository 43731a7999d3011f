// path: hot
#pragma once

#include "feed/arbitration/arrival.h"
#include "feed/arbitration/hold.h"
#include "feed/event/block.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

/// Blocks that wait until it is known to which epoch they belong.
class DeferredBlocks {
  public:
    explicit DeferredBlocks(std::size_t capacity_bytes) : arena_(capacity_bytes) {}

    /// False if there is no room.
    [[nodiscard]] bool defer(const Arrival& arrival);

    /// One that waits behind a hole. False if there is no room.
    [[nodiscard]] bool defer(const HeldBlock& held);

    void release(HeldBlock* held) { arena_.release(held); }

    /// The one that was deferred first; nullptr if there is none.
    [[nodiscard]] HeldBlock* oldest() const { return arena_.oldest(); }

    [[nodiscard]] HeldBlock* younger(const HeldBlock* held) const { return arena_.younger(held); }

    /// The earliest by its stamp that is stamped no later than `until_ts_ns`; where stamps repeat,
    /// by its arrival. nullptr if there is none.
    [[nodiscard]] HeldBlock* earliest(std::int64_t until_ts_ns, bool stamps_repeat) const;

    /// The first one of the source; nullptr if there is none.
    [[nodiscard]] const HeldBlock* first_of(Source source) const;

    /// Whether anything of the stream could show that a reset was missed.
    [[nodiscard]] bool can_corroborate(Source source) const;

    /// The same block of this source, or one that goes on from it or that it goes on from; nullptr
    /// if there is none.
    [[nodiscard]] const HeldBlock* neighbour(Source source, const Block& block) const;

    /// The earliest one of the stream, or an earlier one of the other stream if that leads up to
    /// it: the first behind a reset that both streams lost.
    [[nodiscard]] const HeldBlock& first_behind_reset(Source source) const;

    /// Of a stream: it can show that a reset was missed.
    [[nodiscard]] static bool can_corroborate(const HeldBlock& held) {
        return held.source != Source::repair;
    }

  private:
    HoldArena arena_;
};

}  // namespace pinstrike::feed
