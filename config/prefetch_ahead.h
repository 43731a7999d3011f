// path: hot
#pragma once

#include <cstddef>

namespace pinstrike {

/// Prefetches, for writing, the slot 64 records after `slot`. For producers that fill consecutive
/// slots of a ring, because the cache line of each was last in the consumer's cache. Without the
/// prefetch, the stores to a sequence of slots would wait for all these transfers at once and fill
/// the store buffer. To prefetch beyond the ring, or a slot that the consumer has not read yet, is
/// useless but harmless.
template <class Slot>
inline void prefetch_ahead(const Slot* slot) noexcept {
    constexpr std::size_t ahead = 64;  // no measurable difference from 32 to 128
    __builtin_prefetch(slot + ahead, 1);
}

}  // namespace pinstrike
