// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::actors {

/// The operating system's number of a processor; negative: the thread is not pinned.
using CpuIndex = int;

/// What a thread does when it has no work: `spin` polls again at once, `park` sleeps.
enum class WaitStrategy : std::uint8_t { spin, park };

}  // namespace pinstrike::actors
