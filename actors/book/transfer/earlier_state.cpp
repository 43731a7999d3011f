// path: hot
#include "actors/book/transfer/earlier_state.h"

#include "actors/book/book_entry.h"
#include "actors/core/series_fields.h"
#include "actors/publish/line_memory.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

namespace {

/// What happened to a series since the place of its earlier state.
struct Since {
    bool flushed = false;  ///< quotes of the line were flushed, or its numbers began anew
    bool lost = false;     ///< messages are missing
    bool moved = false;    ///< the series is on another line now
};

/// The stamps of a line are 0 until their first event since the start.
Since since(const LineMemory& line, const LinePlace& row, std::uint32_t covered) {
    Since result;
    const bool joins = row.heard && row.origin_known && !row.resets_seen();
    const bool renumbered = joins && !sequence_after(row.origin, covered);
    result.flushed = line.flush != 0 || line.late_flush != 0 || renumbered;
    result.lost = line.gap != 0 || (row.heard && !joins) || row.lacks_before_origin(covered);
    return result;
}

void add_side(BookSide& own, const BookSide& earlier, const Since& since) {
    if (is(own, side_known) || since.flushed) {
        return;
    }
    own = earlier;
    if (is(own, side_known) && since.lost) {
        raise(own, side_stale);
    }
    if (is(own, side_known) && since.moved) {
        raise(own, side_elsewhere);
    }
}

/// The bits of a value that the latest report determines, by its touched bit.
constexpr unsigned bits_of(TradeFlag touched, unsigned others) {
    return others | touched | unsigned{touched} << elsewhere_shift;
}

constexpr unsigned last_bits = bits_of(last_touched, has_last);
constexpr unsigned open_bits = bits_of(open_touched, has_open | open_stated);
constexpr unsigned open_interest_bits = bits_of(open_interest_touched, has_open_interest);

void add_range(TradeRecord& own, const TradeRecord& earlier) {
    if ((earlier.flags & has_range) == 0) {
        return;
    }
    const bool first = (own.flags & has_range) == 0;
    if (first ||
        Price{earlier.high, earlier.high_code}.e8() > Price{own.high, own.high_code}.e8()) {
        own.high = earlier.high;
        own.high_code = earlier.high_code;
    }
    if (first || Price{earlier.low, earlier.low_code}.e8() < Price{own.low, own.low_code}.e8()) {
        own.low = earlier.low;
        own.low_code = earlier.low_code;
    }
    own.flags |= has_range;
}

void take_bits(TradeRecord& own, const TradeRecord& earlier, unsigned bits) {
    own.flags = static_cast<std::uint16_t>((own.flags & ~bits) | (earlier.flags & bits));
}

/// The first trade of the time since set the open only if nothing had set it before.
bool takes_open(const TradeRecord& own, const TradeRecord& earlier) {
    const bool decided = (own.flags & (open_stated | open_cancelled | all_cancelled)) != 0;
    return !decided && ((earlier.flags & has_open) != 0 || (own.flags & open_bits) == 0);
}

void add_trades(TradeRecord& own, const TradeRecord& earlier) {
    own.trades += earlier.trades;
    if ((own.flags & all_cancelled) == 0) {
        own.volume +=
            earlier.volume - std::min<std::uint64_t>(earlier.volume, own.excess_cancelled);
        add_range(own, earlier);
    }
    if (takes_open(own, earlier)) {
        own.open = earlier.open;
        own.open_code = earlier.open_code;
        own.open_sequence = earlier.open_sequence;
        take_bits(own, earlier, open_bits);
    }
    if ((own.flags & last_bits) == 0) {
        own.last = earlier.last;
        own.last_code = earlier.last_code;
        own.last_size = earlier.last_size;
        own.last_participant = earlier.last_participant;
        own.last_type = earlier.last_type;
        own.last_sequence = earlier.last_sequence;
        take_bits(own, earlier, last_bits);
    }
    if ((own.flags & open_interest_bits) == 0) {
        own.open_interest = earlier.open_interest;
        own.open_interest_sequence = earlier.open_interest_sequence;
        take_bits(own, earlier, open_interest_bits);
    }
    own.flags |= has_earlier;
}

/// The record's trades, in a form whose numbers are not compared with those of a later numbering.
TradeRecord elsewhere(TradeRecord trades) {
    const unsigned touched = trades.flags & touched_here;
    trades.flags =
        static_cast<std::uint16_t>((trades.flags & ~touched) | touched << elsewhere_shift);
    return trades;
}

}  // namespace

StateVerdict merge_earlier(BookEntries& entries, const LinePlace& row, const StateRecord& record) {
    const LineMemory& line = entries.store.lines[record.line];
    if (line.day != 0) {
        return StateVerdict::other_reset;
    }
    if (row.heard && !row.origin_known && !row.resets_seen() && !record.forced) {
        return StateVerdict::unheard;
    }
    BookEntry* const entry = entries.entry_for(record.key);
    if (entry == nullptr) {
        return StateVerdict::no_room;
    }
    const auto guard = entries.store.writing(*entry);
    const bool known = entries.catch_up_with_line(*entry);
    constexpr unsigned taken_before = covered_here | covered_elsewhere | has_earlier;
    if (known && entry->has_trades() &&
        (entries.store.trades_at(*entry).flags & taken_before) != 0) {
        return StateVerdict::repeated;
    }
    Since happened = since(line, row, record.place.sequence);
    happened.moved = known && entry->line() != record.line;
    if (happened.moved) {  // it is not known whether events of both lines came before it moved
        const LineMemory& present = entries.store.lines[entry->line()];
        if (present.day != 0) {
            return StateVerdict::other_reset;
        }
        happened.flushed = happened.flushed || present.flush != 0 || present.late_flush != 0;
        happened.lost = happened.lost || present.gap != 0;
    }
    if (!known) {
        entries.adopt_line(*entry, record.line);
    }
    entry->quotes += record.quotes;
    add_side(entry->bid, record.bid, happened);
    add_side(entry->offer, record.offer, happened);
    add_trades(entries.trades_of(*entry),
               happened.flushed || happened.moved ? elsewhere(record.trades) : record.trades);
    entries.counters.bump(BookCount::state_taken);
    return StateVerdict::taken;
}

}  // namespace pinstrike::actors
