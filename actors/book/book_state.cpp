// path: cold
//
// The state of a series for readers.
#include "actors/book/book.h"

namespace pinstrike::actors {

namespace {

std::optional<BestQuote> best_of(const BookSide& side) {
    if (!is(side, side_present)) {
        return std::nullopt;
    }
    return BestQuote{participant_of(side), price_of(side), size_of(side)};
}

void add_trades(SeriesState& state, const TradeRecord& record) {
    if ((record.flags & has_open) != 0) {
        state.open = Price{record.open, record.open_code};
    }
    if ((record.flags & has_range) != 0) {
        state.high = Price{record.high, record.high_code};
        state.low = Price{record.low, record.low_code};
    }
    if ((record.flags & has_last) != 0) {
        state.last = LastTrade{record.last_participant,
                               {record.last, record.last_code},
                               record.last_size,
                               record.last_type};
    }
    if ((record.flags & has_open_interest) != 0) {
        state.open_interest = record.open_interest;
    }
    state.volume = record.volume;
    state.trades = record.trades;
}

}  // namespace

std::optional<SeriesState> Book::find(const feed::SeriesKey& key) const {
    const BookEntry* const found = entries_.store.table.find(key);
    if (found == nullptr || !entries_.known(*found)) {
        return std::nullopt;
    }
    BookEntry entry = *found;
    entries_.clear_flushed_sides(entry);
    SeriesState state;
    state.key = key;
    state.line = entry.line();
    state.bid = best_of(entry.bid);
    state.offer = best_of(entry.offer);
    state.bid_state = entries_.state_of(entry, entry.bid);
    state.offer_state = entries_.state_of(entry, entry.offer);
    state.quotes = entry.quotes;
    if (entry.has_trades()) {
        add_trades(state, entries_.store.trades_at(entry));
    }
    return state;
}

}  // namespace pinstrike::actors
