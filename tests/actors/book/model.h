// path: cold
//
// A simple model of the book: a map, in which each event of a line is applied to each series at
// once.
#pragma once

#include "actors/book/series_state.h"
#include "feed/event/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pinstrike::actors::test {

/// When a value was set. Numbers are compared only on one line within one numbering.
struct Stamp {
    std::uint16_t line = 0;
    unsigned numbering = 0;
    std::uint32_t sequence = 0;
    bool said = false;  ///< false: never
};

struct ModelSide {
    bool known = false;
    bool stale = false;
    bool late = false;
    std::optional<BestQuote> best;
    Stamp stamp;
};

struct ModelSeries {
    std::uint16_t line = 0;
    ModelSide bid;
    ModelSide offer;
    std::optional<Price> open;
    std::optional<Price> high;
    std::optional<Price> low;
    std::optional<LastTrade> last;
    bool open_stated = false;
    std::uint64_t volume = 0;
    std::uint64_t trades = 0;
    std::uint64_t quotes = 0;
    std::optional<std::uint32_t> open_interest;
    Stamp last_stamp;
    Stamp open_stamp;
    Stamp open_interest_stamp;
};

class Model {
  public:
    void apply(const feed::Event& event);

    [[nodiscard]] std::optional<SeriesState> find(const feed::SeriesKey& key) const;

    [[nodiscard]] std::size_t series_count() const { return series_.size(); }

  private:
    struct Line {
        unsigned numbering = 0;
        std::optional<std::uint32_t> missing_last;
        std::uint32_t missing_first = 0;
        std::uint64_t missing = 0;  ///< numbers from missing_first to missing_last
        std::optional<std::uint32_t> late_flush;
    };

    struct Less {
        bool operator()(const feed::SeriesKey& a, const feed::SeriesKey& b) const {
            return a.name != b.name ? a.name < b.name : a.strike_e8 < b.strike_e8;
        }
    };

    ModelSeries& arrive(const feed::Event& event);
    void quote(const feed::Event& event);
    void trade(const feed::Event& event);
    void report(ModelSeries& series, const feed::Event& event);
    void cancel(ModelSeries& series, const feed::Event& event);
    void control(const feed::Event& event);
    void gap(const feed::Event& event);
    void state(ModelSeries& series, ModelSide& side, unsigned effect, const feed::Event& event,
               const BestQuote& own, const feed::Best& appendage);
    [[nodiscard]] bool newest(const ModelSeries& series, const Stamp& stamp,
                              const feed::Event& event) const;
    [[nodiscard]] Stamp stamp_of(const feed::Event& event) const;
    [[nodiscard]] bool waits(const ModelSide& side) const;

    std::map<feed::SeriesKey, ModelSeries, Less> series_;
    std::map<std::uint16_t, Line> lines_;
};

}  // namespace pinstrike::actors::test
