// path: hot
//
// Whether what a line carries is original data. Behind the end of day, and outside session hours,
// OPRA tests: starts of day that begin no day, and messages that were never quoted or traded
// (spec c.6, e). They are numbered and accounted for like all others, but no core is given them.
#pragma once

#include "feed/event.h"
#include "feed/session_hours.h"

#include <cstdint>

namespace pinstrike::feed {

/// One line. Where no hours are known, all that comes is original.
class LineDay {
  public:
    explicit LineDay(const SessionHours& hours) : hours_(&hours) {}

    /// A start of day has come. Does it begin a day?
    [[nodiscard]] bool start(std::int64_t now_ns) {
        const bool begins = hours_->on_air(now_ns);
        phase_ = begins ? Phase::open : Phase::testing;
        start_due_ = start_due_ && !begins;
        return begins;
    }

    /// The end of day has come, the hours of the next one too, but no start of day since.
    [[nodiscard]] bool start_is_due() const { return start_due_ && phase_ == Phase::open; }

    /// The end of day has come.
    void end() {
        start_due_ = true;
        close();
    }

    /// Now and then: with the session's hours the next day begins and ends, though its start or end
    /// was not heard.
    void look(std::int64_t now_ns) {
        const bool on_air = hours_->on_air(now_ns);
        if (on_air && !on_air_) {
            phase_ = Phase::open;
        } else if (!on_air && phase_ == Phase::open) {
            close();
        }
        on_air_ = on_air;
    }

    [[nodiscard]] const SessionHours& hours() const { return *hours_; }

    /// Are messages delivered with these EventFlag bits original? What comes late is of the day
    /// that has ended.
    [[nodiscard]] bool original(std::uint8_t flags) const {
        return phase_ == Phase::open || (phase_ == Phase::ended && (flags & flag_late) != 0);
    }

  private:
    enum class Phase : std::uint8_t { open, ended, testing };

    void close() {
        if (!hours_->stretches().empty()) {
            phase_ = Phase::ended;
        }
    }

    const SessionHours* hours_;
    Phase phase_ = Phase::open;
    bool on_air_ = true;
    bool start_due_ = false;  // no day ends by the clock alone: it may be set away and back
};

}  // namespace pinstrike::feed
