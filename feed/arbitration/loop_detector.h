// path: hot
//
// Captures that are played in a loop: no exchange does it, but a benchmark or a replay may. A loop
// repeats its stamps. A reset older than what was delivered is a stray copy, unless the stream had
// brought it before, and two blocks that follow it on the same stream are numbered as it says and
// old as well. Blocks older than the reset before them are stray, unless three that follow each
// other are numbered as it said and the stream once began with them. What a stream had not brought
// yet is late, however well it is numbered: where numbers begin anew, those of before the reset are
// like those behind it.
#pragma once

#include "feed/arbitration/arrival.h"
#include "feed/arbitration/epoch_tracker.h"
#include "feed/arbitration/first_blocks.h"
#include "feed/arbitration/sequencer.h"
#include "feed/arbitration/stream_state.h"
#include "feed/event/block.h"

#include <array>
#include <cstddef>

namespace pinstrike::feed {

/// How each stream's capture begins, should it be played in a loop.
class LoopDetector {
  public:
    LoopDetector(const Sequencer& sequencer, const EpochTracker& epochs)
        : sequencer_(sequencer), epochs_(epochs) {}

    /// Behind the reset the stream brings again what it once began with.
    [[nodiscard]] bool looks_repeated(const Arrival& arrival) const {
        return is_numbered_as_reset(arrival.block) && has_begun_with(arrival);
    }

    [[nodiscard]] bool has_begun_with(const Arrival& arrival) const {
        return beginnings_[static_cast<std::size_t>(arrival.source)].known.has(arrival.block);
    }

    [[nodiscard]] bool has_brought_reset(const Arrival& arrival) const {
        return beginnings_[static_cast<std::size_t>(arrival.source)].resets.has(arrival.block);
    }

    /// All is noted that the detector needs of how the stream begins.
    [[nodiscard]] bool knows_beginning(Stream stream) const {
        return beginnings_[static_cast<std::size_t>(stream)].known.full();
    }

    /// What the stream began with is noted where it comes: a reset has yet to show that it is
    /// needed.
    void note_data(const Arrival& arrival, const StreamState& stream);

    void note_reset(const Arrival& arrival) { of(arrival.source).resets.note(arrival.block); }

    /// A new epoch begins.
    void note_epoch();

    /// The reset came again: what came before that, behind it and yet old, is how the loop begins.
    /// The program had been started in the middle of a turn.
    void note_repeated_reset(Source source);

  private:
    struct Beginning {
        FirstBlocks known;
        FirstBlocks behind_reset;  ///< old ones: how it begins, if the reset comes again as well
        FirstBlocks resets;        ///< starts of day and resets
    };

    [[nodiscard]] Beginning& of(Source source) {
        return beginnings_[static_cast<std::size_t>(source)];
    }

    [[nodiscard]] bool is_numbered_as_reset(const Block& block) const;

    const Sequencer& sequencer_;
    const EpochTracker& epochs_;
    std::array<Beginning, streams_count> beginnings_;
};

}  // namespace pinstrike::feed
