// path: cold
//
// What an actor reports to metrics, account and state exchange, which know actors by this interface
// alone. An actor without anything to report overrides nothing.
#pragma once

#include "config/rows.h"
#include "feed/event/series_key.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

struct StateRings;

/// A table of figures that actors publish as metrics. Each metric is named
/// pinstrike_<subject>_<name>_<unit>, without the unit if the name contains it; the name of a
/// counter ends in _total.
struct ActorTable {
    std::string_view of;       ///< owner of the figures, for texts: "a book"
    std::string_view subject;  ///< "book"
    std::span<const Row> rows;
    bool gauges = false;  ///< gauges, which may fall; else counters
};

struct ActorFigures {
    ActorTable table;
    std::vector<std::uint64_t> values;  ///< by row
};

/// One of the series with the most quotes. The prices are in units of 1e-8; nullopt: there is none.
struct RankedSeries {
    feed::SeriesKey key;
    std::uint64_t quotes = 0;  ///< since the start of day
    std::optional<std::int64_t> bid_e8;
    std::optional<std::int64_t> offer_e8;
};

/// A figure in the account of the actor's core, with its JSON key.
using AccountRow = std::pair<std::string_view, std::uint64_t>;

class ActorReport {
  public:
    virtual ~ActorReport() = default;

    /// The values of its kind's tables. Called by any thread, at any time.
    [[nodiscard]] virtual std::vector<ActorFigures> figures() const { return {}; }

    /// The values of its kind's account rows; those of a core's actors are added up. Called after
    /// on_stop.
    [[nodiscard]] virtual std::vector<AccountRow> account_rows() const { return {}; }

    /// Remarks for an operator, in sentences. Called by any thread.
    [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }

    /// Its most quoted series, in no particular order. Called by any thread, at any time.
    [[nodiscard]] virtual std::vector<RankedSeries> busiest() const { return {}; }

    /// Takes over the rings (actors/core/state_record.h) for the exchange of state with
    /// peers, before on_start. If `takes`, the recovery thread requests a peer's state at the start
    /// and sends it through them. False: the actor has no such state and leaves the rings.
    virtual bool join_transfer(bool /*takes*/, StateRings& /*rings*/) { return false; }

  protected:
    ActorReport() = default;
    ActorReport(const ActorReport&) = delete;
    ActorReport& operator=(const ActorReport&) = delete;
};

}  // namespace pinstrike::actors
