// path: hot
//
// Detects allocations on hot threads, which must not allocate after their start. A thread marks
// itself as frozen. The operator new of the executables (actors/command/heap.cpp) then counts its
// allocations, and in test builds (PINSTRIKE_HOOKS) the first allocation ends the program.
#pragma once

#include "config/check.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors {

namespace heap_guard {

inline thread_local bool frozen = false;

/// Allocations of all frozen threads. The threads share one counter because it is seldom or never
/// written.
inline std::atomic<std::uint64_t> allocations{0};

}  // namespace heap_guard

/// The thread is frozen while an object of this class lives.
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
        heap_guard::frozen = false;  // the report may allocate
        check_failed("no hot thread allocates after its start", __FILE__, __LINE__);
#else
        heap_guard::allocations.fetch_add(1, std::memory_order_relaxed);  // only a count
#endif
    }
}

}  // namespace pinstrike::actors
