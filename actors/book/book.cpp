// path: mixed, hot: on_events() and what it calls
#include "actors/book/book.h"

#include "actors/book/book_messages.h"
#include "actors/publish/bbo_rules.h"

namespace pinstrike::actors {

void Book::on_start(const CoreInfo& /*core*/) {
    entries_.store.memory.prefault();
    if (transfer_ != nullptr) {
        transfer_->prefault();
    }
}

void Book::join_transfer(const BookTransferConfig& config, StateRings rings) {
    transfer_ = std::make_unique<BookTransfer>(config, std::move(rings), entries_);
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

namespace {

/// Whether nothing but a flush of quotes happened to the line of an entry with quotes since the
/// entry was last brought up to date. Computed without branches, so that the caller needs only one:
/// after a flush, each entry meets the flush at its first quote, which a branch cannot predict.
bool only_flushed(const BookEntry& entry, const LineMemory& line, std::uint16_t number) {
    const auto old = [&entry](std::uint64_t stamp) -> unsigned {
        return stamp_after(stamp, entry.stamp) ? 0 : 1;
    };
    const unsigned no_trades = entry.has_trades() ? 0 : 1;
    const unsigned same_line = entry.line() == number ? 1 : 0;
    const unsigned quoted = entry.quotes != 0 ? 1 : 0;
    return (same_line & quoted & old(line.day) & old(line.late_flush) & old(line.gap) &
            (no_trades | old(line.flush))) != 0;
}

}  // namespace

void Book::on_events(EventBatch batch) {
    if (transfer_ != nullptr) [[unlikely]] {
        transfer_->note(batch);
    }
    apply_all(batch);
    // The stream is written after the entries, so that the entries include all events before a
    // published position.
    entries_.store.stream.append(batch.records(), entries_.clock);
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
            batch.prefetch_behind(*at);
        }
        for (unsigned i = 0; i < count; ++i) {
            end_lookup(stretch[i]);
        }
        StampClock::Stamps stamps{entries_.clock};
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
        entries_.clock.set(stamp);
        return apply_message(entries_, event);
    }
    BookEntry* const entry = lookup.entry;
    const LineMemory& line = entries_.store.lines[header.line];
    if (is_late(header) || !(entry->key() == event.body.quote.series)) [[unlikely]] {
        entries_.clock.set(stamp);
        return apply_message(entries_, event);
    }
    const std::uint64_t before = entry->stamp;
    if (!stamp_after(before, line.changed) || entry->line() != header.line) [[unlikely]] {
        if (!only_flushed(*entry, line, header.line)) {
            entries_.clock.set(stamp);
            return apply_message(entries_, event);
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

/// Offers the series of one message of a stretch, at a varying place, to the busiest series.
void Book::watch(const feed::Event& event) {
    if (event.header.kind == feed::EventKind::quote) {
        const BookEntry* const entry = entries_.store.table.find(event.body.series);
        if (entry != nullptr) {
            candidates_.consider(entry->key(), entry->quotes);
        }
    }
}

}  // namespace pinstrike::actors
