// path: cold
//
// The actor of a replay for a client of a gateway: writes the records that the client wants as
// frames (actors/gateway/replay_frames.h) into a pipe, and goes on with the recording until nobody
// reads it. It may block in a write, so the client's reading sets the pace.
#pragma once

#include "actors/export/market_actor.h"
#include "actors/gateway/replay_frames.h"
#include "feed/dbn/schema.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors {

class ReplayActor final : public MarketActor, private RecordReceiver {
  public:
    /// False: nobody reads any more.
    using Write = std::function<bool(std::span<const std::byte>)>;

    /// `complete_ns`: all packets of the recording before this time are on their way to the actor.
    ReplayActor(const std::vector<gateway::ReplayWanted>& wanted,
                const std::optional<SnapshotBeginning>& beginning,
                std::shared_ptr<const std::atomic<std::int64_t>> complete_ns, Write write);

    [[nodiscard]] std::string_view name() const override { return "replay"; }

    void on_events(EventBatch batch) override;
    void on_timer(std::int64_t now_ns) override;

    /// Whether somebody reads. Any thread; relaxed order is enough for a request to end.
    [[nodiscard]] bool is_read() const { return is_read_.load(std::memory_order_relaxed); }

  private:
    void series_added(const pinstrike_key& /*key*/) override {}

    void receive(feed::dbn::Schema schema, InstrumentId id,
                 std::span<const std::byte> record) override;
    void interval_ended(feed::dbn::Schema schema, std::int64_t end_ns) override;

    void put_record(feed::dbn::Schema schema, std::uint64_t time_ns,
                    std::span<const std::byte> record);
    void note(const feed::Event& event);
    void advance_without_events(std::int64_t now_ns);
    void put_progress();
    void write_out();

    std::array<std::uint64_t, feed::dbn::schemas_count> start_ns_{};
    std::shared_ptr<const std::atomic<std::int64_t>> complete_ns_;
    Write write_;
    std::vector<std::byte> frames_;
    std::vector<bool> sent_;                                        ///< by id: its key was sent
    std::unordered_map<std::uint16_t, gateway::EventPlace> moved_;  ///< places not yet sent
    std::int64_t reached_ns_ = 0;
    std::int64_t sent_ns_ = 0;  ///< of the latest frame about progress: wall time
    /// A value of complete_ns_, and the wall time when it was read.
    std::int64_t idle_ns_ = 0;
    std::int64_t idle_since_ns_ = 0;
    std::atomic<bool> is_read_{true};
};

}  // namespace pinstrike::actors
