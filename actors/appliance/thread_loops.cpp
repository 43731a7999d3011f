// path: mixed, hot: the loops of pollers and cores
#include "actors/appliance/thread_loops.h"

#include "actors/host/confine/rights.h"
#include "actors/threads/heap_guard.h"
#include "actors/topology/machine.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <optional>

namespace pinstrike::actors {
namespace {

// --- hot: the time is read once for each step, and only an idle thread sleeps ---

constexpr std::int64_t spin_before_sleep_ns = 50'000;  // about the cost of a wake-up
constexpr std::int64_t poller_nap_ns_max = 1'000'000;  // about 1 % of a CPU after a long idle time

/// Measures how long a loop has had no work.
class Idleness {
  public:
    /// There is no work now. Returns the idle time in ns once it is long enough to sleep, else 0.
    std::int64_t grows(std::int64_t now_ns) {
        if (since_ns_ == 0) {
            since_ns_ = now_ns;
        }
        const std::int64_t lasted_ns = now_ns - since_ns_;
        return lasted_ns >= spin_before_sleep_ns ? lasted_ns : 0;
    }

    void ends() { since_ns_ = 0; }

  private:
    std::int64_t since_ns_ = 0;
};

void nap(std::int64_t ns) {
    const timespec time{0, ns};
    static_cast<void>(::nanosleep(&time, nullptr));
}

void poll_until_stopped(PollerTask& poller, WaitStrategy wait, const nic::Clock& clock,
                        ThreadControl& control) {
    Idleness idleness;
    while (!control.stop.load(std::memory_order_acquire)) {
        const std::int64_t now_ns = clock.wall_ns();
        poller.record(now_ns);
        if (poller.step(now_ns) != 0) {
            idleness.ends();
            continue;
        }
        if (poller.exhausted()) {
            return;
        }
        const std::int64_t idle_ns = wait == WaitStrategy::park ? idleness.grows(now_ns) : 0;
        if (idle_ns != 0) {
            nap(std::min(idle_ns,
                         poller_nap_ns_max));  // a nap is no longer than the idle time before
            poller.slept();
        } else {
            _mm_pause();
        }
    }
}

/// Runs the core until `control.stop` is set.
void run_until_stopped(Core& core, Parking* waker, const nic::Clock& clock,
                       ThreadControl& control) {
    Idleness idleness;
    while (!control.stop.load(std::memory_order_acquire)) {
        const std::int64_t now_ns = clock.wall_ns();
        if (core.step(now_ns) != 0) {
            idleness.ends();
        } else if (waker != nullptr && idleness.grows(now_ns) != 0) {
            waker->park(
                [&] { return core.has_work() || control.stop.load(std::memory_order_acquire); },
                core.nap_ns(now_ns));
            core.slept();
        } else {
            _mm_pause();
        }
    }
}

// --- cold ---

/// State is taken before a snapshot of the books can begin.
std::size_t step(const RecoveryTasks& tasks, std::int64_t now_ns) {
    const std::size_t taken = (tasks.peers != nullptr ? tasks.peers->step(now_ns) : 0) +
                              (tasks.earlier != nullptr ? tasks.earlier->step(now_ns) : 0);
    return taken + (tasks.snapshots != nullptr ? tasks.snapshots->step(now_ns) : 0) +
           (tasks.loader != nullptr ? tasks.loader->step() : 0) +
           (tasks.recovery != nullptr ? tasks.recovery->step(now_ns) : 0);
}

std::int64_t nap_ns_of(const RecoveryTasks& tasks) {
    constexpr std::int64_t peers_nap_ns = 200'000;  // short: peers wait for answers, and rings fill
    constexpr std::int64_t idle_nap_ns = 10'000'000;
    std::int64_t longest_ns = idle_nap_ns;
    if (tasks.peers != nullptr) {
        longest_ns = peers_nap_ns;
    }
    if (tasks.snapshots != nullptr) {
        longest_ns = std::min(longest_ns, tasks.snapshots->nap_ns());
    }
    if (tasks.loader != nullptr && !tasks.loader->over()) {
        longest_ns = std::min(longest_ns, SnapshotLoader::nap_ns);
    }
    if (tasks.earlier != nullptr && !tasks.earlier->over()) {
        longest_ns = std::min(longest_ns, StateRecovery::nap_ns);
    }
    if (tasks.recovery != nullptr) {
        longest_ns = std::min(longest_ns, tasks.recovery->nap_ns());
    }
    return longest_ns;
}

/// Sleeps until the time is over or `control.stop` is set.
void nap_unless_stopped(std::int64_t ns, const ThreadControl& control) {
    constexpr std::int64_t slice_ns = 10'000'000;
    for (; ns > 0 && !control.stop.load(std::memory_order_acquire); ns -= slice_ns) {
        nap(std::min(ns, slice_ns));
    }
}

std::int64_t thread_cpu_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// What a thread of recovery or of the recorder does first.
void begin_cold(const char* name, CpuIndex cpu, ThreadControl& control) {
    control.misplaced.store(!place_this_thread(cpu, name), std::memory_order_relaxed);
    drop_all_rights();
    control.started.store(true, std::memory_order_release);
}

/// An exception ends the thread, and its text is the failure.
template <class Loop>
void run_guarded(ThreadControl& control, Loop&& loop) {
    try {
        loop();
    } catch (const std::exception& failure) {
        control.failure = failure.what();
    }
}

/// From here on the filter restricts the system calls of a hot thread.
void confine(ThreadControl& control) {
    if (control.filter) {
        control.unfiltered.store(control.filter->install(), std::memory_order_relaxed);
    }
}

}  // namespace

RefusedCalls refused_calls(const std::string& thread, const ThreadControl& control) {
    if (!control.filter) {
        return {thread, 0, "", 0};
    }
    return {thread, control.filter->refused(), control.filter->last_refused(),
            control.unfiltered.load(std::memory_order_relaxed)};
}

void run_poller(PollerTask& poller, CpuIndex cpu, WaitStrategy wait, bool live,
                const nic::Clock& clock, ThreadControl& control) {
    control.misplaced.store(!place_this_thread(cpu, poller.name()), std::memory_order_relaxed);
    drop_all_rights();
    control.started.store(true, std::memory_order_release);
    {
        std::optional<FrozenHeap> frozen;
        if (live) {
            poller.step(
                clock.wall_ns());  // the first step may allocate per-thread memory in libraries
        }
        confine(control);
        if (live) {
            frozen.emplace();
        }
        poll_until_stopped(poller, wait, clock, control);
        poller.finish();
        poller.finish_recording();  // also the repairs that were processed just now
        while (!poller.flush_pending()) {
            ::sched_yield();  // a core's thread may need this CPU
        }
    }
    control.ended.store(true, std::memory_order_release);
}

void run_core(Core& core, CpuIndex cpu, Parking* waker, const nic::Clock& clock,
              ThreadControl& control) {
    control.misplaced.store(!place_this_thread(cpu, core.info().name), std::memory_order_relaxed);
    drop_all_rights();
    core.start();
    confine(control);
    control.started.store(true, std::memory_order_release);
    {
        std::optional<FrozenHeap> frozen;
        if (!core.is_offline()) {
            frozen.emplace();
        }
        run_until_stopped(core, waker, clock, control);
        core.drain(clock.wall_ns());
    }
    core.stop();
    control.ended.store(true, std::memory_order_release);
}

void run_recovery(const RecoveryTasks& tasks, CpuIndex cpu, const nic::Clock& clock,
                  ThreadControl& control) {
    begin_cold("recovery", cpu, control);
    run_guarded(control, [&] {
        while (!control.stop.load(std::memory_order_acquire)) {
            if (step(tasks, clock.wall_ns()) == 0) {
                nap(nap_ns_of(tasks));
            }
        }
    });
    if (!control.failure.empty() && tasks.loader != nullptr) {
        tasks.loader->give_up();
    }
    control.ended.store(true, std::memory_order_release);
}

void run_recorder(RecorderTask& recorder, CpuIndex cpu, const nic::Clock& clock,
                  ThreadControl& control) {
    begin_cold("recorder", cpu, control);
    run_guarded(control, [&] {
        std::int64_t stepped_ns = clock.wall_ns();
        while (!control.stop.load(std::memory_order_acquire)) {
            const std::int64_t now_ns = clock.wall_ns();
            const std::size_t work = recorder.step(now_ns, now_ns - stepped_ns);
            stepped_ns = clock.wall_ns();
            if (work == 0) {
                nap(RecorderTask::nap_ns);
            }
        }
        recorder.finish(clock.wall_ns());
    });
    control.ended.store(true, std::memory_order_release);
}

void run_compressor(CompressorTask& compressor, unsigned percent, CpuIndex cpu,
                    const nic::Clock& clock, ThreadControl& control) {
    const sched_param no_priority{};
    static_cast<void>(::sched_setscheduler(0, SCHED_IDLE, &no_priority));
    begin_cold("compressor", cpu, control);
    run_guarded(control, [&] {
        std::int64_t used_ns = thread_cpu_ns();
        while (!control.stop.load(std::memory_order_acquire)) {
            const bool worked = compressor.step(clock.wall_ns());
            const std::int64_t busy_ns = thread_cpu_ns() - used_ns;
            nap_unless_stopped(
                worked ? CompressorTask::pause_ns(busy_ns, percent) : CompressorTask::idle_nap_ns,
                control);
            used_ns = thread_cpu_ns();
        }
    });
    control.ended.store(true, std::memory_order_release);
}

}  // namespace pinstrike::actors
