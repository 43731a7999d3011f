// path: mixed, hot: on_events() and what it calls
#include "actors/book/book.h"

namespace pinstrike::actors {

void Book::on_start(const CoreInfo& /*core*/) {
    store_.memory.prefault();
    if (transfer_ != nullptr) {
        start_transfer();
    }
}

bool Book::lists(const feed::SeriesKey& key) const {
    return config_.test_symbols || config_.is_test_symbol == nullptr ||
           !config_.is_test_symbol(key.symbol_word());
}

std::size_t Book::series_count() const {
    std::size_t count = 0;
    for_each_series([&count](const feed::SeriesKey&) { ++count; });
    return count;
}

// --- hot ---

void Book::on_events(EventBatch batch) {
    if (transfer_ != nullptr) [[unlikely]] {
        note_for_transfer(batch);
    }
    apply_all(batch);
    // Behind the entries, so that these include all events before a published position.
    store_.stream.append(batch.records(), clock_);
}

/// Applies a batch in stretches, each in three passes. The first pass prefetches the first slots of
/// all series of the stretch, so that as many loads are in flight at once as the processor allows.
/// The second pass prefetches the slots of the series that are in their second slot. The third pass
/// applies the messages.
void Book::apply_all(EventBatch batch) {
    constexpr unsigned stretch_messages = 128;  // 64 are too few, 256 are no better
    Lookup stretch[stretch_messages];
    EventBatch::iterator at = batch.begin();
    const EventBatch::iterator end = batch.end();
    while (at != end) {
        unsigned count = 0;
        for (; count < stretch_messages && at != end; ++at, ++count) {
            begin_lookup(stretch[count], *at);
            batch.ask_behind(*at);
        }
        for (unsigned i = 0; i < count; ++i) {
            end_lookup(stretch[i]);
        }
        StampClock::Stamps stamps{clock_};
        for (unsigned i = 0; i < count; ++i) {
            apply(stretch[i], stamps.next(stretch[i].event->header.ts_receive_ns));
        }
        stamps.end();
        watch(*stretch[sample_++ % count].event);
    }
}

/// Applies a message. Nearly all messages are quotes of series on whose line nothing happened;
/// their code is inline here. Rare cases are out of line.
[[gnu::always_inline]] inline void Book::apply(const Lookup& lookup, std::uint64_t stamp) {
    const feed::Event& event = *lookup.event;
    const feed::Header& header = event.header;
    if (header.kind != feed::EventKind::quote) [[unlikely]] {
        clock_.set(stamp);
        return apply_series(event);
    }
    BookEntry* const entry = lookup.entry;
    const LineMemory& line = store_.lines[header.line];
    if (is_late(header) || !(entry->key() == event.body.quote.series)) [[unlikely]] {
        clock_.set(stamp);
        return apply_rare_quote(event);
    }
    const std::uint64_t before = entry->stamp;
    if (!stamp_after(before, line.changed) || entry->line() != header.line) [[unlikely]] {
        if (!stands(*entry, line, header.line)) {
            clock_.set(stamp);
            return apply_rare_quote(event);
        }
        begin_quote(*entry, stamp);
        if (stamp_after(line.flush, before)) {
            store_sides(*entry, _mm256_setzero_si256());
        }
    } else {
        begin_quote(*entry, stamp);
    }
    ++entry->quotes;
    state_quote(*entry, event);
    end_quote(*entry, stamp | header.line);
}

/// Applies an event from the journal again.
void Book::apply_again(const feed::Event& event) {
    if (event.header.kind == feed::EventKind::quote) {
        apply_rare_quote(event);
    } else {
        apply_series(event);
    }
}

/// Offers the series of one message of a stretch, at a varying place, to the busiest series.
void Book::watch(const feed::Event& event) {
    if (event.header.kind == feed::EventKind::quote) {
        const BookEntry* const entry = store_.table.find(event.body.series);
        if (entry != nullptr) {
            candidates_.consider(entry->key(), entry->quotes);
        }
    }
}

/// Applies the first quote of a series, the first since an event of its line, and a late quote.
[[gnu::noinline]] void Book::apply_rare_quote(const feed::Event& event) {
    const feed::Header& header = event.header;
    if ((header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    BookEntry* const entry = entry_for(event.body.quote.series);
    if (entry == nullptr) {
        return;
    }
    const auto guard = store_.writing(*entry);
    const MessageOrder order = arrive(*entry, header);
    if (order.late) {
        apply_late_quote(*entry, event, order);
        return;
    }
    ++entry->quotes;
    state_quote(*entry, event);
}

void Book::apply_series(const feed::Event& event) {
    using feed::EventKind;
    switch (event.header.kind) {
        case EventKind::trade:
            apply_trade(event);
            break;
        case EventKind::open_interest:
            apply_open_interest(event);
            break;
        case EventKind::end_of_day:
            apply_end_of_day(event);
            break;
        case EventKind::series_map:
            apply_series_map(event);
            break;
        case EventKind::control:
            apply_control(event);
            break;
        case EventKind::gap:
            apply_gap(event);
            break;
        default:
            break;
    }
}

void Book::apply_trade(const feed::Event& event) {
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    if (BookEntry* const entry = entry_for(event.body.trade.series)) {
        const auto guard = store_.writing(*entry);
        const MessageOrder order = arrive(*entry, event.header);
        if (order.late && covered(*entry, event.header)) {
            return;
        }
        TradeRules(trades_of(*entry), order).apply(event.header, event.body.trade);
    }
}

void Book::apply_open_interest(const feed::Event& event) {
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    if (BookEntry* const entry = entry_for(event.body.open_interest.series)) {
        const auto guard = store_.writing(*entry);
        const MessageOrder order = arrive(*entry, event.header);
        if (order.late && covered(*entry, event.header)) {
            return;
        }
        TradeRules(trades_of(*entry), order)
            .state_open_interest(event.body.open_interest.open_interest);
    }
}

/// A summary does not create a series, but it is the latest message of a series that is known.
void Book::apply_end_of_day(const feed::Event& event) {
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    const feed::SeriesKey& key = event.body.end_of_day.series;
    BookEntry* const entry = store_.table.find(key);
    if (entry != nullptr && known(*entry)) {
        const auto guard = store_.writing(*entry);
        arrive(*entry, event.header);
    }
}

/// Brings the entry up to date and makes the message's line its line, unless the message is late
/// and on a line that the series has left.
MessageOrder Book::arrive(BookEntry& entry, const feed::Header& header) {
    if (is_late(header)) {
        return arrive_late(entry, header);
    }
    if (catch_up_with_line(entry) && entry.line() != header.line) {
        leave_line(entry);
    }
    adopt_line(entry, header.line);
    return {.sequence = header.sequence};
}

/// Applies to an entry what happened to its line. False if nothing is known of the series, because
/// no message came for it, or none since a start of day.
bool Book::catch_up_with_line(BookEntry& entry) {
    if (!known(entry)) {
        forget(entry);
        counters_.bump(BookCount::series_unannounced, entry.announced() == 0 ? 1 : 0);
        return false;
    }
    const LineMemory& line = store_.lines[entry.line()];
    if (stamp_after(line.changed, entry.stamp)) {
        if (stamp_after(line.flush, entry.stamp)) {
            touch_elsewhere(entry);
        }
        clear_flushed_sides(entry);
    }
    adopt_line(entry, entry.line());
    return true;
}

TradeRecord& Book::trades_of(BookEntry& entry) {
    TradeRecord& trades = store_.trades_at(entry);
    if (!entry.has_trades()) {
        trades = TradeRecord{};
        entry.record |= PINSTRIKE_TRADES;
    }
    return trades;
}

}  // namespace pinstrike::actors
