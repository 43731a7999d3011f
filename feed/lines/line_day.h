// path: hot
//
// Whether what a line carries is original data. Behind the end of day, and outside session hours,
// OPRA tests: starts of day that begin no day, and messages that were never quoted or traded (OPRA
// 6 Control, 3.05.6 Block Sequence Number). They are numbered and accounted for like all others,
// but no core is given them.
#pragma once

#include "feed/event/event.h"
#include "feed/lines/session_hours.h"

#include <cstdint>
#include <limits>

namespace pinstrike::feed {

/// One line. Where no hours are known, all that comes is original.
class LineDay {
  public:
    explicit LineDay(const SessionHours& hours) : hours_(&hours) {}

    /// A start of day has come, stamped so. Does it begin a day?
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

    /// The end of day has come, the hours of the next one too, but no start of day since.
    [[nodiscard]] bool start_is_due() const { return start_due_ && open_; }

    /// The end of day has come, stamped so.
    void end(std::int64_t ts_exchange_ns) {
        start_due_ = true;
        if (!hours_->stretches().empty()) {
            close(ts_exchange_ns);
        }
    }

    /// Now and then: with the session's hours the next day begins and ends, though its start or end
    /// was not heard.
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

    /// Has a day begun, and not ended?
    [[nodiscard]] bool open() const { return open_; }

    /// Is what is stamped so, and comes now, original? Where the day has ended, what is from before
    /// its end comes late.
    [[nodiscard]] bool original(std::int64_t ts_exchange_ns) const {
        return open_ || ts_exchange_ns < closed_ts_ns_;
    }

  private:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::min();

    /// What is stamped at that time or later is of no day.
    void close(std::int64_t ts_exchange_ns) {
        if (open_) {
            open_ = false;
            closed_ts_ns_ = ts_exchange_ns;
        }
    }

    const SessionHours* hours_;
    std::int64_t closed_ts_ns_ = never_ns;  ///< of the latest day
    bool open_ = true;
    bool on_air_ = false;     ///< when looked last
    bool start_due_ = false;  // no day ends by the clock alone: it may be set away and back
};

}  // namespace pinstrike::feed
