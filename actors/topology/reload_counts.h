// path: cold
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::actors {

#define PINSTRIKE_RELOAD_COUNTS(ROW)                                                 \
    ROW(applied, reloads,                                                            \
        "reloads of the config that were applied, including those without a change") \
    ROW(refused, reloads,                                                            \
        "reloads of the config that were refused: it is wrong, or a change needs a restart")

PINSTRIKE_ROWS(ReloadCount, PINSTRIKE_RELOAD_COUNTS)

/// The control thread writes these.
struct ReloadCounters : Counters<ReloadCount, ReloadCount_count> {
    Counter last_refused;  ///< 1: the last reload was refused, so the file differs from the config
                           ///< in use
};

}  // namespace pinstrike::actors
