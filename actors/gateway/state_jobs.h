// path: cold
//
// State that a client is to get, sent at the pace at which it reads: series by series, in the order
// of their ids, schema by schema.
#pragma once

#include "actors/gateway/subscriptions.h"
#include "feed/dbn/schema.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace pinstrike::actors::gateway {

class StateJobs {
  public:
    using Send = std::function<void(feed::dbn::Schema, InstrumentId)>;

    /// Adds series, of `everything` those below `end`. `replays`: the client asked by `start`, and
    /// the end is reported to it.
    void add(feed::dbn::Schema schema, const Selection& selection, InstrumentId end, bool replays);
    void add(feed::dbn::Schema schema, InstrumentId id);

    /// Drops series of a schema.
    void remove(feed::dbn::Schema schema, const Selection& selection);

    [[nodiscard]] bool empty() const { return waiting_ == 0; }

    /// Whether a replay of the schema has not been reported as complete.
    [[nodiscard]] bool replays(feed::dbn::Schema schema) const { return job(schema).replays != 0; }

    /// True, once, if the state of this series is still to come: it has to be sent before a record
    /// of the series.
    [[nodiscard]] bool take_early(feed::dbn::Schema schema, InstrumentId id);

    /// Sends the state of up to `series_max` series of one schema. Returns the schema of a replay
    /// that was completed.
    std::optional<feed::dbn::Schema> work(std::size_t series_max, const Send& send);

    void clear();

  private:
    struct Job {
        std::vector<bool> wanted;  ///< by id
        std::size_t left = 0;      ///< bits that are set
        std::size_t next = 0;      ///< the id at which the search continues
        std::size_t replays = 0;   ///< that were asked for and not completed
    };

    [[nodiscard]] Job& job(feed::dbn::Schema schema) {
        return jobs_[static_cast<std::size_t>(schema)];
    }

    [[nodiscard]] const Job& job(feed::dbn::Schema schema) const {
        return jobs_[static_cast<std::size_t>(schema)];
    }

    void add_all(feed::dbn::Schema schema, InstrumentId end);
    void drop(Job& job, InstrumentId id);

    std::array<Job, feed::dbn::schemas_count> jobs_;
    std::size_t turn_ = 0;     ///< the schema whose turn it is
    std::size_t waiting_ = 0;  ///< series and replays of all jobs
};

}  // namespace pinstrike::actors::gateway
