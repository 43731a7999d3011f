// path: hot
//
// Reads memory that another process writes. Nothing here trusts a value: callers copy, check the
// version or stamp that guards the copy, and check every index before they use it.
#pragma once

#include "config/hooks.h"

#include <time.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace pinstrike::reader {

/// Acquire: what the writer stored before the value that this returns is visible to later loads.
template <class T>
[[nodiscard]] T load_acquire(const T& from) {
    return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

/// Relaxed: a guard that the caller checks afterwards decides whether the value counts.
template <class T>
[[nodiscard]] T load_relaxed(const T& from) {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

/// Between a copy and the load that checks its guard: the loads of the copy come first.
inline void acquire_fence() {
    RING_HOOK("fence");
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/// Copies a struct word by word while another process may write it. The thread sanitizer would
/// report the race that the caller's guard detects, and it observes atomic loads in any case, so
/// the loads are volatile.
template <class T>
[[nodiscard, gnu::no_sanitize_thread]] T copy_shared(const T& from) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 8 == 0 && alignof(T) % 8 == 0);
    using Word [[gnu::may_alias]] = std::uint64_t;
    const volatile Word* const words =
        reinterpret_cast<const volatile Word*>(&from);  // tidy: words of any struct
    std::array<std::uint64_t, sizeof(T) / 8> copy;
    for (std::size_t i = 0; i < copy.size(); ++i) {
        RING_HOOK("reader:word");
        copy[i] = words[i];
    }
    return std::bit_cast<T>(copy);
}

/// The same for several. Vector loads are enough where no tool observes the race, because the
/// caller checks the guard after all of them.
template <class T>
void copy_shared(std::span<const T> from, T* to) {
#if defined(PINSTRIKE_HOOKS) || defined(PINSTRIKE_SANITIZED)
    for (const T& one : from) {
        *to++ = copy_shared(one);
    }
#else
    std::memcpy(to, from.data(), from.size_bytes());
#endif
}

/// How often a call repeats reads that meet a write. A writer finishes within a microsecond unless
/// it was preempted, for which the first read waits about 15 ms, or ended in the middle of the
/// write. After such a read the later ones of
/// the same call have less patience, so that a call ends soon also in damaged memory.
class Patience {
  public:
    explicit Patience(unsigned tries = 100'000) : tries_(tries), left_(tries) {}

    /// Begins the next read.
    void begin() { left_ = tries_; }

    /// Waits a moment. False: the read has failed.
    [[nodiscard]] bool again() {
        if (left_ == 0) {
            tries_ /= 2;
            return false;
        }
        --left_;
        RING_HOOK("spin");
        constexpr unsigned sleep_every = 1024;  // the writer may need this processor
        if (left_ % sleep_every == sleep_every - 1) {
            constexpr timespec moment{.tv_sec = 0, .tv_nsec = 100'000};
            ::nanosleep(&moment, nullptr);
        }
        __builtin_ia32_pause();
        return true;
    }

  private:
    unsigned tries_;
    unsigned left_;
};

}  // namespace pinstrike::reader
