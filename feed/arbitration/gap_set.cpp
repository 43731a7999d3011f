// path: mixed, cold: construction
#include "feed/arbitration/gap_set.h"

#include "config/check.h"

#include <algorithm>

namespace pinstrike::feed {

// --- cold ---

GapSet::GapSet(std::size_t ranges_max)
    : ranges_(new PositionRange[std::max<std::size_t>(ranges_max, 1)]),
      max_(std::max<std::size_t>(ranges_max, 1)) {}

// --- hot ---

const PositionRange* GapSet::find(Position position) const {
    const PositionRange* first = ranges_.get();
    const PositionRange* last = first + count_;
    const PositionRange* found =
        std::upper_bound(first, last, position,
                         [](Position p, const PositionRange& range) { return p < range.end; });
    return found == last ? nullptr : found;
}

bool GapSet::add(Position begin, Position end) {
    const PositionRange* behind = find(begin);
    const std::size_t index =
        behind == nullptr ? count_ : static_cast<std::size_t>(behind - ranges_.get());
    PINSTRIKE_CHECK(index == count_ || ranges_[index].begin >= end);
    const bool joins_before = index > 0 && ranges_[index - 1].end == begin;
    const bool joins_behind = index < count_ && ranges_[index].begin == end;
    if (joins_before && joins_behind) {
        ranges_[index - 1].end = ranges_[index].end;
        close_slot(index);
    } else if (joins_before) {
        ranges_[index - 1].end = end;
    } else if (joins_behind) {
        ranges_[index].begin = begin;
    } else if (count_ < max_) {
        open_slot(index);
        ranges_[index] = {begin, end};
    } else {
        return false;
    }
    return true;
}

bool GapSet::remove(Position begin, Position end) {
    const PositionRange* found = find(begin);
    PINSTRIKE_CHECK(found != nullptr && found->begin <= begin && end <= found->end);
    const auto index = static_cast<std::size_t>(found - ranges_.get());
    PositionRange& range = ranges_[index];
    if (range.begin == begin && range.end == end) {
        close_slot(index);
    } else if (range.begin == begin) {
        range.begin = end;
    } else if (range.end == end) {
        range.end = begin;
    } else if (count_ < max_) {
        open_slot(index);
        ranges_[index + 1].begin = end;
        ranges_[index].end = begin;
    } else {
        return false;
    }
    return true;
}

PositionRange GapSet::drop_oldest(Position limit, std::uint64_t& positions) {
    const std::size_t most = std::min(count_, std::max<std::size_t>(max_ / 8, 1));
    std::size_t gone = 0;
    positions = 0;
    for (; gone < most && ranges_[gone].end <= limit; ++gone) {
        positions += ranges_[gone].end - ranges_[gone].begin;
    }
    if (gone == 0) {
        return {limit, limit};
    }
    const PositionRange spanned{ranges_[0].begin, ranges_[gone - 1].end};
    std::copy(ranges_.get() + gone, ranges_.get() + count_, ranges_.get());
    count_ -= gone;
    return spanned;
}

/// Duplicates the range at `index`, or adds a slot after the last one. Later ranges move up.
void GapSet::open_slot(std::size_t index) {
    PositionRange* last = ranges_.get() + count_;
    ++count_;
    std::copy_backward(ranges_.get() + index, last, last + 1);
}

void GapSet::close_slot(std::size_t index) {
    PositionRange* last = ranges_.get() + count_;
    std::copy(ranges_.get() + index + 1, last, ranges_.get() + index);
    --count_;
}

}  // namespace pinstrike::feed
