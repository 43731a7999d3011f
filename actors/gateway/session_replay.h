// path: cold
//
// Records of the past for one client: those of a recording, and then the live ones, without a gap
// and without a duplicate.
//
// Live records of the series that are replayed are dropped at first. When the replay has come close
// to the present, the session notes how far the gateway has read each line of the feed. From then
// on it keeps the live records, and takes only the records of earlier events from the replay. When
// the replay has come up to all these places, the replay is over, and the records that were kept
// follow at the pace at which the client reads.
#pragma once

#include "actors/gateway/kept_records.h"
#include "actors/gateway/replay_frames.h"
#include "actors/gateway/replay_host.h"
#include "actors/gateway/replay_selection.h"
#include "actors/gateway/replay_source.h"
#include "actors/gateway/session_output.h"
#include "actors/gateway/subscriptions.h"
#include "actors/market/market.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway {

/// The client of a replay.
struct ReplayClient {
    SessionOutput& output;
    Subscriptions& subscriptions;
    /// Sends the symbol of a series, unless that was done.
    std::function<void(InstrumentId)> map;

    /// Whether the client reads fast enough to get more: a record may need a mapping.
    [[nodiscard]] bool has_room() const { return output.is_current() && output.rate_left() > 1; }

    void put_replayed(InstrumentId id, std::span<const std::byte> record) const {
        map(id);
        output.count(SessionCount::replayed);
        output.put_own(record);
    }

    /// A live record that was kept.
    void put_kept(feed::dbn::Schema schema, InstrumentId id,
                  std::span<const std::byte> record) const {
        if (subscriptions.follows(schema, id)) {
            map(id);
            output.put_own(record);
        }
    }
};

class SessionReplay {
  public:
    enum class Phase : std::uint8_t {
        waiting,    ///< for more requests, or for another replay
        replaying,  ///< far from the present
        joining,    ///< live records are kept
        emptying,   ///< the replay is over, and kept records are sent
        over,
        failed,  ///< failure() says why
    };

    /// All must outlive the object.
    struct Setup {
        Market& market;
        LiveFeed& feed;
        const ReplayClient& client;
        std::size_t kept_bytes_max = 0;
    };

    struct Failure {
        std::uint8_t code = 0;
        std::string text;
    };

    explicit SessionReplay(const Setup& setup)
        : setup_(setup), selection_(setup.market, setup.client.subscriptions) {}

    [[nodiscard]] ReplaySelection& selection() { return selection_; }

    void begin(std::unique_ptr<ReplaySource> source);

    /// A live record that belongs to the replay. `id` 0: the end of an interval at `end_ns`.
    void keep(feed::dbn::Schema schema, InstrumentId id, std::span<const std::byte> record,
              std::int64_t end_ns);

    /// Live events are missing: what was kept is dropped, and comes from the recording.
    void live_missed();

    /// Gives the client records. To be called often.
    void work(std::int64_t now_ns);

    [[nodiscard]] Phase phase() const { return phase_; }

    [[nodiscard]] const Failure& failure() const { return failure_; }

    /// True, once: all records of the past were sent, and kept ones follow.
    [[nodiscard]] bool take_joined() { return std::exchange(joined_, false); }

    /// What the client does not get, in a sentence; empty: nothing.
    [[nodiscard]] std::string lack() const;

  private:
    struct Input {
        std::unique_ptr<ReplaySource> source;
        std::vector<std::byte> block;
        std::size_t taken = 0;  ///< bytes of the block
    };

    struct Series {
        InstrumentId id = 0;  ///< 0: the feed does not know it
        std::uint16_t core = 0;
    };

    using PlaceOfLine = std::unordered_map<std::uint16_t, EventPlace>;

    struct Progress {
        PlaceOfLine lines;
        std::int64_t time_ns = 0;
    };

    /// Where the live records begin.
    struct Join {
        std::vector<LivePlace> places;
        PlaceOfLine lines;  ///< the latest of all cores
        std::int64_t market_ns = 0;
        std::int64_t since_ns = 0;
    };

    void read_frames(std::int64_t now_ns);
    void handle(const ReplayFrame& frame, std::int64_t now_ns);
    void add_series(const pinstrike_key& key);
    void put(const ReplayFrame& frame);
    [[nodiscard]] bool is_before_join(const ReplayFrame& frame, const Series& series) const;
    [[nodiscard]] bool is_interval_before_join(const ReplayFrame& frame) const;
    void try_to_join(std::int64_t now_ns);
    void try_to_end(std::int64_t now_ns);
    void send_kept();
    void fail(std::uint8_t code, std::string text);

    Setup setup_;
    Phase phase_ = Phase::waiting;
    ReplaySelection selection_;
    Input input_;
    std::unordered_map<std::uint32_t, Series> series_;  ///< by the id in the replay
    Progress reached_;
    Join join_;
    KeptRecords kept_;
    unsigned overflows_ = 0;
    std::uint64_t unknown_ = 0;  ///< records of series that the feed does not know
    bool is_incomplete_ = false;
    bool joined_ = false;
    Failure failure_;
};

}  // namespace pinstrike::actors::gateway
