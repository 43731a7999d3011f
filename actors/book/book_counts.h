// path: hot
//
// What a book counts beside its events.
#pragma once

#include "config/counter.h"
#include "config/rows.h"

// clang-format off
#define PINSTRIKE_BOOK_COUNTS(ROW)                                                               \
    ROW(series_refused, messages,                                                                \
        "for a series the full table had no room for: raise book.series_capacity")               \
    ROW(venue_quotes_refused, messages, "quotes the full table of venue quotes had no room for") \
    ROW(late, messages, "came after their number had been declared lost")                        \
    ROW(late_before_day, messages, "late, from before the line's start of day: changed nothing") \
    ROW(series_unannounced, series, "heard, though no series map had announced them")            \
    ROW(series_moved, series, "changed their line")                                              \
    ROW(series_forgotten, series, "taken out of the table after a start of day")                 \
    ROW(state_given, series, "states of series given to peers")                                  \
    ROW(state_taken, series, "states of series taken from a peer; again where it was asked again")

// clang-format on

namespace pinstrike::actors {

PINSTRIKE_ROWS(BookCount, PINSTRIKE_BOOK_COUNTS)

using BookCounters = Counters<BookCount, BookCount_count>;

}  // namespace pinstrike::actors
