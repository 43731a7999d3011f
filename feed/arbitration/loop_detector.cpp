// path: hot
#include "feed/arbitration/loop_detector.h"

#include "feed/event/position.h"

#include <cstdint>

namespace pinstrike::feed {

namespace {

/// How far the first block of a repeated capture may be from the expected number: blocks before it
/// may be lost.
constexpr std::uint64_t repeat_messages = 256;

}  // namespace

bool LoopDetector::begins_anew(const Arrival& data) const {
    const Beginning& beginning = of(data.source);
    return enabled_ && is_numbered_as_reset(data.block) &&
           (beginning.of_program.has(data.block) || beginning.of_epoch.has(data.block));
}

bool LoopDetector::begins_anew(const Arrival& reset, const StreamState& stream) const {
    return enabled_ && epochs_.is_current(stream.epoch) && stream.has_data() &&
           stream.next_number != number_of(reset.block, sequencer_.numbering());
}

/// Whether a block is stamped before the reset and numbered as the reset said.
bool LoopDetector::is_numbered_as_reset(const Block& block) const {
    const Epoch& current = epochs_.current();
    if (!current.by_reset || block.role != BlockRole::data ||
        !EpochTracker::precedes(block, current)) {
        return false;
    }
    const Position expected = sequencer_.expected();
    const Position begin = sequencer_.numbering().nearest(expected, block.sequence);
    return begin >= expected && begin - expected <= repeat_messages;
}

void LoopDetector::note_data(const Arrival& data) {
    Beginning& beginning = of(data.source);
    if (is_numbered_as_reset(data.block)) {
        beginning.of_epoch.note(data.block);
    } else {
        beginning.of_program.note(data.block);
    }
}

void LoopDetector::note_epoch() {
    for (Beginning& beginning : beginnings_) {
        beginning.of_epoch.clear();
    }
}

}  // namespace pinstrike::feed
