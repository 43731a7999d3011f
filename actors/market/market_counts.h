// path: hot
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::actors {

// clang-format off
#define PINSTRIKE_MARKET_COUNTS(ROW) \
    ROW(read, records, "events read from the feed's memory") \
    ROW(served, records, "of these, events of series that a client follows") \
    ROW(filtered, records, "of these, events of series that no client follows") \
    ROW(of_lines, records, "of these, events of lines: controls, gaps, texts") \
    ROW(quotes, records, "of the events read, quotes") \
    ROW(trades, records, "of the events read, trades and cancels") \
    ROW(cancels, records, \
        "cancels of trades, which no schema has a place for (types A, C, E and G)") \
    ROW(unknown_participants, records, \
        "messages of a participant that has no number in the list of publishers; theirs is 0") \
    ROW(late_trades, records, \
        "trades that came after the end of their bar's interval, and are in none") \
    ROW(without_id, records, \
        "of the events read, those dropped because their series had no id: too many waited, too " \
        "long, or until the end") \
    ROW(missed, records, \
        "events that this process was too slow to read; the clients of a gateway are notified")
// clang-format on

/// What the gateway read from the feed.
PINSTRIKE_ROWS(MarketCount, PINSTRIKE_MARKET_COUNTS)

using MarketCounters = Counters<MarketCount, MarketCount_count>;

}  // namespace pinstrike::actors
