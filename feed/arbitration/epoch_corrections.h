// path: hot
#pragma once

#include "feed/arbitration/arbiter_state.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/epochs.h"
#include "feed/arbitration/position.h"
#include "feed/event/block.h"

namespace pinstrike::feed {

/// What becomes known of an epoch only when it has begun, or is over: that it went on for longer,
/// that it began earlier, and resets that come too late to begin one.
class EpochCorrections {
  public:
    explicit EpochCorrections(ArbiterState& line) : line_(line) {}

    /// Numbers begin..end, behind what was known of an epoch that is over, existed, and so did
    /// those before them, which are lost. False if they cannot belong to it.
    [[nodiscard]] bool extend(const Arrival& arrival, EpochIndex index, Position begin,
                              Position end);

    /// More numbers of the current epoch are known to have existed, before its first.
    void lower_begin(const Arrival& arrival, Position begin);

    /// Whether a reset of before the first block heard began the numbering that is under way, or
    /// one before it, cannot be known; it is only told.
    void note_before_start(const Arrival& reset);

    /// The inferred epoch is known to have begun earlier: what is between may still come late.
    void adopt(const Arrival& reset);

    /// Of a reset that raised the numbers in the current epoch, what it skipped has been declared
    /// lost, and what is behind it delivered. Nothing is left to do but to tell it.
    void note_within(const Arrival& reset);

    /// The reset behind this one began the current epoch.
    void note_overtaken(const Arrival& reset);

  private:
    void lengthen(EpochIndex old, Position end, const Arrival& arrival);
    void insert_epoch(const Arrival& reset, Position begin, Forget forget);

    ArbiterState& line_;
};

}  // namespace pinstrike::feed
