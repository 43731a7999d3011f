// path: cold
//
// Makes DBN records from the events of a feed and gives them to the clients that want them. Has no
// clock: its times are those of the events, and the caller passes the latest to advance().
#pragma once

#include "actors/market/bars.h"
#include "actors/market/instruments.h"
#include "actors/market/interests.h"
#include "actors/market/line_changes.h"
#include "actors/market/market_counts.h"
#include "actors/publish/pinstrike.h"
#include "feed/dbn/records.h"
#include "feed/dbn/schema.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace pinstrike::actors {

/// How long after the end of an interval its last trades may come: a message is received later than
/// it is stamped, by the latency of the network.
inline constexpr std::int64_t bar_grace_ns = 50'000'000;

/// The series of one core of the feed.
struct CoreSeries {
    std::uint16_t core;
    std::vector<InstrumentId> ids;  ///< ascending
};

class Market {
  public:
    Market() : interests_(instruments_) {}

    [[nodiscard]] Instruments& instruments() { return instruments_; }

    [[nodiscard]] Interests& interests() { return interests_; }

    [[nodiscard]] MarketCounters& counters() { return counters_; }

    [[nodiscard]] const MarketCounters& counters() const { return counters_; }

    /// The state of a core is read anew, in one or several calls of take_state().
    void begin_state(std::uint16_t core) { ++rounds_[core]; }

    /// All of it was taken: a series of the core that was not in it has no values any more. Returns
    /// the series of the core.
    CoreSeries end_state(std::uint16_t core);

    /// Whether the state of the feed was taken once.
    [[nodiscard]] bool has_state() const { return has_state_; }

    /// The state of series, read anew. `complete`: no more of it follows. False: an id belongs to
    /// another series than before, so that everything known of the feed has to be forgotten first.
    [[nodiscard]] bool take_state(std::span<const pinstrike_value> values, bool complete = true);

    /// Applies one event of a series or line. False: as of take_state().
    [[nodiscard]] bool apply(const pinstrike_record& record);

    /// All events received before this time have been applied: closes the intervals that ended.
    void advance(std::int64_t now_ns);

    /// The times of events begin anew, because an earlier day is replayed: ends all open intervals.
    void restart_time();

    /// The feed has started anew: forgets all values, and keeps series and subscriptions.
    void forget_values();

    /// Forgets all series, and the clients' subscriptions to them.
    void clear();

    using Give = std::function<void(std::span<const std::byte>)>;

    /// Gives the present state of a series in records of a schema, with the flag for snapshots:
    /// none, one, or several. Schemas of trades and bars have none.
    void give_state(feed::dbn::Schema schema, InstrumentId id, std::int64_t now_ns,
                    const Give& give);

  private:
    struct Interval {
        feed::dbn::Schema schema;
        std::uint8_t bit;
        std::int64_t end_ns = 0;  ///< of the open interval; 0: no event yet
        std::vector<InstrumentId> changed{};

        /// Opens the interval of a time.
        void open(std::int64_t now_ns) {
            const std::int64_t length_ns = feed::dbn::interval_ns_of(schema);
            end_ns = (now_ns / length_ns + 1) * length_ns;
        }
    };

    void apply_to_series(const pinstrike_record& record);
    [[nodiscard]] Instrument& instrument_of(const pinstrike_record& record);
    void apply_quote(const pinstrike_record& record, Instrument& at);
    void apply_trade(const pinstrike_record& record, Instrument& at);
    void apply_open_interest(const pinstrike_record& record, Instrument& at);
    void apply_end_of_day(const pinstrike_record& record, const Instrument& at);
    void apply_line_changes(Instrument& at, InstrumentId id, std::int64_t now_ns);
    void apply_flushes_to_all(std::int64_t now_ns);
    void mark_changed(Instrument& at, InstrumentId id);
    void add_to_bars(const pinstrike_record& record, std::int64_t price);
    void close_interval(Interval& interval);
    void find_next_end();
    void close_bars(Bars& bars, std::int64_t now_ns);
    void deliver_definition(InstrumentId id, std::int64_t now_ns);
    [[nodiscard]] std::uint16_t publisher_of(char participant);

    Instruments instruments_;
    Interests interests_;
    MarketCounters counters_;
    std::array<Interval, 2> intervals_{Interval{feed::dbn::Schema::cbbo_1s, 1},
                                       Interval{feed::dbn::Schema::cbbo_1m, 2}};
    std::array<Bars, 3> bars_{Bars{feed::dbn::Schema::ohlcv_1s}, Bars{feed::dbn::Schema::ohlcv_1m},
                              Bars{feed::dbn::Schema::ohlcv_1h}};
    LineChanges line_changes_;
    std::vector<std::uint8_t> rounds_ = std::vector<std::uint8_t>(65536);  ///< by core
    bool has_state_ = false;
    bool forgotten_ = false;        ///< by forget_values(), and the state is not complete
    std::int64_t next_end_ns_ = 0;  ///< before it, advance() has nothing to do
};

}  // namespace pinstrike::actors
