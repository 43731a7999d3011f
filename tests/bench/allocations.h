// Counts calls of operator new in this process, without a cache line that threads share.
#pragma once

#include <cstdint>

namespace pinstrike::bench {

/// Calls by this thread, and by threads that have ended. Never decreases.
[[nodiscard]] std::uint64_t allocations() noexcept;

/// How often threads of this process have slept voluntarily, mostly to wait on a futex.
[[nodiscard]] std::uint64_t parks() noexcept;

}  // namespace pinstrike::bench
