// path: cold
//
// The threads: loops around step(). What runs in them can as well be stepped by a test or a
// simulation; only the clock, the waiting and the signals to stop are here.
#pragma once

#include "actors/core/core.h"
#include "actors/peer/peer_task.h"
#include "actors/poller/poller_task.h"
#include "actors/recovery/recovery_task.h"
#include "actors/threads/call_filter.h"
#include "actors/threads/parking.h"
#include "actors/topology/feed_config.h"
#include "nic/clock.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace pinstrike::actors {

/// What the control thread and one hot thread tell each other. The flags are read and written with
/// acquire and release: what a thread did before `ended` is seen by whoever saw `ended`.
struct ThreadControl {
    std::atomic<bool> stop{false};       ///< control: come to an end
    std::atomic<bool> started{false};    ///< thread: the first step is next
    std::atomic<bool> ended{false};      ///< thread: nothing more will come of it
    std::string failure;                 ///< thread, before `ended`: why it ended by itself
    std::atomic<bool> misplaced{false};  ///< thread: the system refused its cpu
    std::atomic<int> unfiltered{0};      ///< thread: the errno with which its filter was refused
    std::unique_ptr<CallFilter> filter;  ///< of hot threads; null: they may call what they like
};

/// Of a hot thread, since its start.
struct RefusedCalls {
    std::string thread;
    std::uint64_t count = 0;
    std::string last;  ///< "openat"; empty: none
    int unfiltered =
        0;  ///< the errno with which the kernel refused the filter itself; 0: it did not
};

[[nodiscard]] RefusedCalls refused_calls(const std::string& thread, const ThreadControl& control);

// Each thread gives up all rights before anything else, and a hot one the system calls that it has
// no use for as soon as it is ready.

/// Polls until told to stop or the input is exhausted; then finishes. `live`: its memory is fixed
/// after the start (captures may be read with allocations).
void run_poller(PollerTask& poller, CpuIndex cpu, WaitStrategy wait, bool live,
                const nic::Clock& clock, ThreadControl& control);

/// Starts the actors, runs them until told to stop, drains, stops the actors. Producers have ended
/// when `control.stop` is set. `bell` is what the producers wake it by; null where it spins.
void run_core(Core& core, CpuIndex cpu, Parking* bell, const nic::Clock& clock,
              ThreadControl& control);

/// Steps recovery and what is done for peers until told to stop; either may be null. An exception
/// ends this thread alone, and becomes `control.failure`. `cpu`: of housekeeping; negative: not
/// pinned.
void run_recovery(RecoveryTask* recovery, peer::PeerTask* peers, CpuIndex cpu,
                  const nic::Clock& clock, ThreadControl& control);

}  // namespace pinstrike::actors
