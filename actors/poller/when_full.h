// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::actors {

/// What a poller does when the ring of a core is full: drop the message and declare it lost, or
/// wait (replays).
enum class WhenFull : std::uint8_t { refuse, wait };

}  // namespace pinstrike::actors
