// path: cold
//
// The limits of configs and of the values in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace pinstrike {

// Limits on what a hostile file can use. They are far above what a config needs.
inline constexpr std::size_t yaml_bytes_max = 1 << 20;
inline constexpr std::size_t yaml_depth_max = 16;
inline constexpr std::size_t list_count_max = 4096;

/// The longest name of a feed, a port, a thread or an actor.
inline constexpr std::size_t name_bytes_max = 32;

/// The highest number in a list of numbers and ranges such as "1-48, 220".
inline constexpr std::int64_t range_number_max = std::numeric_limits<std::uint16_t>::max();

/// The most numbers of such a list.
inline constexpr std::size_t numbers_max = range_number_max;

/// The highest port of TCP and UDP.
inline constexpr std::int64_t port_number_max = std::numeric_limits<std::uint16_t>::max();

/// A longer value is cut where a message quotes it.
inline constexpr std::size_t shown_bytes_max = 60;

}  // namespace pinstrike
