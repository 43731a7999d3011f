// Calls of operator new in this process, counted without a line that threads share.
#pragma once

#include <cstdint>

namespace pinstrike::bench {

/// By this thread, and by threads that have ended. Never falls.
[[nodiscard]] std::uint64_t allocations() noexcept;

/// Times that a thread of this process went to sleep of its own will: parks on a futex, mostly.
[[nodiscard]] std::uint64_t parks() noexcept;

}  // namespace pinstrike::bench
