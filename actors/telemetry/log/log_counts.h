// path: cold
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::actors {

#define PINSTRIKE_LOG_COUNTS(ROW)                                                        \
    ROW(written, entries,                                                                \
        "entries written, including those that report the number of suppressed entries") \
    ROW(limited, entries, "entries suppressed because the same had just been logged")    \
    ROW(failed, entries, "entries that could not be written: standard error is full or closed")

PINSTRIKE_ROWS(LogCount, PINSTRIKE_LOG_COUNTS)

/// The control thread writes these.
using LogCounters = Counters<LogCount, LogCount_count>;

}  // namespace pinstrike::actors
