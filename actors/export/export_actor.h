// path: cold
//
// The actor of an export: makes the records of one schema from the events of a replay, in the same
// way as a gateway. As a reader of published memory does, it keeps the best of each series by the
// events (reader::Follower), and a Market makes the records. It needs no book and no published
// memory, and it must have all events of the replay, so its core is the only one.
#pragma once

#include "actors/core/actor.h"
#include "actors/export/record_blocks.h"
#include "actors/market/market.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/follower.h"
#include "actors/publish/stamp.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

class ExportActor final : public Actor, private RecordReceiver {
  public:
    /// `underlyings`: symbols; none: all. `started`: called on the core's thread before the first
    /// event.
    ExportActor(feed::dbn::Schema schema, std::vector<std::string> underlyings, BlockQueue& blocks,
                std::function<void()> started);

    [[nodiscard]] std::string_view name() const override { return "export"; }

    [[nodiscard]] Interest interest() const override;

    /// It waits for the disk.
    [[nodiscard]] bool is_offline() const override { return true; }

    [[nodiscard]] std::vector<AccountRow> account_rows() const override;

    void on_start(const CoreInfo& core) override;
    void on_events(EventBatch batch) override;
    void on_stop() override;

  private:
    void receive(feed::dbn::Schema schema, InstrumentId id,
                 std::span<const std::byte> record) override;

    void interval_ended(feed::dbn::Schema /*schema*/, std::int64_t /*end_ns*/) override {}

    void apply(const feed::Event& event, std::uint64_t hash, std::uint64_t stamp);
    void apply_to_series(const feed::Event& event, std::uint64_t hash, std::uint64_t stamp);
    [[nodiscard]] reader::FollowedSeries* series_of(const feed::Event& event, std::uint64_t hash);
    [[nodiscard]] InstrumentId new_id(const feed::Event& event);

    feed::dbn::Schema schema_;
    std::vector<std::string> underlyings_;
    BlockQueue& blocks_;
    std::function<void()> started_;
    RecordBlock block_;
    StampClock clock_;
    reader::Follower follower_;
    Market market_;
    pinstrike_record quote_{};  ///< the latest quote; only what a quote has is written again
    InstrumentId next_id_ = 1;
    std::uint64_t series_count_ = 0;
};

}  // namespace pinstrike::actors
