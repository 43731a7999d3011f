// path: hot
#pragma once

#include "feed/arbitration/arbiter_state.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/epochs.h"
#include "feed/event/block.h"
#include "feed/event/position.h"

namespace pinstrike::feed {

/// Corrects an epoch that has begun or ended: its last number was higher, its first number was
/// lower, or a reset arrives too late to begin an epoch.
class EpochCorrections {
  public:
    explicit EpochCorrections(ArbiterState& line) : line_(line) {}

    /// Extends an epoch that has ended: numbers begin..end existed, and those between its known end
    /// and `begin` are lost. False if the numbers cannot belong to it.
    [[nodiscard]] bool extend(const Arrival& arrival, EpochIndex index, Position begin,
                              Position end);

    /// Lowers the first number of the current epoch, because earlier numbers are known to have
    /// existed.
    void lower_begin(const Arrival& arrival, Position begin);

    /// Reports a reset from before the first block received. Nothing shows whether it began the
    /// current numbering or an earlier one.
    void note_before_start(const Arrival& reset);

    /// Assigns a reset to the inferred epoch, which then began earlier. The numbers in between may
    /// still come late.
    void adopt(const Arrival& reset);

    /// Reports a reset that raised the numbers in the current epoch. The numbers that it skipped
    /// were declared lost already, and those after it were delivered.
    void note_within(const Arrival& reset);

    /// Handles a reset whose successor has begun the current epoch already.
    void note_overtaken(const Arrival& reset);

  private:
    void lengthen(EpochIndex old, Position end, const Arrival& arrival);
    void insert_epoch(const Arrival& reset, Position begin, Forget forget);

    ArbiterState& line_;
};

}  // namespace pinstrike::feed
