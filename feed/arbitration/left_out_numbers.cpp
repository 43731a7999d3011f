// path: mixed, cold: set()
#include "feed/arbitration/left_out_numbers.h"

#include <algorithm>
#include <utility>

namespace pinstrike::feed {

// --- cold ---

LeftOutNumbers::~LeftOutNumbers() = default;

void LeftOutNumbers::set(std::vector<LeftOutRange> ranges) {
    ranges_ = std::move(ranges);
    std::ranges::sort(ranges_, {}, &LeftOutRange::first_ts_ns);
}

// --- hot ---

/// Only times distinguish numbers that come again after a reset. Numbers behind a wrap are found
/// when the hole begins there.
PositionRange LeftOutNumbers::find(const Hole& hole) const {
    const Position turn = numbering_.turn_of(hole.begin);
    const Position end = std::min(hole.end, turn + numbering_.last + 1);
    PositionRange found{hole.end, hole.end};
    auto range = std::ranges::lower_bound(ranges_, std::min(hole.ts_before_ns, hole.ts_behind_ns),
                                          {}, &LeftOutRange::first_ts_ns);
    for (; range != ranges_.end() && range->first_ts_ns <= hole.ts_behind_ns; ++range) {
        const Position begin = std::max(hole.begin, turn + range->first);
        const Position behind = std::min(end, turn + range->last + 1);
        if (range->last_ts_ns <= hole.ts_behind_ns && begin < behind && begin < found.begin) {
            found = {begin, behind};
        }
    }
    return found;
}

}  // namespace pinstrike::feed
