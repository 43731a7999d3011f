// path: hot
//
// Decides to which numbering (epoch) of a line a block belongs, and which kind of reset a reset is.
// Changes nothing outside itself.
//
// No document says how to distinguish the second copy of a reset from a new reset, or old data from
// new data. The rules here use two facts: both copies of a block have the same block time, and
// blocks are stamped in the order of their numbers. So a block stamped before the reset belongs to
// the epoch before it, and one stamped later to the new epoch. A stream with a later block time
// that has not delivered the reset has lost its copy. If block times are equal, continuity with the
// stream's own numbers decides. A capture that is played in a loop repeats its block times; once
// that is noticed (loop_detector.h), continuity alone decides.
#pragma once

#include "feed/arbitration/epochs.h"
#include "feed/arbitration/sequencer.h"
#include "feed/arbitration/stream_state.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/position.h"

#include <cstdint>

namespace pinstrike::feed {

/// The most messages by which one stream may lag behind the other if only numbers can distinguish
/// epochs.
inline constexpr std::uint64_t lag_messages = 65536;

/// A reset to 1 within this many numbers of the wrap is the rollover, not a cold restart (OPRA
/// Block Sequence Number).
inline constexpr std::uint64_t rollover_messages = 1 << 20;

/// The relation of a start of day or reset of one stream to the known epochs.
enum class ResetKind : std::uint8_t {
    second_copy,   ///< began an epoch that the stream has not joined
    late_copy,     ///< began the current epoch, which the stream joined by later blocks
    repeated,      ///< began the current epoch, and the stream delivered it before
    known,         ///< reported in the current epoch, but began none
    before_start,  ///< from before the first block received
    of_inferred,   ///< began the current epoch, which was inferred
    within,        ///< raised the numbers in the current epoch
    overtaken,     ///< the reset after it began the current epoch
    stale,         ///< older than the data that it would reset
    next,          ///< begins the next epoch
};

class EpochTracker {
  public:
    explicit EpochTracker(const Sequencer& sequencer) : sequencer_(sequencer) {}

    [[nodiscard]] EpochHistory& history() { return history_; }

    [[nodiscard]] Epoch& current() { return history_.current(); }

    [[nodiscard]] const Epoch& current() const { return history_.current(); }

    [[nodiscard]] Epoch& at(EpochIndex index) { return history_.at(index); }

    [[nodiscard]] EpochIndex current_index() const { return history_.current_index(); }

    [[nodiscard]] bool is_current(EpochIndex index) const { return index == current_index(); }

    /// The position after the last number of the epoch that was delivered or given up.
    [[nodiscard]] Position end_of(const Epoch& epoch) const {
        return &epoch == &history_.current() ? sequencer_.expected() : epoch.end;
    }

    /// Whether a block is stamped before the epoch and so, whatever its numbers, does not belong to
    /// it. Such a block is older than the first block received, or than all epochs that are kept.
    [[nodiscard]] static bool precedes(const Block& block, const Epoch& epoch) {
        return !epoch.repeats && block.ts_exchange_ns < epoch.begin_ts_ns;
    }

    /// The epoch of a data or line integrity block. If the stream has not joined it, the block
    /// shows that the stream's copy of the reset was lost. The stream's own epoch must still be
    /// kept.
    [[nodiscard]] EpochIndex epoch_of(const Block& block, const StreamState& stream);

    /// The epoch of a retransmitted block, by its block time; if that does not decide, the epoch in
    /// which it fills something missing.
    [[nodiscard]] EpochIndex epoch_of_repair(const Block& block);

    /// Whether a block belongs to the inferred current epoch although it is numbered just before
    /// it. It is stamped between the last block of the epoch before and the first of the current
    /// one; the other stream had lost it.
    [[nodiscard]] bool leads_up_to_inferred(const Block& block);

    /// Whether a block belongs to the current epoch, because its stream is in that epoch or because
    /// its later block time shows that the stream only lost the reset.
    [[nodiscard]] bool is_of_current(const Block& block, const StreamState& stream) const;

    /// Whether a retransmitted block is stamped later than everything known. It then fills nothing:
    /// it has numbers that were not received yet, or follows a reset that has not arrived, and then
    /// its numbers name other messages here.
    [[nodiscard]] bool is_new(const Block& block) const {
        return !current().numbered ||
               (!current().repeats && block.ts_exchange_ns > sequencer_.known_ts_ns());
    }

    [[nodiscard]] ResetKind classify(const Block& reset, const StreamState& stream);

    /// Whether, in a loop, the stream's data of this numbering come from before a reset with this
    /// block time. Block times of two turns cannot be compared.
    [[nodiscard]] bool leads_up_to(const StreamState& stream, std::int64_t reset_ts_ns) const {
        return stream.has_data() && stream.newest_ts_ns <= reset_ts_ns &&
               is_current(stream.epoch) && current().repeats;
    }

    /// Whether a stream, in the first epoch, has reached the first block received.
    [[nodiscard]] bool has_come_to_start(const StreamState& stream) {
        return stream.has_data() && stream.newest_ts_ns >= history_.at(0).first_ts_ns;
    }

    /// Whether the block times after this reset repeat earlier ones.
    [[nodiscard]] bool begins_loop(const Block& reset) const {
        return reset.ts_exchange_ns < newest_reset_ts_ns_ ||
               history_.knows(ResetIdentity::of(reset));
    }

    /// What a reset makes consumers forget if the epoch before it ended at `end`.
    [[nodiscard]] Forget forget_of(const ResetIdentity& reset, const Epoch& old,
                                   Position end) const;

    /// Of all positions that have the number of this block (number_of()), the one nearest to
    /// `anchor`.
    [[nodiscard]] Position nearest_to(Position anchor, const Block& block) const;

    /// Begins the first epoch in the middle of a day, with the first block received.
    void start(Position begin, std::int64_t ts_exchange_ns);

    /// Ends the current epoch and begins the next one. Called before the sequencer starts the new
    /// numbering.
    void open(const Block& reset, bool repeats, bool inferred, Forget forget);

    /// Notes the block time of a reset that was reported.
    void note_reset_ts(std::int64_t ts_exchange_ns);

  private:
    [[nodiscard]] bool belongs_to(const Block& block, const Epoch& epoch,
                                  const StreamState& stream) const;
    [[nodiscard]] bool is_late_copy(const ResetIdentity& reset, const StreamState& stream) const;
    [[nodiscard]] bool precedes_start(const Block& reset, const StreamState& stream);
    [[nodiscard]] bool precedes_inferred(const Block& reset, const StreamState& stream);
    [[nodiscard]] bool is_behind_epoch_before(const Block& reset);
    [[nodiscard]] bool is_within_current(const Block& reset) const;
    [[nodiscard]] bool precedes_reset(const Block& reset);

    const Sequencer& sequencer_;
    EpochHistory history_;
    std::int64_t newest_reset_ts_ns_ = ArbiterSink::no_ts_ns;
};

}  // namespace pinstrike::feed
