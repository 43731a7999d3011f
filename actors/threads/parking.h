// path: hot
//
// How a core sleeps when it has no work, and how a thread that brings work wakes it.
//
// Roles: there is one sleeper, the core's thread, and any number of wakers (pollers, the control
// thread). A waker has just made work visible, for example stored a ring's tail or set a flag.
//
// The danger is the lost wake-up. The sleeper checks for work, finds none and goes to sleep, while
// the waker brings work, checks for a sleeper and finds none. So each side first writes and then
// reads what the other side writes:
//
//     sleeper  S1 parked_ = 1        fence K1   S2 read the work          -> sleep if none
//     waker    W1 write the work     fence K2   W2 read parked_           -> wake if 1
//
// With release and acquire alone, both reads could miss both writes, because a store may stay in
// the processor's store buffer while a later load executes. The two seq_cst fences prevent that
// (Dekker's algorithm). They have one total order: either K1 is first and W2 sees S1, or K2 is
// first and S2 sees W1. So at least one side sees the other's write.
//
// No wake-up is lost between the flag and the kernel either: futex_wait only sleeps if parked_ is
// still 1 at that moment, and a waker sets parked_ to 0 (exchange W3) before it calls futex_wake.
// The exchange succeeds for one waker per sleep, so a burst causes at most one system call, and
// none if the core is awake. All accesses to parked_ are relaxed because the fences order them, and
// parked_ publishes no data (the rings do that with their own acquire and release).
//
// While the core is awake, a waker pays for the fence and the load of a cache line that no thread
// writes. Cores that spin are never woken, so their pollers have no Parking object.
#pragma once

#include "config/cache_line.h"
#include "config/counter.h"
#include "config/hooks.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors {

/// The system calls. Tests replace them by a model.
struct KernelFutex {
    /// Sleeps while `word` is `expected`, until it is woken or interrupted, for at most
    /// `timeout_ns`.
    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t timeout_ns) noexcept;
    static void wake(std::atomic<std::uint32_t>& word) noexcept;
};

/// A full fence. It is a function of its own because gcc warns that its thread sanitizer does not
/// model fences. The sanitizer need not model this one, because it publishes no data.
inline void fence_seq_cst() noexcept {
    RING_HOOK("fence");
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
    /// Called by the sleeper. Sleeps until it is woken, for at most `timeout_ns`, unless
    /// `has_work()` returns true. May return early without a reason, as futexes do.
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

    /// Called by a waker, after its work is visible. True if it called the kernel.
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
    alignas(apart_bytes) std::atomic<std::uint32_t> parked_{0};
    alignas(apart_bytes) Counter sleeps_;  ///< number of sleeps; the sleeper writes it
};

using Parking = BasicParking<KernelFutex>;

}  // namespace pinstrike::actors
