// path: hot
//
// How a core sleeps when it has nothing to do, and is woken by whoever brings it something.
//
// Roles: one sleeper (the core's thread); any number of wakers (pollers, the control thread), each
// of which has just made some work visible: a tail stored, a flag set.
//
// The danger is the lost wake-up: the sleeper looks, finds nothing, and falls asleep, while the
// waker brings work, looks whether anybody sleeps, and finds nobody. Each side writes one place
// and then reads the other's:
//
//     sleeper  S1 parked_ = 1        fence K1   S2 read the work          -> sleep if none
//     waker    W1 write the work     fence K2   W2 read parked_           -> wake if 1
//
// Release and acquire do not forbid that both reads miss both writes: a store may still wait in
// the processor's store buffer while the load behind it is done. The two seq_cst fences do (this
// is Dekker's pattern): they stand in one total order, so either K1 is first, and W2 sees S1, or
// K2 is first, and S2 sees W1. In either case somebody notices.
//
// From the flag to the kernel nothing is lost either: futex_wait sleeps only if parked_ is still
// 1 at that moment, and a waker sets it to 0 (exchange W3) before it calls futex_wake. The
// exchange lets one waker through per sleep, so a burst costs at most one system call, and none
// unless the core sleeps. The accesses of parked_ themselves are relaxed: the fences order them,
// and no data is handed over by them (the rings' own acquire and release do that).
//
// Cost for a waker while the core is awake: the fence and the load of a line that nobody writes.
// Cores that spin are never woken: their pollers hold no Parking at all.
#pragma once

#include "config/counter.h"
#include "config/hooks.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors {

/// The kernel's part; a test puts a model in its place.
struct KernelFutex {
    /// Sleeps while `word` is `expected`, until woken, interrupted, or for `timeout_ns` at most.
    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t timeout_ns) noexcept;
    static void wake(std::atomic<std::uint32_t>& word) noexcept;
};

/// A full fence; apart, because gcc warns that its thread sanitizer does not model fences. It
/// need not: no data is handed over here, only wakefulness.
inline void fence_seq_cst() noexcept {
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
    std::atomic_thread_fence(std::memory_order_seq_cst);
#pragma GCC diagnostic pop
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

template <class Futex>
class BasicParking {
  public:
    /// Sleeper: sleeps until woken, or for `timeout_ns` at most, unless `has_work()` says that
    /// there is some. May return early for no reason, as futexes do.
    template <class HasWork>
    void park(HasWork&& has_work, std::int64_t timeout_ns) noexcept {
        parked_.store(1, std::memory_order_relaxed);  // S1
        RING_HOOK("park:after_flag");
        fence_seq_cst();  // K1, pairs with K2
        RING_HOOK("park:after_fence");
        if (!has_work()) {  // S2
            RING_HOOK("park:before_wait");
            sleeps_.add();
            Futex::wait(parked_, 1, timeout_ns);
        }
        parked_.store(0, std::memory_order_relaxed);
    }

    /// Waker, after its work is visible. True if it had to call the kernel.
    bool wake() noexcept {
        RING_HOOK("wake:before_fence");
        fence_seq_cst();  // K2, pairs with K1
        RING_HOOK("wake:after_fence");
        if (parked_.load(std::memory_order_relaxed) == 0) [[likely]] {  // W2
            return false;
        }
        RING_HOOK("wake:before_exchange");
        if (parked_.exchange(0, std::memory_order_relaxed) == 0) {  // W3
            return false;
        }
        RING_HOOK("wake:before_wake");
        Futex::wake(parked_);
        return true;
    }

    [[nodiscard]] const Counter& sleeps() const noexcept { return sleeps_; }

  private:
    alignas(128) std::atomic<std::uint32_t> parked_{0};
    alignas(128) Counter sleeps_;  ///< times it went to sleep; the sleeper writes
};

using Parking = BasicParking<KernelFutex>;

}  // namespace pinstrike::actors
