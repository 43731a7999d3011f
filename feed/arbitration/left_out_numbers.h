// path: hot
//
// The numbers of a line that a cut of a recording left out. Only replays of such cuts have them.
#pragma once

#include "config/counter.h"
#include "feed/arbitration/gap_set.h"
#include "feed/event/left_out_range.h"
#include "feed/event/position.h"

#include <cstdint>
#include <vector>

namespace pinstrike::feed {

/// Positions that did not come, and the times of the blocks before and behind them.
struct Hole {
    Position begin;
    Position end;
    std::int64_t ts_before_ns;
    std::int64_t ts_behind_ns;
};

class LeftOutNumbers {
  public:
    explicit LeftOutNumbers(const Numbering& numbering) : numbering_(numbering) {}

    /// Not inline, because inlining it would make the compiler inline less of the poller's fast
    /// path.
    ~LeftOutNumbers();

    LeftOutNumbers(const LeftOutNumbers&) = delete;
    LeftOutNumbers& operator=(const LeftOutNumbers&) = delete;

    /// Cold. Without this call there are none.
    void set(std::vector<LeftOutRange> ranges);

    [[nodiscard]] bool empty() const { return ranges_.empty(); }

    /// The first positions of the hole that were left out; nothing at its end if there are none.
    [[nodiscard]] PositionRange first_in(const Hole& hole) const {
        return empty() ? PositionRange{hole.end, hole.end} : find(hole);
    }

    /// Counts the positions at the beginning of the hole that were left out, and returns the
    /// position behind them.
    Position pass(Hole hole) {
        while (!empty() && hole.begin < hole.end) {
            const PositionRange numbers = find(hole);
            if (numbers.begin != hole.begin) {
                break;
            }
            count_.add(numbers.end - numbers.begin);
            hole.begin = numbers.end;
        }
        return hole.begin;
    }

    /// The positions that pass() counted.
    [[nodiscard]] const Counter& count() const { return count_; }

  private:
    [[nodiscard]] PositionRange find(const Hole& hole) const;

    Numbering numbering_;
    std::vector<LeftOutRange> ranges_;  ///< by their earliest times
    Counter count_;
};

}  // namespace pinstrike::feed
