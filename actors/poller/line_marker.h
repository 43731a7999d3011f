// path: hot
//
// Makes the marks that show each core how far a line has come. A core gets only its share of the
// line's messages, so it cannot know this from the messages.
#pragma once

#include "config/counter.h"
#include "feed/arbitration/arbiter.h"
#include "feed/event/event.h"
#include "feed/lines/line_day.h"

#include <cstdint>
#include <limits>

namespace pinstrike::actors {

/// For one line. Data of tests is delivered to no core, so no mark counts it.
class LineMarker {
  public:
    /// Writes to `into` the last number that was delivered or declared lost, the block time
    /// reached, and the first number. False: there is nothing to report.
    [[nodiscard]] bool look(feed::Arbiter& arbiter, const feed::LineDay& day, feed::Event& into) {
        const std::int64_t reached_ts_ns = arbiter.reached_ts_ns();
        if (!day.open()) {
            tests_ts_ns_ = reached_ts_ns;
            return false;
        }
        const std::uint64_t expected = arbiter.expected();
        into.header.set_number(expected - 1);
        into.header.ts_exchange_ns = reached_ts_ns;
        // All numbers from the first one on were delivered or declared lost.
        const feed::LineCounters& counts = arbiter.counters();
        const std::uint64_t first =
            expected - counts.read(feed::LineCount::delivered) - counts.read(feed::LineCount::lost);
        into.body.line_mark.first = first;
        if (expected == 0 || reached_ts_ns <= tests_ts_ns_) {
            return false;
        }
        if (first_.read() == 0 && first <= expected) {
            first_.set(first);
        }
        return true;
    }

    /// The number of the first message since the start; 0: not known yet. Any thread may call it.
    [[nodiscard]] std::uint64_t first() const { return first_.read(); }

  private:
    Counter first_;
    /// The block time reached while no data went to the cores. The session hours may begin before
    /// the start of day.
    std::int64_t tests_ts_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace pinstrike::actors
