// path: hot
//
// Messages whose number had been declared lost: what is newer stands, side by side.
#include "actors/book/book.h"

namespace pinstrike::actors {

namespace {

/// True where what a side says is older than a late message of its line.
bool yields(const BookSide& side, std::uint32_t sequence) {
    return !side.is(side_known) || side.is(side_elsewhere) ||
           sequence_after(sequence, side.sequence);
}

}  // namespace

void Book::apply_late_quote(BookEntry& entry, const feed::Event& event, const Standing& standing) {
    if (covered(entry, event.header)) {
        return;
    }
    ++entry.quotes;
    if (standing.foreign || lines_[entry.line].flushed_after(standing.sequence)) {
        return;  // a series takes no sides from before a flush, nor from a line it has left
    }
    const QuoteStatements says(event);
    // Numbers behind it may be missing still: it is fresh once they are not.
    constexpr unsigned mark = side_known | side_late;
    if (yields(entry.bid, standing.sequence)) {
        state_side(entry.bid, says.effect.bid, says.bid, says.best_bid, standing.sequence, mark);
    }
    if (yields(entry.offer, standing.sequence)) {
        state_side(entry.offer, says.effect.offer, says.offer, says.best_offer, standing.sequence,
                   mark);
    }
    if (config_.venue_quotes) {
        keep_venue_quote(event);
    }
}

Standing Book::arrive_late(BookEntry& entry, const feed::Header& header) {
    counters_.bump(BookCount::late);
    const bool before_flush = (header.flags & feed::flag_before_flush) != 0;
    if (!settle(entry)) {
        settle_anew(entry, header.line);
    }
    return {.sequence = header.sequence,
            .late = true,
            .foreign = before_flush || entry.line != header.line};
}

}  // namespace pinstrike::actors
