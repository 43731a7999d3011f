// path: hot
#include "feed/arbitration/loop_detector.h"

#include "feed/arbitration/position.h"

#include <cstdint>

namespace pinstrike::feed {

namespace {

/// How far from E the first block of a repeated capture may be: those before it may be lost.
constexpr std::uint64_t repeat_messages = 256;

}  // namespace

/// Stamped before the reset, yet numbered as it said.
bool LoopDetector::is_numbered_as_reset(const Block& block) const {
    const Epoch& current = epochs_.current();
    if (!current.by_reset || block.role != BlockRole::data ||
        !EpochTracker::precedes(block, current)) {
        return false;
    }
    const Position expected = sequencer_.expected();
    const Position begin = nearest(expected, block.sequence);
    return begin >= expected && begin - expected <= repeat_messages;
}

void LoopDetector::note_data(const Arrival& arrival, const StreamState& stream) {
    Beginning& beginning = of(arrival.source);
    if (epochs_.is_current(stream.epoch) && is_numbered_as_reset(arrival.block)) {
        beginning.behind_reset.note(arrival.block);
    } else {
        beginning.known.note(arrival.block);
    }
}

void LoopDetector::note_epoch() {
    for (Beginning& beginning : beginnings_) {
        beginning.behind_reset.clear();
    }
}

void LoopDetector::note_repeated_reset(Source source) {
    Beginning& beginning = of(source);
    if (!beginning.behind_reset.empty()) {
        beginning.known = beginning.behind_reset;
        beginning.behind_reset.clear();
    }
}

}  // namespace pinstrike::feed
