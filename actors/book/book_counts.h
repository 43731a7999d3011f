// path: hot
//
// The counters and gauges of a book.
#pragma once

#include "actors/core/actor_report.h"
#include "config/counter.h"
#include "config/rows.h"

#include <array>
#include <string_view>

// clang-format off
#define PINSTRIKE_BOOK_COUNTS(ROW) \
    ROW(series_refused, messages, \
        "messages of series that did not fit in the full table: raise book.series_capacity") \
    ROW(late, messages, "messages received after their number had been declared lost") \
    ROW(late_before_day, messages, \
        "late messages from before the line's start of day: changed nothing") \
    ROW(series_unannounced, series, "series with messages that no series map had announced") \
    ROW(series_moved, series, "series that moved to another line") \
    ROW(series_forgotten, series, "series removed from the table after a start of day") \
    ROW(state_given, series, "states of series given to peers") \
    ROW(state_taken, series, \
        "states of series taken from a peer; counted again after a repeated request")

#define PINSTRIKE_BOOK_GAUGES(ROW) \
    ROW(entries, entries, \
        "Series in the book's table, including announced series without a message and " \
        "forgotten series that are not yet removed") \
    ROW(announced_entries, entries, \
        "Of these, series that the day's file or a series map announced, with or without a " \
        "message")

// clang-format on

namespace pinstrike::actors {

PINSTRIKE_ROWS(BookCount, PINSTRIKE_BOOK_COUNTS)
PINSTRIKE_ROWS(BookGauge, PINSTRIKE_BOOK_GAUGES)

using BookCounters = Counters<BookCount, BookCount_count>;

inline constexpr ActorTable book_gauges{"a book", "book", BookGauge_rows, true};
inline constexpr ActorTable book_counters{"a book", "book", BookCount_rows};

/// The listed series, and the messages of series that the full book refused.
inline constexpr std::array<std::string_view, 2> book_account_rows{"series", "series_refused"};

}  // namespace pinstrike::actors
