// path: hot
//
// The cache lines of the processors that the program is built for.
#pragma once

#include <cstddef>

namespace pinstrike {

inline constexpr std::size_t cache_line_bytes = 64;

/// Data that two threads write is at least this far apart, because the adjacent-line prefetcher
/// fetches pairs of cache lines.
inline constexpr std::size_t apart_bytes = 2 * cache_line_bytes;

/// Rounds a size up to whole cache lines.
[[nodiscard]] constexpr std::size_t whole_cache_lines(std::size_t bytes) {
    return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
}

}  // namespace pinstrike
