// path: cold
//
// Fills the account from the counters of pollers and cores. To be called when the threads that
// count have ended.
#pragma once

#include "actors/core/core.h"
#include "actors/poller/poller_task.h"
#include "actors/telemetry/account.h"

#include <span>
#include <string>

namespace pinstrike::actors {

class Appliance;

/// Adds the poller's ports, lines, rejects and rings. `cores`: names of the cores of its rings, in
/// order.
void add_poller(Account& account, PollerTask& poller, std::span<const std::string> cores);

/// Adds the core and its actors.
void add_core(Account& account, const Core& core);

/// To be called after the appliance's stop().
[[nodiscard]] Account account_of(Appliance& appliance);

}  // namespace pinstrike::actors
