// path: cold
//
// Which records belong to a replay.
#pragma once

#include "actors/gateway/protocol.h"
#include "actors/gateway/replay_frames.h"
#include "actors/gateway/subscriptions.h"
#include "actors/market/market.h"
#include "feed/dbn/schema.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::actors::gateway {

class ReplaySelection {
  public:
    /// Both must outlive the object.
    ReplaySelection(Market& market, Subscriptions& subscriptions)
        : market_(market), subscriptions_(subscriptions) {}

    /// Adds a request. Of several ones of a schema, the earliest start counts for all.
    void add(const Request& request);

    /// What a replay has to bring.
    [[nodiscard]] std::vector<ReplayWanted> wanted() const;

    [[nodiscard]] bool has(feed::dbn::Schema schema) const {
        return of(schema).start_ns.has_value();
    }

    /// Whether records of a known series belong to the replay.
    [[nodiscard]] bool has(feed::dbn::Schema schema, InstrumentId id);

    /// Subscriptions have changed.
    void look_again();

  private:
    struct OfSchema {
        std::optional<std::int64_t> start_ns;  ///< nullopt: nothing is replayed
        NamedSeries series;
        std::vector<std::uint8_t> known;  ///< by id: 1 it belongs to it, 2 it does not
    };

    [[nodiscard]] const OfSchema& of(feed::dbn::Schema schema) const {
        return by_schema_[static_cast<std::size_t>(schema)];
    }

    Market& market_;
    Subscriptions& subscriptions_;
    std::array<OfSchema, feed::dbn::schemas_count> by_schema_;
};

}  // namespace pinstrike::actors::gateway
