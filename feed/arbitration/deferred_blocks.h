// path: hot
#pragma once

#include "feed/arbitration/arrival.h"
#include "feed/arbitration/hold.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

/// Keeps blocks until the epoch to which they belong is known.
class DeferredBlocks {
  public:
    explicit DeferredBlocks(std::size_t capacity_bytes) : arena_(capacity_bytes) {}

    /// Defers a block. False: there is not enough memory.
    [[nodiscard]] bool defer(const Arrival& arrival);

    /// Defers a block that is held behind a hole. False: there is not enough memory.
    [[nodiscard]] bool defer(const HeldBlock& held);

    void release(HeldBlock* held) { arena_.release(held); }

    /// The block that was deferred first; nullptr if there is none.
    [[nodiscard]] const HeldBlock* oldest() const { return arena_.oldest(); }

    [[nodiscard]] const HeldBlock* younger(const HeldBlock* held) const {
        return arena_.younger(held);
    }

    /// The block with the earliest block time up to `until_ts_ns`, or, if block times repeat, the
    /// first to arrive. nullptr if there is none.
    [[nodiscard]] HeldBlock* earliest(std::int64_t until_ts_ns, bool stamps_repeat) const;

    /// The block with the earliest block time, without repairs; nullptr if there is none.
    [[nodiscard]] const HeldBlock* earliest_original() const;

  private:
    HoldArena arena_;
};

}  // namespace pinstrike::feed
