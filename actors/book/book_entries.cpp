// path: hot
#include "actors/book/book_entries.h"

namespace pinstrike::actors {

/// Creates the entry of a series. If the table is full, removes the entries that a start of day
/// left in it and tries again. nullptr: there is no room.
BookEntry* BookEntries::enter(const feed::SeriesKey& key) {
    BookEntry* entry = store.table.insert(key);
    if (entry == nullptr && !is_empty(key) && sweeper_.busy()) {
        sweep(sweeper_.left());
        entry = store.table.insert(key);
    }
    if (entry == nullptr) {
        counters.bump(BookCount::series_refused);
        return nullptr;
    }
    entry->record = store.directory.add(key);
    sweeper_.inserted(store.table, *entry);
    walk_slot = store.table.pass_on(walk_slot, *entry);
    return entry;
}

MessageOrder BookEntries::arrive(BookEntry& entry, const feed::Header& header) {
    if (is_late(header)) {
        return arrive_late(entry, header);
    }
    if (catch_up_with_line(entry) && entry.line() != header.line) {
        leave_line(entry);
    }
    adopt_line(entry, header.line);
    return {.sequence = header.sequence};
}

MessageOrder BookEntries::arrive_late(BookEntry& entry, const feed::Header& header) {
    counters.bump(BookCount::late);
    const bool before_flush = (header.flags & feed::flag_before_flush) != 0;
    if (!catch_up_with_line(entry)) {
        adopt_line(entry, header.line);
    }
    return {.sequence = header.sequence,
            .late = true,
            .foreign = before_flush || entry.line() != header.line};
}

bool BookEntries::catch_up_with_line(BookEntry& entry) {
    if (!known(entry)) {
        forget(entry);
        counters.bump(BookCount::series_unannounced, entry.announced() == 0 ? 1 : 0);
        return false;
    }
    const LineMemory& line = store.lines[entry.line()];
    if (stamp_after(line.changed, entry.stamp)) {
        if (stamp_after(line.flush, entry.stamp)) {
            // A late message can be of the numbering before the last flush, but of no older one,
            // so what is covered of older ones says nothing about it.
            end_coverage_elsewhere(entry);
            touch_elsewhere(entry);
            if (flushed_twice(line, entry.stamp)) {
                end_coverage_elsewhere(entry);
            }
        }
        clear_flushed_sides(entry);
    }
    adopt_line(entry, entry.line());
    return true;
}

void BookEntries::clear_flushed_sides(BookEntry& entry) const {
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        follow_line(*side, entry.stamp, store.lines[entry.line()]);
    }
}

SideState BookEntries::state_of(const BookEntry& entry, const BookSide& side) const {
    return static_cast<SideState>(actors::state_of(side, store.lines[entry.line()]));
}

void BookEntries::leave_line(BookEntry& entry) {
    counters.bump(BookCount::series_moved);
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        actors::leave_line(*side, store.lines[entry.line()]);
    }
    touch_elsewhere(entry);
}

void BookEntries::touch_elsewhere(BookEntry& entry) {
    if (!entry.has_trades()) {
        return;
    }
    std::uint16_t& flags = store.trades_at(entry).flags;
    const unsigned touched = flags & touched_here;
    flags = static_cast<std::uint16_t>((flags & ~touched) | touched << elsewhere_shift);
    if ((flags & covered_here) != 0) {
        flags = static_cast<std::uint16_t>((flags & ~covered_here) | covered_elsewhere);
    }
}

void BookEntries::end_coverage_elsewhere(BookEntry& entry) {
    if (entry.has_trades()) {
        std::uint16_t& flags = store.trades_at(entry).flags;
        flags = static_cast<std::uint16_t>(flags & ~covered_elsewhere);
    }
}

TradeRecord& BookEntries::trades_of(BookEntry& entry) {
    TradeRecord& trades = store.trades_at(entry);
    if (!entry.has_trades()) {
        trades = TradeRecord{};
        entry.record |= PINSTRIKE_TRADES;
    }
    return trades;
}

void BookEntries::announce(BookEntry& entry, std::uint16_t line) {
    if (!known(entry)) {
        forget(entry);
        adopt_line(entry, line);
    }
    // The file comes the evening before its day, so an announcement outlives one start of day.
    constexpr unsigned starts_of_day = 2;
    announced_ += entry.announced() == 0 ? 1 : 0;
    entry.set_announced(starts_of_day);
}

void BookEntries::start_day(std::uint16_t line, std::uint64_t stamp) {
    store.lines[line].start_of_day(stamp);
    sweeper_.start(store.table.slots());
}

/// Resets an entry of which nothing is known to that of a series without messages. A start of day
/// brings an announcement one step closer to its end. Starts of day that come before the sweep
/// reaches the entry count as one: a line can infer a start and then receive it.
void BookEntries::forget(BookEntry& entry) {
    BookEntry left{};
    left.set_key(entry.key());
    left.record = entry.index();
    left.set_announced(entry.announced());
    if (entry.announced() != 0 && forgotten(entry)) {
        left.set_announced(entry.announced() - 1);
        announced_ -= left.announced() == 0 ? 1 : 0;
    }
    adopt_line(left, entry.line());
    entry = left;
}

void BookEntries::sweep(std::size_t slots_count) {
    sweeper_.advance(store.table, slots_count, [this](BookEntry& entry) {
        if (!forgotten(entry)) {
            return false;
        }
        const auto guard = store.writing(entry);
        forget(entry);
        if (entry.announced() != 0) {
            return false;
        }
        store.directory.remove(entry.index());
        counters.bump(BookCount::series_forgotten);
        return true;
    });
}

}  // namespace pinstrike::actors
