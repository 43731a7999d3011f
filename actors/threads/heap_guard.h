// path: hot
//
// Nothing allocates on a hot thread after its start. A thread says when it is frozen; the
// executables' operator new (actors/command/heap.cpp) then counts what is asked for nevertheless,
// and in test builds (PINSTRIKE_HOOKS) stops the program there.
#pragma once

#include "config/check.h"
#include "config/counter.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors {

namespace heap_guard {

inline thread_local bool frozen = false;

/// Allocations on frozen threads, of all of them: rare or none, so shared.
inline std::atomic<std::uint64_t> allocations{0};

}  // namespace heap_guard

/// This thread allocates nothing while one lives.
class FrozenHeap {
  public:
    FrozenHeap() { heap_guard::frozen = true; }

    ~FrozenHeap() { heap_guard::frozen = false; }

    FrozenHeap(const FrozenHeap&) = delete;
    FrozenHeap& operator=(const FrozenHeap&) = delete;
};

/// Called by operator new.
inline void note_allocation() noexcept {
    if (heap_guard::frozen) [[unlikely]] {
#ifdef PINSTRIKE_HOOKS
        heap_guard::frozen = false;  // what tells it may allocate
        check_failed("no hot thread allocates after its start", __FILE__, __LINE__);
#else
        heap_guard::allocations.fetch_add(1, std::memory_order_relaxed);  // a count, no more
#endif
    }
}

}  // namespace pinstrike::actors
