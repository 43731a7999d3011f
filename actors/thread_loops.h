// path: cold
//
// The threads: loops around step(). What runs in them can as well be stepped by a test or a
// simulation; only the clock, the waiting and the signals to stop are here.
#pragma once

#include "actors/core.h"
#include "actors/feed_config.h"
#include "actors/parking.h"
#include "actors/peer/peer_task.h"
#include "actors/poller_task.h"
#include "actors/recovery/recovery_task.h"
#include "nic/clock.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace pinstrike::actors {

/// What the control thread and one hot thread tell each other. The flags are read and written with
/// acquire and release: what a thread did before `ended` is seen by whoever saw `ended`.
struct ThreadControl {
    std::atomic<bool> stop{false};       ///< control: come to an end
    std::atomic<bool> started{false};    ///< thread: the first step is next
    std::atomic<bool> ended{false};      ///< thread: nothing more will come of it
    std::atomic<bool> misplaced{false};  ///< thread: the system refused its cpu
};

/// Polls until told to stop or the input is exhausted; then finishes. `live`: its memory is fixed
/// after the start (captures may be read with allocations).
void run_poller(PollerTask& poller, CpuIndex cpu, WaitStrategy wait, bool live,
                const nic::Clock& clock, ThreadControl& control);

/// Starts the actors, runs them until told to stop, drains, stops the actors. Producers have ended
/// when `control.stop` is set. `bell` is what the producers wake it by; null where it spins.
void run_core(Core& core, CpuIndex cpu, Parking* bell, const nic::Clock& clock,
              ThreadControl& control);

/// Steps recovery and what is done for peers until told to stop; either may be null. `cpu`: of
/// housekeeping; negative: not pinned.
void run_recovery(RecoveryTask* recovery, peer::PeerTask* peers, CpuIndex cpu,
                  const nic::Clock& clock, ThreadControl& control);

}  // namespace pinstrike::actors
