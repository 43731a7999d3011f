// path: cold
//
// The account of a snapshot. Taken once the threads that count have ended.
#pragma once

#include "actors/telemetry/account.h"
#include "actors/telemetry/counter_snapshot.h"

namespace pinstrike::actors {

/// Adds the poller's ports, lines, rejects and rings.
void add_poller(Account& account, const PollerSnapshot& poller);

/// Adds the core and its actors.
void add_core(Account& account, const CoreSnapshot& core);

/// Of a snapshot with Running::stopped.
[[nodiscard]] Account account_of(const CounterSnapshot& counters);

}  // namespace pinstrike::actors
