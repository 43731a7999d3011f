// path: hot
//
// To which numbering (epoch) of a line a block belongs, and what a reset is to the numberings that
// are known. Decides by what it is told, and changes nothing outside itself.
//
// No document says how to tell the second copy of a reset from a new reset, or old data from new.
// What is used here: both copies are stamped alike, and blocks are stamped in the order of their
// numbers. So a block stamped before the reset is of the epoch before it, one stamped later is of
// the new one, and a stream that shows a later stamp without having brought the reset has lost its
// copy. Where stamps are equal, continuity with the stream's own numbers decides. A capture played
// in a loop repeats its stamps; once that is noticed (loop_detector.h), continuity decides alone.
#pragma once

#include "feed/arbitration/epochs.h"
#include "feed/arbitration/position.h"
#include "feed/arbitration/sequencer.h"
#include "feed/arbitration/stream_state.h"
#include "feed/event/block.h"
#include "feed/event/event.h"

#include <cstdint>

namespace pinstrike::feed {

/// How far behind the other a stream may be where numbers alone must tell.
inline constexpr std::uint64_t lag_messages = 65536;

/// A K with 1 within so many numbers of the wrap is the rollover, not a cold restart (OPRA
/// 3.05.6 Block Sequence Number).
inline constexpr std::uint64_t rollover_messages = 1 << 20;

/// What a start of day or reset, as a stream brings it, is to the epochs that are known.
enum class ResetKind : std::uint8_t {
    second_copy,   ///< it began an epoch that the stream has not joined
    late_copy,     ///< it began the current epoch, which the stream had joined by later blocks
    repeated,      ///< it began the current epoch, and the stream had brought it or a loop begins
    told,          ///< it was told in the current epoch without having begun it
    before_start,  ///< of before the first block heard
    of_inferred,   ///< it began the current epoch, which was inferred
    within,        ///< it raised the numbers in the current epoch: nothing is left but to tell it
    overtaken,     ///< the reset behind it began the current epoch
    stale,         ///< older than what it would reset
    next,          ///< it begins the next epoch
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

    /// Behind the last number of the epoch that was delivered or given up.
    [[nodiscard]] Position end_of(const Epoch& epoch) const {
        return &epoch == &history_.current() ? sequencer_.expected() : epoch.end;
    }

    /// Stamped before the epoch: whatever its numbers, it is none of it. That leaves what is older
    /// than the program's first block, or than all epochs remembered.
    [[nodiscard]] static bool precedes(const Block& block, const Epoch& epoch) {
        return !epoch.repeats && block.ts_exchange_ns < epoch.begin_ts_ns;
    }

    /// The epoch of a data or line integrity block. One that the stream has not joined: the block
    /// shows that its copy of the reset was lost. The stream's own epoch must be remembered still.
    [[nodiscard]] EpochIndex epoch_of(const Block& block, const StreamState& stream);

    /// Of a retransmitted block: by its stamp; where that is no help, the epoch in which it finds
    /// something missing.
    [[nodiscard]] EpochIndex epoch_of_repair(const Block& block);

    /// The current epoch was inferred, and this block, stamped between its first and the last of
    /// the epoch before, is numbered just before it: the other stream had lost it.
    [[nodiscard]] bool leads_up_to_inferred(const Block& block);

    /// The stream is in the current epoch, or shows by a later stamp that it only lost the reset.
    [[nodiscard]] bool is_of_current(const Block& block, const StreamState& stream) const;

    /// Stamped behind all that is known: what was missed is not. So it is of numbers that nobody
    /// has heard of, or behind a reset that has not come yet, and its number names another message
    /// here.
    [[nodiscard]] bool is_new(const Block& block) const {
        return !current().numbered ||
               (!current().repeats && block.ts_exchange_ns > sequencer_.known_ts_ns());
    }

    [[nodiscard]] ResetKind classify(const Block& reset, const StreamState& stream);

    /// In a loop, whose stamps do not compare with those of the turn before: the stream's own data
    /// of this numbering are from before a reset that is stamped so.
    [[nodiscard]] bool leads_up_to(const StreamState& stream, std::int64_t reset_ts_ns) const {
        return stream.has_data() && stream.newest_ts_ns <= reset_ts_ns &&
               is_current(stream.epoch) && current().repeats;
    }

    /// Of a stream in the program's first epoch.
    [[nodiscard]] bool has_come_to_start(const StreamState& stream) {
        return stream.has_data() && stream.newest_ts_ns >= history_.at(0).first_ts_ns;
    }

    /// Whether the stamps of what follows this reset repeat earlier ones.
    [[nodiscard]] bool begins_loop(const Block& reset) const {
        return reset.ts_exchange_ns < newest_reset_ts_ns_ ||
               history_.knows(ResetIdentity::of(reset));
    }

    /// What this reset makes consumers forget, where it follows an epoch that ended here.
    [[nodiscard]] static Forget forget_of(const ResetIdentity& reset, const Epoch& old,
                                          Position end);

    /// The program started in the middle of a day, with this block.
    void start(Position begin, std::int64_t ts_exchange_ns);

    /// Ends the current epoch and begins the next. The sequencer is still at the end of the old
    /// one.
    void open(const Block& reset, bool repeats, bool inferred, Forget forget);

    /// Of a reset that was told.
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
