// path: cold
//
// The best bid and offer of the series that a stream follows on one core, kept by the events of the
// stream. The rules are those of the book (actors/book), whose state each series begins with.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/series_reader.h"
#include "feed/event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pinstrike::reader {

struct FollowedSeries {
    feed::SeriesKey key;
    pinstrike_side bid;
    pinstrike_side offer;
    std::uint64_t stamp = 0;  ///< up to which it includes events, and its line
    std::uint32_t id = 0;
    std::uint32_t covered_sequence = 0;
    std::uint16_t covered = 0;  ///< pinstrike_trade_flag
    bool has_quotes = false;
    bool has_trades = false;
    bool excluded = false;  ///< the filter has no such id
};

class Follower {
  public:
    /// Forgets everything. `series_max`: the most series that will be followed.
    void clear(std::size_t series_max);

    /// Begins with a line as it was before all events that follow.
    void set_line(std::uint16_t number, const pinstrike_line& line) { line_at(number) = line; }

    [[nodiscard]] FollowedSeries* find(const feed::SeriesKey& key);

    /// Follows a series that is not followed; nullptr: there are too many.
    FollowedSeries* add(const feed::SeriesKey& key);

    /// Begins with the state of a series.
    static void begin(FollowedSeries& series, const SeriesParts& parts);

    /// Applies an event of a line.
    void apply_to_line(const feed::Event& event, std::uint64_t stamp);

    /// Applies a message of the series.
    void apply(FollowedSeries& series, const feed::Event& event, const feed::QuoteBest* appendage,
               std::uint64_t stamp);

    [[nodiscard]] pinstrike_best bid(const FollowedSeries& series) {
        return best(series, series.bid);
    }

    [[nodiscard]] pinstrike_best offer(const FollowedSeries& series) {
        return best(series, series.offer);
    }

  private:
    static constexpr std::size_t page_lines = 256;
    using Page = std::array<pinstrike_line, page_lines>;

    pinstrike_line& line_at(std::uint16_t number);
    pinstrike_best best(const FollowedSeries& series, pinstrike_side side);
    pinstrike_line& line_of_series(const FollowedSeries& series);
    bool catch_up(FollowedSeries& series, std::uint64_t stamp);
    bool arrive(FollowedSeries& series, const feed::Header& header, std::uint64_t stamp);
    void leave_line(FollowedSeries& series);
    void apply_late_quote(FollowedSeries& series, const feed::Event& event,
                          const feed::QuoteBest* appendage, bool foreign);

    std::array<std::unique_ptr<Page>, page_lines> lines_;
    std::vector<FollowedSeries> series_;
    std::vector<std::uint32_t> slots_;  ///< by hash: index into series_, from 1
    std::size_t series_max_ = 0;
};

}  // namespace pinstrike::reader
