// path: hot
#pragma once

#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pinstrike::feed {

/// Positions begin .. end-1. Without initialisers: an array of them costs address space only until
/// it is used.
struct PositionRange {
    Position begin;
    Position end;
};

/// The positions declared lost and not found since: disjoint ranges in order, never adjacent.
/// Its memory is claimed at construction.
class GapSet {
  public:
    explicit GapSet(std::size_t ranges_max);

    /// Of a set for so many.
    [[nodiscard]] static std::size_t memory_bytes(std::size_t ranges_max) {
        return ranges_max * sizeof(PositionRange);
    }

    /// Adds a range that overlaps none. False if it neither touches a known one nor finds room: it
    /// is then not listed.
    bool add(Position begin, Position end);

    /// Takes out a part of one listed range. False if the rest would be two ranges and there is no
    /// room for the second: then nothing changed.
    bool remove(Position begin, Position end);

    /// Takes out the first ranges, which are the oldest, but none that ends behind `limit` and no
    /// more than an eighth of all there is room for. What they spanned; empty: there was none.
    PositionRange drop_oldest(Position limit, std::uint64_t& positions);

    /// The first range that ends behind `position` (and so may hold it); nullptr if there is none.
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
