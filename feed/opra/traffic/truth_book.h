// path: cold
//
// The state of every series after a generated session, in a plain map that follows only the
// specification: what a book actor must show if nothing was lost. Shares no code with any book.
#pragma once

#include "feed/opra/message.h"
#include "feed/opra/traffic/traffic_session.h"

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace pinstrike::feed::opra::traffic {

class BookTruth {
  public:
    /// Adds the next block of the session. Every block must be added, in order.
    void block(const SentBlock& block);

    /// Writes one JSON object per line, sorted by symbol, expiration, right, strike, regular before
    /// GTH.
    void write(std::ostream& out) const;

    [[nodiscard]] std::size_t series_count() const { return series_.size(); }

  private:
    /// A price as sent. Prices of different codes are compared by value.
    struct Price {
        std::int64_t value = 0;
        char code = 'I';
        [[nodiscard]] std::int64_t e8() const;
    };

    struct BestSide {
        bool known = false;
        std::optional<std::tuple<char, Price, std::uint32_t>> best;
    };

    struct LastTrade {
        char participant;
        Price price;
        std::uint32_t size;
        char type;
    };

    struct State {
        std::uint16_t line = 0;
        std::string strike;
        BestSide bid;
        BestSide offer;
        std::optional<Price> open, high, low;
        std::optional<LastTrade> last;
        std::uint64_t volume = 0;
        std::uint64_t trades = 0;
        std::uint64_t quotes = 0;
        std::optional<std::uint32_t> open_interest;
    };

    struct LineNumbers {
        bool joined = false;
        std::uint64_t next = 0;
    };

    /// symbol, "YYYY-MM-DD", right, strike in 1e-8, GTH.
    using Key = std::tuple<std::string, std::string, char, std::int64_t, bool>;

    void message(const SentBlock& block, const wire::Message& message);
    void trade(State& state, const wire::Header& header, const wire::LastSale& sale);
    static void cancel(State& state, char type, std::uint32_t volume);
    static void widen(State& state, Price price);
    template <class Quote>
    void quote(const SentBlock& block, const wire::Header& header, const Quote& quote);
    State* state_of(const SentBlock& block, const wire::Series& series, bool create);
    void forget_day(std::uint16_t line);
    void forget_quotes(std::uint16_t line);
    void reset(const SentBlock& block);

    std::map<Key, State> series_;
    std::map<std::uint16_t, LineNumbers> lines_;
};

}  // namespace pinstrike::feed::opra::traffic
