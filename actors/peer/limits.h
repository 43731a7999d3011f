// path: cold
//
// The limits of the peer protocol on what the other side may send. Both instances have the same
// limits, because a longer frame is malformed. The limits that a config sets are in
// peer_config.h, those of a session's times and rates in peer_session.h.
#pragma once

#include "config/limits.h"
#include "feed/event/limits.h"

#include <cstddef>

namespace pinstrike::actors::peer {

inline constexpr std::size_t feed_name_bytes_max = name_bytes_max;

inline constexpr std::size_t secret_bytes_min = 32;
inline constexpr std::size_t secret_bytes_max = 1024;

/// A history keeps no longer block, so a server can send each block that it keeps.
inline constexpr std::size_t block_bytes_max = feed::kept_block_bytes_max;

/// The most lines of a state request. A request for more lines requests all lines.
inline constexpr std::size_t state_lines_max = 1024;

/// The most queued records of a core. If the queue is full, the peer sends faster than the core
/// reads, and the line is requested again.
inline constexpr std::size_t posted_records_max = 1 << 18;

}  // namespace pinstrike::actors::peer
