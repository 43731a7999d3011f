// path: hot
#pragma once

#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pinstrike::feed {

/// Positions begin .. end-1. It has no initialisers, so that an array of ranges takes only address
/// space until it is used.
struct PositionRange {
    Position begin;
    Position end;
};

/// The positions that were declared lost and not found since, as ordered ranges that neither
/// overlap nor adjoin. Allocates at construction only.
class GapSet {
  public:
    explicit GapSet(std::size_t ranges_max);

    /// The memory of a set for so many ranges.
    [[nodiscard]] static std::size_t memory_bytes(std::size_t ranges_max) {
        return ranges_max * sizeof(PositionRange);
    }

    /// Adds a range that overlaps no listed one. False: the range was not listed, because it
    /// adjoins none and the set is full.
    bool add(Position begin, Position end);

    /// Removes a part of one listed range. False: nothing was changed, because two ranges would be
    /// left and the set is full.
    bool remove(Position begin, Position end);

    /// Removes the first ranges, which are the oldest, but none that ends after `limit`, and at
    /// most an eighth of the capacity. `positions`: how many positions they held. Returns the range
    /// that they spanned; empty: none was removed.
    PositionRange drop_oldest(Position limit, std::uint64_t& positions);

    /// The first range that ends after `position`, and so may hold it; nullptr: there is none.
    [[nodiscard]] const PositionRange* find(Position position) const;

    [[nodiscard]] bool touches(Position begin, Position end) const {
        const PositionRange* range = find(begin);
        return range != nullptr && range->begin < end;
    }

    /// Whether one listed range covers these positions.
    [[nodiscard]] bool holds(Position begin, Position end) const {
        const PositionRange* range = find(begin);
        return range != nullptr && range->begin <= begin && end <= range->end;
    }

    [[nodiscard]] std::span<const PositionRange> ranges() const { return {ranges_.get(), count_}; }

  private:
    void open_slot(std::size_t index);
    void close_slot(std::size_t index);

    std::unique_ptr<PositionRange[]> ranges_;
    std::size_t count_ = 0;
    std::size_t max_;
};

}  // namespace pinstrike::feed
