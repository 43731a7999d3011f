// path: cold
#include "feed/arbitration/arbiter.h"

#include <algorithm>
#include <utility>

namespace pinstrike::feed {

Arbiter::Arbiter(const ArbitrationConfig& config, const Numbering& numbering)
    : line_(config, numbering), slow_(line_, config) {}

std::size_t Arbiter::memory_bytes(const ArbitrationConfig& config) {
    return sizeof(Arbiter) + Sequencer::memory_bytes(config) + config.hold_bytes;
}

void Arbiter::set_left_out(std::vector<LeftOutRange> ranges) {
    line_.sequencer.held().left_out().set(std::move(ranges));
}

std::vector<Arbiter::NumberRange> Arbiter::gaps() const {
    const Numbering& numbering = line_.sequencer.numbering();
    std::vector<NumberRange> ranges;
    for (const PositionRange& gap : line_.sequencer.gaps().ranges()) {
        for (Position begin = gap.begin; begin < gap.end;) {
            const Position end = std::min(gap.end, numbering.turn_of(begin) + numbering.last + 1);
            ranges.push_back({numbering.number_at(begin), numbering.number_at(end - 1)});
            begin = end;
        }
    }
    return ranges;
}

}  // namespace pinstrike::feed
