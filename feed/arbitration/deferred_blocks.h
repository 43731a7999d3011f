// path: hot
#pragma once

#include "feed/arbitration/arrival.h"
#include "feed/arbitration/hold.h"

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
    [[nodiscard]] const HeldBlock* oldest() const { return arena_.oldest(); }

    [[nodiscard]] const HeldBlock* younger(const HeldBlock* held) const {
        return arena_.younger(held);
    }

    /// The earliest by its stamp that is stamped no later than `until_ts_ns`; where stamps repeat,
    /// by its arrival. nullptr if there is none.
    [[nodiscard]] HeldBlock* earliest(std::int64_t until_ts_ns, bool stamps_repeat) const;

    /// The earliest by its stamp that a stream brought; nullptr if there is none.
    [[nodiscard]] const HeldBlock* earliest_original() const;

  private:
    HoldArena arena_;
};

}  // namespace pinstrike::feed
