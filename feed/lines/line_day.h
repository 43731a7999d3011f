// path: hot
//
// Tells original messages of a line from tests. After the end of day and outside session hours,
// OPRA sends tests: starts of day that begin no trading day, and messages without real quotes or
// trades (OPRA Control, Block Sequence Number). They are numbered and accounted for like
// all others, but no core gets them.
#pragma once

#include "feed/lines/session_hours.h"

#include <cstdint>
#include <limits>

namespace pinstrike::feed {

/// The trading day of one line. Without session hours, all messages are original.
class LineDay {
  public:
    explicit LineDay(const SessionHours& hours) : hours_(&hours) {}

    /// A start of day has arrived. Returns whether it begins a trading day.
    [[nodiscard]] bool start(std::int64_t ts_exchange_ns, std::int64_t now_ns) {
        const bool begins = hours_->on_air(now_ns);
        if (begins) {
            open_ = true;
            start_due_ = false;
        } else {
            close(ts_exchange_ns);
        }
        return begins;
    }

    /// The end of day has arrived and the next session hours have begun, but no start of day has
    /// arrived since.
    [[nodiscard]] bool start_is_due() const { return start_due_ && open_; }

    /// The end of day has arrived.
    void end(std::int64_t ts_exchange_ns) {
        start_due_ = true;
        if (!hours_->stretches().empty()) {
            close(ts_exchange_ns);
        }
    }

    /// Called periodically: begins and ends the day by the session hours, in case its start or end
    /// of day was lost.
    void look(std::int64_t now_ns) {
        const bool on_air = hours_->on_air(now_ns);
        if (on_air && !on_air_) {
            open_ = true;
        } else if (!on_air) {
            close(on_air_ ? now_ns : never_ns);
        }
        on_air_ = on_air;
    }

    [[nodiscard]] const SessionHours& hours() const { return *hours_; }

    /// A trading day has begun and not ended.
    [[nodiscard]] bool open() const { return open_; }

    /// Whether a message with this time stamp that arrives now is original. After the end of the
    /// day, a message stamped before the end is original too: it is only late.
    [[nodiscard]] bool original(std::int64_t ts_exchange_ns) const {
        return open_ || ts_exchange_ns < closed_ts_ns_;
    }

  private:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::min();

    /// Messages stamped at that time or later are tests.
    void close(std::int64_t ts_exchange_ns) {
        if (open_) {
            open_ = false;
            closed_ts_ns_ = ts_exchange_ns;
        }
    }

    const SessionHours* hours_;
    std::int64_t closed_ts_ns_ = never_ns;  ///< of the latest day
    bool open_ = true;
    bool on_air_ = false;  ///< at the last look()
    /// Set by the end of day only, because the wall clock may be set away and back.
    bool start_due_ = false;
};

}  // namespace pinstrike::feed
