// path: cold
//
// What a poller and a core counted, put into the account's places. To be read once the threads
// that count have ended.
#pragma once

#include "actors/core/core.h"
#include "actors/poller/poller_task.h"
#include "actors/telemetry/account.h"

#include <span>
#include <string>

namespace pinstrike::actors {

class Appliance;

/// Adds the poller's ports, lines, rejects, and its rings to the cores of these names, in order.
void add_poller(Account& account, PollerTask& poller, std::span<const std::string> cores);

/// Adds the core and its actors.
void add_core(Account& account, const Core& core);

/// After the appliance's stop().
[[nodiscard]] Account account_of(Appliance& appliance);

}  // namespace pinstrike::actors
