// path: cold
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pinstrike {

/// The system clock, in nanoseconds since the Unix epoch. Hot threads read nic/clock.h instead.
[[nodiscard]] inline std::int64_t wall_ns() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// How long ago `then_ns` was. If the clock was set back behind it, it becomes `now_ns`, so that no
/// wait lasts longer than it should by more than once its length.
[[nodiscard]] inline std::int64_t since(std::int64_t& then_ns, std::int64_t now_ns) {
    then_ns = std::min(then_ns, now_ns);
    return now_ns - then_ns;
}

}  // namespace pinstrike
