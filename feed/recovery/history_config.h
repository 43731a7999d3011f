// path: cold
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

struct HistoryConfig {
    std::int64_t keep_ns = 10'000'000'000;  ///< how long a block is kept
    std::size_t memory_bytes = 0;           ///< of all lines together; 0: no history

    friend bool operator==(const HistoryConfig&, const HistoryConfig&) = default;
};

}  // namespace pinstrike::feed
