// path: hot
//
// Late messages, whose number had been declared lost. They change only sides without newer state.
#include "actors/book/book.h"

namespace pinstrike::actors {

namespace {

/// Whether the state of a side is older than a late message of its line.
bool yields(const BookSide& side, std::uint32_t sequence) {
    return !is(side, side_known) || is(side, side_elsewhere) ||
           sequence_after(sequence, side.sequence);
}

}  // namespace

void Book::apply_late_quote(BookEntry& entry, const feed::Event& event, const MessageOrder& order) {
    if (covered(entry, event.header)) {
        return;
    }
    ++entry.quotes;
    if (order.foreign || store_.lines[entry.line()].flushed_after(order.sequence)) {
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

MessageOrder Book::arrive_late(BookEntry& entry, const feed::Header& header) {
    counters_.bump(BookCount::late);
    const bool before_flush = (header.flags & feed::flag_before_flush) != 0;
    if (!catch_up_with_line(entry)) {
        adopt_line(entry, header.line);
    }
    return {.sequence = header.sequence,
            .late = true,
            .foreign = before_flush || entry.line() != header.line};
}

}  // namespace pinstrike::actors
