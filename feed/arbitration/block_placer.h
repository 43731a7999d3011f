// path: hot
#pragma once

#include "feed/arbitration/arbiter_state.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/epoch_corrections.h"
#include "feed/arbitration/epochs.h"
#include "feed/event/block.h"
#include "feed/event/position.h"

#include <cstdint>

namespace pinstrike::feed {

/// Decides for each number of a data block, in the block's epoch, whether to deliver it, hold it,
/// or count it as useless.
class BlockPlacer {
  public:
    BlockPlacer(ArbiterState& line, EpochCorrections& corrections)
        : line_(line), corrections_(corrections) {}

    /// Places the numbers of a block, one run of equal state at a time.
    void place(const Arrival& arrival, EpochIndex index);

    /// Counts messages that were accepted before, or that belong to no known numbering.
    void count_useless(const Arrival& arrival, std::uint64_t messages);

  private:
    /// A range of numbers in one state.
    struct Run {
        enum class State : std::uint8_t {
            done,   ///< delivered, held, or before the first block
            lost,   ///< declared lost
            fresh,  ///< not received and not declared lost
        };
        State state;
        Position begin;
        Position end;
    };

    struct Placement {
        EpochIndex epoch;
        Position base;  ///< position of the block's first message

        [[nodiscard]] unsigned index_of(Position position) const {
            return static_cast<unsigned>(position - base);
        }
    };

    [[nodiscard]] Run run_at(EpochIndex index, Position position, Position end);
    void place_decodable(const Arrival& arrival, const Placement& at, const Run& run);
    void place_undecodable(const Arrival& arrival, const Placement& at, const Run& run);
    void place_repair(const Arrival& arrival, const Placement& at, const Run& run);
    void place_original(const Arrival& arrival, const Placement& at, const Run& run);
    void place_current(const Arrival& arrival, const Placement& at, Position begin, Position end);
    void fill_gap(const Arrival& arrival, const Placement& at, const Run& run);
    void deliver_late(const Arrival& arrival, const Placement& at, const Run& run);
    [[nodiscard]] DeliveryFlags late_flags(const Arrival& arrival, EpochIndex epoch,
                                           Position begin);
    void count_accepted(const Arrival& arrival, std::uint64_t messages);

    ArbiterState& line_;
    EpochCorrections& corrections_;
};

}  // namespace pinstrike::feed
