// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::actors {

/// What a poller does when the ring of a core is full: it drops the message and declares it lost,
/// or it waits (replays).
enum class WhenFull : std::uint8_t { refuse, wait };

}  // namespace pinstrike::actors
