// path: cold
//
// The time that a market has reached: that of the events that were read, and without events that of
// the clock.
#pragma once

#include "actors/market/market.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pinstrike::actors {

class MarketTime {
  public:
    explicit MarketTime(Market& market) : market_(market) {}

    /// The feed has started anew: its times may begin anew.
    void begin() { is_fresh_ = true; }

    /// Before Market::apply() of an event that was read at `now_ns`.
    void note(const pinstrike_record& record, std::int64_t now_ns) {
        if (record.receive_ns == 0) {  // series maps of a file have no time
            return;
        }
        const bool is_fresh = std::exchange(is_fresh_, false);
        if (record.receive_ns < event_ns_ - (is_fresh ? 0 : set_back_ns)) {
            market_.restart_time();
            event_ns_ = 0;
        }
        if (record.receive_ns > event_ns_) {
            event_ns_ = record.receive_ns;
            read_ns_ = now_ns;
        }
    }

    /// Closes the intervals that ended. Without events, the time advances with the clock.
    void advance(std::int64_t now_ns) {
        if (event_ns_ != 0) {
            market_ns_ = event_ns_ + std::max<std::int64_t>(now_ns - read_ns_ - quiet_ns, 0);
            market_.advance(market_ns_);
        }
    }

    [[nodiscard]] std::int64_t market_ns() const { return market_ns_; }

  private:
    /// Without events, an interval ends this long after its end by the clock, because events of it
    /// may still arrive.
    static constexpr std::int64_t quiet_ns = 50'000'000;
    /// The clock of the feed's host was set back if an event was received so long before another
    /// one that was read earlier. The events of two cores differ by less.
    static constexpr std::int64_t set_back_ns = 10'000'000'000;

    Market& market_;
    bool is_fresh_ = false;       ///< no event of this start of the feed was read
    std::int64_t event_ns_ = 0;   ///< when the latest event was received
    std::int64_t read_ns_ = 0;    ///< when it was read here
    std::int64_t market_ns_ = 0;  ///< the time that the market has reached
};

}  // namespace pinstrike::actors
