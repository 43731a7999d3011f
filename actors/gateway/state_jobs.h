// path: cold
//
// State that a client asked for, sent at the pace at which it reads: series by series.
#pragma once

#include "actors/gateway/subscriptions.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway {

class StateJobs {
  public:
    using Send = std::function<void(feed::dbn::Schema, InstrumentId)>;

    /// `replays`: the client asked by `start`, and the end is reported to it.
    void add(feed::dbn::Schema schema, Selection selection, bool replays);

    [[nodiscard]] bool empty() const { return jobs_.empty(); }

    /// True, once, if the state of this series is still to come: it has to be sent before a record
    /// of the series.
    [[nodiscard]] bool take_early(feed::dbn::Schema schema, InstrumentId id);

    /// Sends the state of up to `series_max` series below `end`. Returns the schema of a replay
    /// that was completed.
    std::optional<feed::dbn::Schema> work(std::size_t series_max, InstrumentId end,
                                          const Send& send);

    void clear() { jobs_.clear(); }

  private:
    struct Job {
        feed::dbn::Schema schema;
        Selection selection;
        bool replays;
        std::size_t next = 0;  ///< index into the ids, or an id if it is everything
        std::unordered_set<InstrumentId> early;

        [[nodiscard]] bool is_to_come(InstrumentId id) const;
    };

    std::deque<Job> jobs_;
};

}  // namespace pinstrike::actors::gateway
