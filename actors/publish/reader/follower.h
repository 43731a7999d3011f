// path: cold
//
// The best bid and offer of the series that a stream follows on one core, kept by the events of the
// stream. The rules are those of the book (actors/book), whose state each series begins with.
//
// The series are the slots of one table, so that an event touches one cache line, which can be
// prefetched. When the state is read again, a new round begins instead of clearing the table, which
// would take longer than the stream waits.
#pragma once

#include "actors/publish/line_memory.h"
#include "actors/publish/pages.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/series_reader.h"
#include "feed/event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace pinstrike::reader {

/// A slot of the table of followed series: one cache line.
struct alignas(64) FollowedSeries {
    feed::SeriesKey key;  ///< name 0: the slot is empty
    pinstrike_side bid;
    pinstrike_side offer;
    std::uint64_t stamp;  ///< up to which it includes events, and its line
    std::uint32_t id;
    std::uint16_t round;  ///< of the follower; of an earlier one, the rest is not valid
    bool has_quotes : 1;
    bool has_trades : 1;
    bool covered : 1;            ///< PINSTRIKE_COVERED
    bool covered_elsewhere : 1;  ///< PINSTRIKE_COVERED_ELSEWHERE
    bool excluded : 1;           ///< the filter has no such id
    bool unread : 1;             ///< its state is not read yet
    std::uint8_t looked_for_id;  ///< the period in which its id was looked for
};

static_assert(sizeof(FollowedSeries) == 64);

class Follower {
  public:
    /// Begins anew. `series_expected`: for how many series there shall be room now; `series_max`:
    /// the most that will be followed.
    void begin_round(std::size_t series_expected, std::size_t series_max);

    /// Begins with a line as it was before all events that follow.
    void set_line(std::uint16_t number, const pinstrike_line& line) {
        static_cast<pinstrike_line&>(line_at(number)) = line;
    }

    /// Loads the slot of a series, for which find() or add() will look.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&table_[slot_of(hash)], 1); }

    /// `hash` is feed::hash() of the key, here and below. Valid until the next add().
    [[nodiscard]] FollowedSeries* find(const feed::SeriesKey& key, std::uint64_t hash) const {
        FollowedSeries& series = slot_for(key, hash);
        return series.key.name != 0 && series.round == round_ ? &series : nullptr;
    }

    /// Follows a series that is not followed; nullptr: there are too many, or it has no name.
    FollowedSeries* add(const feed::SeriesKey& key, std::uint64_t hash);

    /// Begins with the state of a series.
    void begin(FollowedSeries& series, const SeriesParts& parts);

    /// Applies an event of a line.
    void apply_to_line(const feed::Event& event, std::uint64_t stamp);

    /// Applies a quote of the series, and writes the sides as they are then, also if the quote
    /// changed nothing.
    void apply_quote(FollowedSeries& series, const feed::Event& event, std::uint64_t stamp,
                     pinstrike_best& bid, pinstrike_best& offer);

    /// Applies another message of the series.
    void apply(FollowedSeries& series, const feed::Event& event, std::uint64_t stamp);

  private:
    static constexpr std::size_t page_lines = 256;
    using Page = std::array<actors::LineMemory, page_lines>;

    struct HashKey {
        std::size_t operator()(const feed::SeriesKey& key) const { return feed::hash(key); }
    };

    [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const {
        return (hash & 0xFFFF'FFFFU) * table_.size() >> 32;
    }

    /// The slot of a series, or the empty one where it belongs.
    [[nodiscard]] FollowedSeries& slot_for(const feed::SeriesKey& key, std::uint64_t hash) const {
        std::size_t slot = slot_of(hash);
        while (table_[slot].key != key && table_[slot].key.name != 0) [[unlikely]] {
            slot = slot + 1 == table_.size() ? 0 : slot + 1;
        }
        return table_[slot];
    }

    void grow(std::size_t slots);
    void make_page(std::uint16_t number);

    actors::LineMemory& line_at(std::uint16_t number) {
        if (lines_[number / page_lines] == nullptr) [[unlikely]] {
            make_page(number);
        }
        return (*lines_[number / page_lines])[number % page_lines];
    }

    bool covers(const FollowedSeries& series, const feed::Header& header, bool foreign) const;

    pinstrike_line& line_of_series(const FollowedSeries& series) {
        return line_at(static_cast<std::uint16_t>(series.stamp));
    }

    bool catch_up(FollowedSeries& series, std::uint64_t stamp);
    bool arrive(FollowedSeries& series, const feed::Header& header, std::uint64_t stamp);
    void leave_line(FollowedSeries& series);
    void apply_unusual_quote(FollowedSeries& series, const feed::Event& event, std::uint64_t stamp);
    void apply_late_quote(FollowedSeries& series, const feed::Event& event, bool foreign);
    void write_best(const FollowedSeries& series, pinstrike_best& bid, pinstrike_best& offer);

    std::array<std::unique_ptr<Page>, page_lines> lines_;
    actors::PageArray<FollowedSeries> table_;  ///< at least twice as many as series
    std::size_t count_ = 0;                    ///< slots in use, those of earlier rounds included
    std::size_t series_max_ = 0;
    std::uint16_t round_ = 0;
    /// pinstrike_trades.covered_sequence of series that have one of the two marks. Only state of a
    /// peer sets them.
    std::unordered_map<feed::SeriesKey, std::uint32_t, HashKey> covered_sequences_;
};

}  // namespace pinstrike::reader
