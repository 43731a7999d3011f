// path: hot
//
// Captures that are played in a loop: no exchange does it, but a benchmark or a replay may, and
// only where the config allows it. A loop repeats its stamps. It begins anew where a stream brings
// a reset that it had brought before, behind data; or, where the capture ends with a reset, where
// it brings behind the reset what it once began with, stamped earlier and numbered as the reset
// said.
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
    LoopDetector(const Sequencer& sequencer, const EpochTracker& epochs, bool enabled)
        : sequencer_(sequencer), epochs_(epochs), enabled_(enabled) {}

    /// Behind the reset the stream brings again what it once began with.
    [[nodiscard]] bool begins_anew(const Arrival& data) const;

    /// An old reset, from which the stream is to go on.
    [[nodiscard]] bool begins_anew(const Arrival& reset, const StreamState& stream) const;

    [[nodiscard]] bool has_brought_reset(const Arrival& reset) const {
        return of(reset.source).resets.has(reset.block);
    }

    /// Nothing more need be noted of how the stream begins.
    [[nodiscard]] bool knows_beginning(Stream stream) const {
        return !enabled_ || epochs_.current().repeats ||
               beginnings_[static_cast<std::size_t>(stream)].of_program.full();
    }

    void note_data(const Arrival& data);

    void note_reset(const Arrival& reset) { of(reset.source).resets.note(reset.block); }

    /// A new epoch begins.
    void note_epoch();

  private:
    struct Beginning {
        FirstBlocks of_program;  ///< the first blocks heard
        FirstBlocks of_epoch;    ///< old ones behind the reset: the program started in mid-turn
        FirstBlocks resets;      ///< starts of day and resets
    };

    [[nodiscard]] Beginning& of(Source source) {
        return beginnings_[static_cast<std::size_t>(source)];
    }

    [[nodiscard]] const Beginning& of(Source source) const {
        return beginnings_[static_cast<std::size_t>(source)];
    }

    [[nodiscard]] bool is_numbered_as_reset(const Block& block) const;

    const Sequencer& sequencer_;
    const EpochTracker& epochs_;
    bool enabled_;
    std::array<Beginning, streams_count> beginnings_;
};

}  // namespace pinstrike::feed
