// path: cold
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

struct ArbitrationConfig {
    std::int64_t window_ns = 2'000'000;   ///< how long a hole waits for the other stream
    std::size_t hold_bytes = 512 * 1024;  ///< memory of each line for blocks behind holes
    std::size_t gap_ranges = 65536;       ///< the most lost ranges that each line lists
    bool looped_captures = false;  ///< block times may repeat: a capture may be played in a loop
};

}  // namespace pinstrike::feed
