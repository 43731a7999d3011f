// path: hot
//
// A late message is one whose number had been declared lost. It changes only sides without newer
// state.
//
// The functions for messages of a series are not inlined, because then a message of any kind would
// save the registers that they need.
#include "actors/book/book_messages.h"

#include "actors/publish/bbo_rules.h"
#include "config/mistake.h"

namespace pinstrike::actors {

namespace {

/// Whether a message is from before its line's start of day. Such a message changes nothing.
bool before_day(BookEntries& entries, const feed::Header& header) {
    if ((header.flags & feed::flag_before_day) == 0) {
        return false;
    }
    entries.counters.bump(BookCount::late_before_day);
    return true;
}

/// Whether the state taken from a peer already includes a late message.
bool covered(const BookEntries& entries, const BookEntry& entry, const feed::Header& header) {
    if (!entry.has_trades()) {
        return false;
    }
    const TradeRecord& trades = entries.store.trades_at(entry);
    const bool behind = late_after(header.sequence, trades.covered_sequence);
    const bool foreign =
        (header.flags & feed::flag_before_flush) != 0 || entry.line() != header.line;
    if ((trades.flags & covered_here) != 0) {
        return foreign || !behind;
    }
    return (trades.flags & covered_elsewhere) != 0 && foreign && !behind;
}

void apply_late_quote(BookEntries& entries, BookEntry& entry, const feed::Event& event,
                      const MessageOrder& order) {
    if (covered(entries, entry, event.header)) {
        return;
    }
    ++entry.quotes;
    // A quote from before a flush, or on a line that the series left, changes no side.
    if (!order.foreign && !flushed_after(entries.store.lines[entry.line()], order.sequence)) {
        state_late_quote(entry, event);
    }
}

[[gnu::noinline]] void apply_quote(BookEntries& entries, const feed::Event& event) {
    if (before_day(entries, event.header)) {
        return;
    }
    BookEntry* const entry = entries.entry_for(event.body.quote.series);
    if (entry == nullptr) {
        return;
    }
    const auto guard = entries.store.writing(*entry);
    const MessageOrder order = entries.arrive(*entry, event.header);
    if (order.late) {
        apply_late_quote(entries, *entry, event, order);
        return;
    }
    ++entry->quotes;
    state_quote(*entry, event);
}

/// Applies a trade report or open interest.
[[gnu::noinline]] void apply_trade(BookEntries& entries, const feed::Event& event) {
    if (before_day(entries, event.header)) {
        return;
    }
    BookEntry* const entry = entries.entry_for(event.body.series);
    if (entry == nullptr) {
        return;
    }
    const auto guard = entries.store.writing(*entry);
    const MessageOrder order = entries.arrive(*entry, event.header);
    if (order.late && covered(entries, *entry, event.header)) {
        return;
    }
    TradeRules rules{entries.trades_of(*entry), order};
    if (event.header.kind == feed::EventKind::trade) {
        rules.apply(event.header, event.body.trade);
    } else {
        rules.state_open_interest(event.body.open_interest.open_interest);
    }
}

/// A summary does not create a series, but it is the latest message of a series that is known.
[[gnu::noinline]] void apply_end_of_day(BookEntries& entries, const feed::Event& event) {
    if (before_day(entries, event.header)) {
        return;
    }
    BookEntry* const entry = entries.store.table.find(event.body.end_of_day.series);
    if (entry != nullptr && entries.known(*entry)) {
        const auto guard = entries.store.writing(*entry);
        entries.arrive(*entry, event.header);
    }
}

/// Creates an entry for the first message of the series. A series map on another line than that of
/// the series (line 220) is ignored: the series' own line sends the same map, and if this feed does
/// not take that line, no start of day would ever remove the entry.
[[gnu::noinline]] void apply_series_map(BookEntries& entries, const feed::Event& event) {
    const feed::SeriesMap& map = event.body.series_map;
    if (map.mapped_line != event.header.line || before_day(entries, event.header)) {
        return;
    }
    if (BookEntry* const entry = entries.entry_for(map.series)) {
        const auto guard = entries.store.writing(*entry);
        entries.announce(*entry, map.mapped_line);
        if ((event.header.flags & feed::flag_from_file) != 0 && map.id != 0) {
            entries.store.directory.set_id(entry->index(), map.id);
        }
    }
}

void apply_control(BookEntries& entries, const feed::Event& event) {
    const std::uint16_t line = event.header.line;
    if (event.body.control.forget == feed::Forget::day) {
        entries.start_day(line, entries.clock.stamp());
    } else {
        entries.store.lines[line].apply(event, entries.clock.stamp());
    }
}

void apply_gap(BookEntries& entries, const feed::Event& event) {
    if (!planted(Mistake::book) || event.body.gap.cause != feed::GapCause::ring_full) {
        entries.store.lines[event.header.line].apply(event, entries.clock.stamp());
    }
}

}  // namespace

void apply_message(BookEntries& entries, const feed::Event& event) {
    using feed::EventKind;
    switch (event.header.kind) {
        case EventKind::quote:
            apply_quote(entries, event);
            break;
        case EventKind::trade:
        case EventKind::open_interest:
            apply_trade(entries, event);
            break;
        case EventKind::end_of_day:
            apply_end_of_day(entries, event);
            break;
        case EventKind::series_map:
            apply_series_map(entries, event);
            break;
        case EventKind::control:
            apply_control(entries, event);
            break;
        case EventKind::gap:
            apply_gap(entries, event);
            break;
        default:
            break;
    }
}

}  // namespace pinstrike::actors
