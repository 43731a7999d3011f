// path: hot
//
// How far a line has come: what a core is told now and then, which gets a share of the line's
// messages alone.
#pragma once

#include "feed/arbitration/arbiter.h"
#include "feed/event/event.h"
#include "feed/lines/line_day.h"

#include <cstdint>
#include <limits>

namespace pinstrike::actors {

/// Of one line. Of tests, which no core is given, none learns a number either.
class LineMarker {
  public:
    /// Number and stamp of what was delivered last; false: there is nothing to tell.
    [[nodiscard]] bool look(const feed::Arbiter& arbiter, const feed::LineDay& day,
                            feed::Header& into) {
        const std::int64_t reached_ts_ns = arbiter.reached_ts_ns();
        if (!day.open()) {
            tests_ts_ns_ = reached_ts_ns;
            return false;
        }
        const std::uint64_t expected = arbiter.expected();
        into.set_number(expected - 1);
        into.ts_exchange_ns = reached_ts_ns;
        return expected != 0 && reached_ts_ns > tests_ts_ns_;
    }

  private:
    /// How far it came while no core was given any of it: the hours of a day may begin before the
    /// day does.
    std::int64_t tests_ts_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace pinstrike::actors
