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
    BookEntry* entry = table_.insert(key);
    if (entry == nullptr && !is_empty(key) && sweeper_.busy()) {
        sweep(sweeper_.left());
        entry = table_.insert(key);
    }
    if (entry == nullptr) {
        counters_.bump(BookCount::series_refused);
        return nullptr;
    }
    sweeper_.inserted(table_, *entry);
    if (transfer_ != nullptr) {
        transfer_->next_slot = table_.pass_on(transfer_->next_slot, *entry);
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
    if (!known(*entry)) {
        forget(*entry);
        adopt_line(*entry, map.mapped_line);
    }
    // The file comes the evening before its day, so an announcement outlives one start of day.
    constexpr std::uint16_t starts_of_day = 2;
    announced_ += entry->announced == 0 ? 1 : 0;
    entry->announced = starts_of_day;
}

/// Resets an entry of which nothing is known to that of a series without messages. A start of day
/// brings an announcement one step closer to its end.
void Book::forget(BookEntry& entry) {
    if (entry.trade_record != 0) {
        trades_.release(entry.trade_record);
    }
    BookEntry left{};
    left.key = entry.key;
    left.announced = entry.announced;
    if (entry.announced != 0 && forgotten(entry)) {
        --left.announced;
        announced_ -= left.announced == 0 ? 1 : 0;
    }
    adopt_line(left, entry.line);
    entry = left;
}

void Book::sweep(std::size_t slots_count) {
    sweeper_.advance(table_, slots_count, [this](BookEntry& entry) {
        if (!forgotten(entry)) {
            return false;
        }
        forget(entry);  // returns its trade record to the pool
        if (entry.announced != 0) {
            return false;
        }
        counters_.bump(BookCount::series_forgotten);
        return true;
    });
}

}  // namespace pinstrike::actors
