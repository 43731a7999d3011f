// path: cold
//
// Open, high, low, close and volume of each series and venue in the intervals of one length.
#pragma once

#include "actors/market/instruments.h"
#include "feed/dbn/records.h"
#include "feed/dbn/schema.h"

#include <cstdint>
#include <map>
#include <vector>

namespace pinstrike::actors {

class Bars {
  public:
    explicit Bars(feed::dbn::Schema schema)
        : schema_(schema), interval_ns_(feed::dbn::interval_ns_of(schema)) {}

    [[nodiscard]] feed::dbn::Schema schema() const { return schema_; }

    /// Adds a trade to the interval of its exchange time. False: that interval was closed already.
    bool add(InstrumentId id, std::uint16_t publisher, std::int64_t exchange_ns, std::int64_t price,
             std::uint32_t size);

    /// The end of the earliest interval that has a trade; the highest value: there is none.
    [[nodiscard]] std::int64_t next_end_ns() const;

    struct Closed {
        std::int64_t end_ns = 0;
        std::vector<feed::dbn::BarRecord> bars;
    };

    /// Closes the earliest interval, which has a trade.
    [[nodiscard]] Closed close_next();

    /// Drops the intervals that are open. Those that were closed stay closed.
    void clear() { open_.clear(); }

    /// Times begin anew.
    void restart() {
        open_.clear();
        closed_ns_ = 0;
    }

  private:
    /// A late message may be older than others of its interval, so the times of the trades decide
    /// which are the first and the last.
    struct Bar {
        feed::dbn::BarRecord record;
        std::int64_t first_ns = 0;  ///< the time of the trade that is the open
        std::int64_t last_ns = 0;   ///< the time of the trade that is the close
    };

    /// By id and publisher.
    using Interval = std::map<std::pair<InstrumentId, std::uint16_t>, Bar>;

    feed::dbn::Schema schema_;
    std::int64_t interval_ns_;
    std::int64_t closed_ns_ = 0;  ///< the end of the latest closed interval
    std::map<std::int64_t, Interval> open_;
};

}  // namespace pinstrike::actors
