// path: cold
//
// Generates the messages of a day: quotes around a moving underlying, with indicators that follow
// from the best bid and offer, trades and their cancels, values of indices, and texts. It knows
// series and messages, but no numbers of lines, blocks or times.
#pragma once

#include "feed/opra/message.h"
#include "feed/opra/participants.h"
#include "feed/opra/traffic/best_keeper.h"
#include "feed/opra/traffic/random.h"
#include "feed/opra/traffic/traffic_config.h"
#include "feed/opra/traffic/universe.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::feed::opra::traffic {

/// The trading in one series on a day, as far as later messages depend on it.
struct Trading {
    struct Report {
        char participant = ' ';
        std::int32_t price_cents = 0;
        std::uint32_t volume = 0;
    };

    std::vector<Report> live;  ///< reports that were not cancelled, in order
    std::int32_t open_cents = 0;
    std::int32_t high_cents = 0;
    std::int32_t low_cents = 0;
    std::uint32_t volume = 0;
};

class Market {
  public:
    Market(const TrafficConfig& config, const Universe& universe);

    /// True if quotes of the series fit the short form.
    [[nodiscard]] bool plain(SeriesIndex index) const;

    /// A quote of one participant. Sometimes moves the underlying.
    wire::Message quote(SeriesIndex index);

    /// A trade report or, if there is a report to cancel, sometimes a cancel.
    wire::Message trade(SeriesIndex index);

    wire::Message open_interest(SeriesIndex index);
    wire::Message end_of_day(SeriesIndex index, char participant);
    wire::Message series_map(SeriesIndex index, std::uint16_t mapped_line);

    /// An underlying value of a random index, of type space or I.
    wire::Message underlying();
    wire::Message text();

    /// The capture begins here: earlier quotes do not count in the shares.
    void begin_record();

    /// Removes all quotes, as a cold restart does.
    void forget_quotes();

    /// The zero quote that OPRA sends for a participant after a cold restart.
    wire::Message zero_quote(SeriesIndex index, char participant);

    /// The series that were quoted or traded so far, in the order of their first message.
    [[nodiscard]] const std::vector<SeriesIndex>& touched() const { return touched_; }

    /// The last quotes of the participants in the series, in order of time; empty: none has quoted.
    [[nodiscard]] const std::vector<VenueQuote>& venues(SeriesIndex index) const;

    static char participant_of(SeriesIndex index, unsigned venue);

  private:
    struct State {
        BestKeeper best;
        Trading trading;
    };

    struct Draft {
        char participant;
        char type;
        QuoteSide bid;
        QuoteSide offer;
    };

    /// The counts of quotes so far, by which the generator keeps to the configured mix.
    struct Shares {
        std::uint64_t quotes = 0;
        std::uint64_t longs = 0;
        std::uint64_t appended = 0;
    };

    State& state_of(SeriesIndex index);
    std::int32_t fair_cents(const Series& series) const;
    Draft draft(SeriesIndex index, const State& state);
    Draft fresh_quote(SeriesIndex index, char participant);
    std::optional<Draft> backed_off(const State& state);
    char choose_participant(SeriesIndex index, const State& state);
    char quote_type();
    void spice(Draft& draft);
    std::uint32_t size();
    wire::Message publish(SeriesIndex index, const Draft& draft, const BestChange& change);
    bool must_be_long(const Series& series, const Draft& draft) const;
    wire::Series wire_series(const Series& series, bool vary);
    wire::Appendage appendage(const BestSide& best);
    wire::Header header(char participant, char type);
    std::optional<wire::Message> cancel(SeriesIndex index, Trading& trading);
    void book_trade(Trading& trading, const Trading::Report& report);
    wire::Message report(SeriesIndex index, char type, const Trading::Report& report);

    const TrafficConfig& config_;
    const Universe& universe_;
    Random random_;
    std::vector<std::uint32_t> state_index_;  ///< 0: none yet; else 1 + index in states_
    std::vector<State> states_;
    std::vector<SeriesIndex> touched_;
    std::vector<std::int32_t> root_cents_;
    Shares shares_;
    std::uint32_t transaction_id_ = 0;
};

}  // namespace pinstrike::feed::opra::traffic
