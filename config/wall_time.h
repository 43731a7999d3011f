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

/// How long ago `then_ns` was. If the clock was set back before `then_ns`, `then_ns` becomes
/// `now_ns`, so that a wait lasts at most twice as long as intended.
[[nodiscard]] inline std::int64_t since(std::int64_t& then_ns, std::int64_t now_ns) {
    then_ns = std::min(then_ns, now_ns);
    return now_ns - then_ns;
}

}  // namespace pinstrike
