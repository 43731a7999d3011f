// path: hot
//
// Detects captures that are played in a loop. No exchange does that, but a benchmark or a replay
// may, and only if the config allows it. A loop repeats its block times. A new turn begins when a
// stream, after data, delivers a reset that it delivered before. If the capture ends with a reset,
// a new turn begins when, after that reset, the stream delivers its first blocks again, stamped
// earlier and numbered as the reset said.
#pragma once

#include "config/check.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/epoch_tracker.h"
#include "feed/arbitration/first_blocks.h"
#include "feed/arbitration/sequencer.h"
#include "feed/arbitration/stream_state.h"
#include "feed/event/block.h"

#include <array>
#include <cstddef>

namespace pinstrike::feed {

/// Knows how the capture of each stream begins.
class LoopDetector {
  public:
    LoopDetector(const Sequencer& sequencer, const EpochTracker& epochs, bool enabled)
        : sequencer_(sequencer), epochs_(epochs), enabled_(enabled) {}

    /// Whether a data block repeats a first block of its stream after a reset.
    [[nodiscard]] bool begins_anew(const Arrival& data) const;

    /// Whether an old reset begins a new turn of its stream.
    [[nodiscard]] bool begins_anew(const Arrival& reset, const StreamState& stream) const;

    [[nodiscard]] bool has_brought_reset(const Arrival& reset) const {
        return of(reset.source).resets.has(reset.block);
    }

    /// Whether enough is known of how the stream's capture begins.
    [[nodiscard]] bool knows_beginning(Stream stream) const {
        return !enabled_ || epochs_.current().repeats ||
               beginnings_[static_cast<std::size_t>(stream)].of_program.full();
    }

    void note_data(const Arrival& data);

    void note_reset(const Arrival& reset) { of(reset.source).resets.note(reset.block); }

    /// Must be called when a new epoch begins.
    void note_epoch();

  private:
    struct Beginning {
        FirstBlocks of_program;  ///< the first blocks received
        FirstBlocks of_epoch;    ///< old blocks after the reset, if the program started in mid-turn
        FirstBlocks resets;      ///< starts of day and resets
    };

    [[nodiscard]] Beginning& of(Source source) {
        PINSTRIKE_CHECK(source != Source::repair);  // a repair is no part of a stream
        return beginnings_[static_cast<std::size_t>(source)];
    }

    [[nodiscard]] const Beginning& of(Source source) const {
        PINSTRIKE_CHECK(source != Source::repair);
        return beginnings_[static_cast<std::size_t>(source)];
    }

    [[nodiscard]] bool is_numbered_as_reset(const Block& block) const;

    const Sequencer& sequencer_;
    const EpochTracker& epochs_;
    bool enabled_;
    std::array<Beginning, streams_count> beginnings_;
};

}  // namespace pinstrike::feed
