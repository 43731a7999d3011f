// path: cold
//
// The actor of an export: the records of one schema, in blocks for the thread that writes them.
#pragma once

#include "actors/export/market_actor.h"
#include "actors/export/record_blocks.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// The times of the records that are wanted, by record_time_at(). A record without a time is not.
struct RecordTimes {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = std::numeric_limits<std::uint64_t>::max();  ///< not included
};

struct ExportWanted {
    feed::dbn::Schema schema = feed::dbn::Schema::cmbp_1;
    std::vector<std::string> underlyings;        ///< symbols; none: all
    std::optional<RecordTimes> times;            ///< nullopt: all
    std::optional<SnapshotBeginning> beginning;  ///< nullopt: the replay has no snapshot
};

class ExportActor final : public MarketActor, private RecordReceiver {
  public:
    /// `started`: called on the core's thread before the first event.
    ExportActor(ExportWanted wanted, BlockQueue& blocks, std::function<void()> started);

    [[nodiscard]] std::string_view name() const override { return "export"; }

    void on_start(const CoreInfo& core) override;
    void on_stop() override;

  private:
    void series_added(const pinstrike_key& key) override { block_.series.push_back(key); }

    void receive(feed::dbn::Schema schema, InstrumentId id,
                 std::span<const std::byte> record) override;

    void interval_ended(feed::dbn::Schema /*schema*/, std::int64_t /*end_ns*/) override {}

    feed::dbn::Schema schema_;
    std::optional<RecordTimes> times_;
    std::size_t time_at_;
    BlockQueue& blocks_;
    std::function<void()> started_;
    RecordBlock block_;
};

}  // namespace pinstrike::actors
