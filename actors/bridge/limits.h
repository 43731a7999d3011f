// path: cold
//
// The limits of the bridge's protocol on what the other side may send, and its times.
#pragma once

#include "config/time_units.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors::bridge {

/// The longest body of a frame. A text has at most 255 records of 64 bytes.
inline constexpr std::size_t body_bytes_max = std::size_t{256} * 64;

inline constexpr std::size_t cores_max = 255;
/// Roots of 8 bytes behind the 64 bytes of HelloBody.
inline constexpr std::size_t roots_max = (body_bytes_max - 64) / 8;
inline constexpr std::size_t text_bytes_max = 256;

/// Bytes that the serving side may send before the other side has taken any.
inline constexpr std::uint64_t window_bytes = std::uint64_t{4} << 20;

/// The queue of frames that wait for one connection, and what is received and not yet taken.
inline constexpr std::size_t buffer_bytes = std::size_t{256} << 10;

inline constexpr std::int64_t alive_every_ns = second_ns;
/// A side that was silent for so long is gone.
inline constexpr std::int64_t silent_after_ns = 5 * second_ns;
/// The other side has this time to take the last frames.
inline constexpr std::int64_t leave_within_ns = 2 * second_ns;

}  // namespace pinstrike::actors::bridge
