// path: hot
//
// The entries of a book, and what happens to each of them: it is created, brought up to date with
// the events of its line, moved to another line, and removed.
//
// Series with messages and announced series have an entry. After a start of day the messages of a
// series no longer count. A sweep over a few slots per millisecond removes the entry unless it
// stays announced.
//
// Whoever changes an entry first marks it as being written, by BookStore::writing() or
// begin_quote(), because other programs may read it.
#pragma once

#include "actors/book/book_counts.h"
#include "actors/book/book_entry.h"
#include "actors/book/book_store.h"
#include "actors/book/flat_table.h"
#include "actors/book/series_state.h"
#include "actors/book/trade_rules.h"
#include "actors/publish/core_memory.h"
#include "actors/publish/line_memory.h"
#include "actors/publish/stamp.h"
#include "feed/event/event.h"
#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pinstrike::actors {

class BookEntries {
  public:
    /// Keeps its state in memory of the shape book_shape(), which is zero.
    explicit BookEntries(CoreMemory memory) : store(std::move(memory)) {}

    /// Whether messages stated something of the series since the last start of day.
    [[nodiscard]] bool known(const BookEntry& entry) const {
        return heard(entry) && !forgotten(entry);
    }

    /// The entry of a series, which is created if there is none; nullptr: there is no room.
    BookEntry* entry_for(const feed::SeriesKey& key) {
        BookEntry* const entry = store.table.find(key);
        return entry != nullptr ? entry : enter(key);
    }

    /// Brings the entry up to date and makes the message's line its line, unless the message is
    /// late and on a line that the series has left.
    MessageOrder arrive(BookEntry& entry, const feed::Header& header);

    /// Applies to an entry what happened to its line. False if nothing is known of the series,
    /// because no message came for it, or none since a start of day.
    bool catch_up_with_line(BookEntry& entry);

    /// Applies the flushes and gaps of its line to the sides of a known entry.
    void clear_flushed_sides(BookEntry& entry) const;

    /// The current state of a side. The entry must be up to date with its line.
    [[nodiscard]] SideState state_of(const BookEntry& entry, const BookSide& side) const;

    /// The record of trades of a series, which from now on is in use.
    TradeRecord& trades_of(BookEntry& entry);

    /// The entry includes all events so far, and its latest message came on `line`.
    void adopt_line(BookEntry& entry, std::uint16_t line) const {
        entry.stamp = clock.stamp() | line;
    }

    /// Applies a series map that came on the series' own line.
    void announce(BookEntry& entry, std::uint16_t line);

    /// The number of entries that a series map announced, with or without messages.
    [[nodiscard]] std::size_t announced() const { return announced_; }

    /// Forgets all messages of the line's series before this stamp.
    void start_day(std::uint16_t line, std::uint64_t stamp);

    /// Removes entries that a start of day left in the next slots.
    void sweep(std::size_t slots_count);

    BookStore store;
    StampClock clock;  ///< at the event that is being applied
    BookCounters counters;
    /// The slot at which the walk of BookTransfer continues. It is here because an insertion may
    /// move entries to slots that the walk has passed.
    std::size_t walk_slot = 0;

  private:
    [[nodiscard]] bool forgotten(const BookEntry& entry) const {
        return stamp_after(store.lines[entry.line()].day, entry.stamp);
    }

    BookEntry* enter(const feed::SeriesKey& key);
    MessageOrder arrive_late(BookEntry& entry, const feed::Header& header);
    void leave_line(BookEntry& entry);
    void touch_elsewhere(BookEntry& entry);
    void end_coverage_elsewhere(BookEntry& entry);
    void forget(BookEntry& entry);

    Sweeper sweeper_;
    std::size_t announced_ = 0;
};

}  // namespace pinstrike::actors
