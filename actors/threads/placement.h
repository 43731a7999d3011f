// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::actors {

/// A processor as the operating system numbers it; negative: the thread is not pinned.
using CpuIndex = int;

/// What a thread does when it has nothing to do: it asks again at once, or it sleeps.
enum class WaitStrategy : std::uint8_t { spin, park };

}  // namespace pinstrike::actors
