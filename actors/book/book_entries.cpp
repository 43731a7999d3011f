// path: hot
//
// Which series have an entry: those with messages and those that were announced. After a start of
// day the messages of a series no longer count. A sweep over a few slots per millisecond removes
// the entry unless it stays announced.
#include "actors/book/book.h"

namespace pinstrike::actors {

/// Creates the entry of a series. If the table is full, removes the entries that a start of day
/// left in it and tries again. nullptr: there is no room.
BookEntry* Book::enter(const feed::SeriesKey& key) {
    BookEntry* entry = store_.table.insert(key);
    if (entry == nullptr && !is_empty(key) && sweeper_.busy()) {
        sweep(sweeper_.left());
        entry = store_.table.insert(key);
    }
    if (entry == nullptr) {
        counters_.bump(BookCount::series_refused);
        return nullptr;
    }
    entry->record = store_.directory.add(key);
    sweeper_.inserted(store_.table, *entry);
    if (transfer_ != nullptr) {
        transfer_->next_slot = store_.table.pass_on(transfer_->next_slot, *entry);
    }
    return entry;
}

/// Creates an entry for the first message of the series. A series map on another line than that of
/// the series (line 220) is ignored: the series' own line sends the same map, and if this feed does
/// not take that line, no start of day would ever remove the entry.
void Book::apply_series_map(const feed::Event& event) {
    const feed::SeriesMap& map = event.body.series_map;
    if (map.mapped_line != event.header.line) {
        return;
    }
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    BookEntry* const entry = entry_for(map.series);
    if (entry == nullptr) {
        return;
    }
    const auto guard = store_.writing(*entry);
    if (!known(*entry)) {
        forget(*entry);
        adopt_line(*entry, map.mapped_line);
    }
    // The file comes the evening before its day, so an announcement outlives one start of day.
    if ((event.header.flags & feed::flag_from_file) != 0 && map.id != 0) {
        store_.directory.set_id(entry->index(), map.id);
    }
    constexpr unsigned starts_of_day = 2;
    announced_ += entry->announced() == 0 ? 1 : 0;
    entry->set_announced(starts_of_day);
}

/// Resets an entry of which nothing is known to that of a series without messages. A start of day
/// brings an announcement one step closer to its end. Starts of day that come before the sweep
/// reaches the entry count as one: a line can infer a start and then receive it.
void Book::forget(BookEntry& entry) {
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

void Book::sweep(std::size_t slots_count) {
    sweeper_.advance(store_.table, slots_count, [this](BookEntry& entry) {
        if (!forgotten(entry)) {
            return false;
        }
        const auto guard = store_.writing(entry);
        forget(entry);
        if (entry.announced() != 0) {
            return false;
        }
        store_.directory.remove(entry.index());
        counters_.bump(BookCount::series_forgotten);
        return true;
    });
}

}  // namespace pinstrike::actors
