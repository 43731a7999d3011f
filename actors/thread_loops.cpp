// path: cold
#include "actors/thread_loops.h"

#include "actors/heap_guard.h"
#include "actors/machine.h"

#include <immintrin.h>

#include <ctime>
#include <optional>

namespace pinstrike::actors {
namespace {

constexpr std::int64_t spin_before_sleep_ns = 50'000;  // a wake-up costs about as much
constexpr std::int64_t poller_nap_ns = 250'000;   // of a poller that may sleep: 1 to 2 % of a cpu
constexpr std::int64_t core_nap_ns = 20'000'000;  // timers of a parked core run at least so often

/// How long a loop has found nothing to do.
class Idleness {
  public:
    /// True once a spell without work has lasted long enough to sleep.
    bool grows(std::int64_t now_ns) {
        if (since_ns_ == 0) {
            since_ns_ = now_ns;
        }
        return now_ns - since_ns_ >= spin_before_sleep_ns;
    }

    void ends() { since_ns_ = 0; }

  private:
    std::int64_t since_ns_ = 0;
};

void nap(std::int64_t ns) {
    const timespec time{0, ns};
    static_cast<void>(::nanosleep(&time, nullptr));
}

void poll_until_told(PollerTask& poller, WaitStrategy wait, const nic::Clock& clock,
                     ThreadControl& control) {
    Idleness idleness;
    while (!control.stop.load(std::memory_order_acquire)) {
        const std::int64_t now_ns = clock.wall_ns();
        if (poller.step(now_ns) != 0) {
            idleness.ends();
            continue;
        }
        if (poller.exhausted()) {
            return;
        }
        if (wait == WaitStrategy::park && idleness.grows(now_ns)) {
            nap(poller_nap_ns);
        } else {
            _mm_pause();
        }
    }
}

}  // namespace

void run_poller(PollerTask& poller, CpuIndex cpu, WaitStrategy wait, bool live,
                const nic::Clock& clock, ThreadControl& control) {
    control.misplaced.store(!place_this_thread(cpu, poller.name()), std::memory_order_relaxed);
    control.started.store(true, std::memory_order_release);
    {
        std::optional<FrozenHeap> frozen;
        if (live) {
            poller.step(
                clock.wall_ns());  // the first may make room for this thread in its libraries
            frozen.emplace();
        }
        poll_until_told(poller, wait, clock, control);
        poller.finish();
    }
    control.ended.store(true, std::memory_order_release);
}

void run_core(Core& core, CpuIndex cpu, Parking* bell, const nic::Clock& clock,
              ThreadControl& control) {
    control.misplaced.store(!place_this_thread(cpu, core.info().name), std::memory_order_relaxed);
    core.start();
    control.started.store(true, std::memory_order_release);
    {
        const FrozenHeap frozen;
        Idleness idleness;
        while (!control.stop.load(std::memory_order_acquire)) {
            const std::int64_t now_ns = clock.wall_ns();
            if (core.step(now_ns) != 0) {
                idleness.ends();
            } else if (bell != nullptr && idleness.grows(now_ns)) {
                bell->park(
                    [&] { return core.has_work() || control.stop.load(std::memory_order_acquire); },
                    core_nap_ns);
            } else {
                _mm_pause();
            }
        }
        core.drain(clock.wall_ns());
    }
    core.stop();
    control.ended.store(true, std::memory_order_release);
}

}  // namespace pinstrike::actors
