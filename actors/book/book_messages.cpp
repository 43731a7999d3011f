// path: hot
//
// A late message is one whose number had been declared lost. It changes only sides without newer
// state.
//
// The functions for messages of a series are not inlined, because then a message of any kind would
// save the registers that they need.
#include "actors/book/book_messages.h"

#include "actors/book/bbo_rules.h"
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

/// Whether the state of a side is older than a late message of its line.
bool yields(const BookSide& side, std::uint32_t sequence) {
    return !is(side, side_known) || is(side, side_elsewhere) || late_after(sequence, side.sequence);
}

void apply_late_quote(BookEntries& entries, BookEntry& entry, const feed::Event& event,
                      const MessageOrder& order) {
    if (covered(entries, entry, event.header)) {
        return;
    }
    ++entry.quotes;
    if (order.foreign || entries.store.lines[entry.line()].flushed_after(order.sequence)) {
        return;  // a quote from before a flush, or on a line that the series left, changes no side
    }
    BookEntry stated = entry;
    state_quote(stated, event);
    const feed::IndicatorEffect effect = quote_effect(event.header);
    const auto yield = [&order](BookSide& side, const BookSide& to, feed::BestEffect on_side) {
        if (on_side != feed::BestEffect::no_change && yields(side, order.sequence)) {
            side = to;
            raise(side, side_late);  // stale while numbers after it are missing
        }
    };
    yield(entry.bid, stated.bid, effect.bid);
    yield(entry.offer, stated.offer, effect.offer);
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

/// Flushes quotes. A late flush only removes what was stated before it, and has no effect if
/// another flush or a start of day came after it.
void flush(LineMemory& line, const feed::Header& header, std::uint64_t stamp) {
    if ((header.flags & (feed::flag_before_day | feed::flag_before_flush)) != 0) {
        return;
    }
    if ((header.flags & feed::flag_late) != 0) {
        line.flush_quotes_late(stamp, header.sequence);
    } else {
        line.flush_quotes(stamp);
    }
}

void apply_control(BookEntries& entries, const feed::Event& event) {
    const std::uint16_t line = event.header.line;
    switch (event.body.control.forget) {
        case feed::Forget::nothing:
            break;
        case feed::Forget::quotes:
            flush(entries.store.lines[line], event.header, entries.clock.stamp());
            break;
        case feed::Forget::day:
            entries.start_day(line, entries.clock.stamp());
            break;
    }
}

void apply_gap(BookEntries& entries, const feed::Event& event) {
    const feed::Gap& gap = event.body.gap;
    LineMemory& line = entries.store.lines[event.header.line];
    if (gap.cause == feed::GapCause::repaired) {
        if (is_after_flush(event.header)) {
            line.repair(feed::serial_of(gap.first), feed::serial_of(gap.last));
        }
    } else if (gap.cause != feed::GapCause::bridge &&
               (!planted(Mistake::book) || gap.cause != feed::GapCause::ring_full)) {
        line.lose(entries.clock.stamp(), feed::serial_of(gap.first), feed::serial_of(gap.last),
                  gap.messages);
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
