// path: cold
//
// An actor that makes records from the events of a replay, in the same way as a gateway. As a
// reader of published memory does, it keeps the best of each series by the events
// (reader::Follower), and a Market makes the records. It needs no published memory, and it must
// have all events of the replay, so its core is the only one.
//
// A replay that begins with a snapshot brings the state of the series first. A book takes it
// (beginning_state.h), and the records begin with the first batch that has an event of `from_ns` or
// later: the packets of that time are held back until the book has all of the snapshot.
#pragma once

#include "actors/book/book_config.h"
#include "actors/core/actor.h"
#include "actors/export/beginning_state.h"
#include "actors/market/market.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/follower.h"
#include "actors/publish/stamp.h"
#include "config/counter.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// A replay that begins with a snapshot.
struct SnapshotBeginning {
    BookConfig book;
    std::int64_t from_ns = 0;  ///< the packets from here on make records
};

class MarketActor : public Actor {
  public:
    /// `underlyings`: symbols; none: all.
    MarketActor(std::vector<std::string> underlyings,
                const std::optional<SnapshotBeginning>& beginning);

    [[nodiscard]] Interest interest() const override;

    /// It waits for its output.
    [[nodiscard]] bool is_offline() const override { return true; }

    [[nodiscard]] std::vector<AccountRow> account_rows() const override;
    [[nodiscard]] std::vector<std::string> remarks() const override;

    /// Messages that made no record, because their series have no id.
    [[nodiscard]] std::uint64_t refused() const { return refused_.read(); }

    static constexpr std::string_view refused_text =
        "at most 16,000,000 series have an id, and theirs have none";
    static_assert(instruments_max == 16'000'000);

    bool join_transfer(bool takes, StateRings& rings) override;
    void on_start(const CoreInfo& core) override;
    void on_events(EventBatch batch) override;
    void on_timer(std::int64_t now_ns) override;
    std::size_t on_idle() override;

  protected:
    /// A series got its id, before its first record.
    virtual void series_added(const pinstrike_key& key) = 0;

    [[nodiscard]] Market& market() { return market_; }

    /// The event that is being applied; null: none, such as at the end.
    [[nodiscard]] const feed::Event* event() const { return event_; }

  private:
    [[nodiscard]] bool begins_with(EventBatch batch) const;
    void begin();
    void begin_series(const feed::SeriesKey& key, const reader::SeriesParts& parts);
    void apply_all(EventBatch batch);
    void apply(const feed::Event& event, std::uint64_t hash, std::uint64_t stamp);
    void apply_to_series(const feed::Event& event, std::uint64_t hash, std::uint64_t stamp);
    [[nodiscard]] reader::FollowedSeries* series_of(const feed::Event& event, std::uint64_t hash);
    [[nodiscard]] reader::FollowedSeries* add_series(const feed::SeriesKey& key, std::uint64_t hash,
                                                     InstrumentId id);
    [[nodiscard]] InstrumentId new_id(const feed::Event& event);

    std::vector<std::string> underlyings_;
    std::unique_ptr<BeginningState> state_;  ///< null: the records have begun
    std::int64_t from_ns_ = 0;               ///< where they begin
    StampClock clock_;
    reader::Follower follower_;
    Market market_;
    pinstrike_record quote_{};  ///< the latest quote; only what a quote has is written again
    const feed::Event* event_ = nullptr;
    InstrumentId next_id_ = 1;
    std::uint64_t series_count_ = 0;
    Counter refused_;
};

}  // namespace pinstrike::actors
