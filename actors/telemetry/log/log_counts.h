// path: cold
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::actors {

#define PINSTRIKE_LOG_COUNTS(ROW)                                                             \
    ROW(written, entries, "entries written, those that say how many were limited among them") \
    ROW(limited, entries, "entries not written because the same had just been said")          \
    ROW(failed, entries, "entries that could not be written: standard error is full or closed")

PINSTRIKE_ROWS(LogCount, PINSTRIKE_LOG_COUNTS)

/// The control thread writes these.
using LogCounters = Counters<LogCount, LogCount_count>;

}  // namespace pinstrike::actors
