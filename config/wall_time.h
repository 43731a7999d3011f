// path: cold
#pragma once

#include <chrono>
#include <cstdint>

namespace pinstrike {

/// The system clock, in nanoseconds since the Unix epoch. Hot threads read nic/clock.h instead.
[[nodiscard]] inline std::int64_t wall_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace pinstrike
