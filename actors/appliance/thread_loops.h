// path: cold
//
// The loops around step() that threads run. Tests and simulations can call step() themselves, so
// only the clock, the waiting and the stop flags are here.
#pragma once

#include "actors/core/core.h"
#include "actors/peer/peer_task.h"
#include "actors/poller/poller_task.h"
#include "actors/recorder/recorder_task.h"
#include "actors/recovery/recovery_task.h"
#include "actors/snapshot/snapshot_loader.h"
#include "actors/snapshot/snapshot_task.h"
#include "actors/snapshot/state_recovery.h"
#include "actors/threads/call_filter.h"
#include "actors/threads/parking.h"
#include "actors/topology/feed_config.h"
#include "nic/clock.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace pinstrike::actors {

/// A thread, and the flags between it and the control thread. Acquire and release order: a thread
/// that reads `ended` sees everything that the other thread did before.
struct ThreadControl {
    std::atomic<bool> stop{false};     ///< set by control: the thread must end
    std::atomic<bool> started{false};  ///< set by the thread: the first step comes next
    std::atomic<bool> ended{false};    ///< set by the thread: it does nothing more
    std::string failure;  ///< set by the thread before `ended`: the error that ended it
    std::atomic<bool> misplaced{false};  ///< set by the thread: the system refused its CPU
    std::atomic<int> unfiltered{0};  ///< set by the thread: errno if installing the filter failed
    std::unique_ptr<CallFilter> filter;  ///< for hot threads; null: all calls are allowed
    std::thread thread;                  ///< control's
};

/// The system calls of a hot thread that were refused since its start.
struct RefusedCalls {
    std::string thread;
    std::uint64_t count = 0;
    std::string last;    ///< name of the last call, such as "openat"; empty: none
    int unfiltered = 0;  ///< errno if the kernel refused the filter itself; else 0
};

[[nodiscard]] RefusedCalls refused_calls(const std::string& thread, const ThreadControl& control);

// Each thread drops all rights before anything else. A hot thread also installs its system call
// filter as soon as it is ready.

/// Polls until `control.stop` is set or the input is exhausted, then finishes. `live`: the thread
/// must not allocate after the start (reading captures may allocate).
void run_poller(PollerTask& poller, CpuIndex cpu, WaitStrategy wait, bool live,
                const nic::Clock& clock, ThreadControl& control);

/// Starts the actors, runs them until `control.stop` is set, drains the rings, stops the actors.
/// Producers must have ended when `control.stop` is set. `waker`: wakes the thread; null if it
/// spins.
void run_core(Core& core, CpuIndex cpu, Parking* waker, const nic::Clock& clock,
              ThreadControl& control);

/// The tasks of the recovery thread; each may be null, but not all.
struct RecoveryTasks {
    RecoveryTask* recovery = nullptr;
    peer::PeerTask* peers = nullptr;
    SnapshotTask* snapshots = nullptr;
    SnapshotLoader* loader = nullptr;
    StateRecovery* earlier = nullptr;
};

/// Steps the tasks until `control.stop` is set. An exception ends only this thread, and its text
/// becomes `control.failure`. `cpu`: the housekeeping CPU; negative: not pinned.
void run_recovery(const RecoveryTasks& tasks, CpuIndex cpu, const nic::Clock& clock,
                  ThreadControl& control);

/// Steps the recorder until `control.stop` is set. As run_recovery().
void run_recorder(RecorderTask& recorder, CpuIndex cpu, const nic::Clock& clock,
                  ThreadControl& control);

/// Compresses segments until `control.stop` is set, with the idle priority and at most `percent` of
/// a processor. As run_recovery().
void run_compressor(CompressorTask& compressor, unsigned percent, CpuIndex cpu,
                    const nic::Clock& clock, ThreadControl& control);

}  // namespace pinstrike::actors
