// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::feed {

/// Numbers of a line whose packets a cut of a recording left out on purpose, and the times of their
/// blocks, which tell apart numbers that come again after a reset.
struct LeftOutRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::int64_t first_ts_ns = 0;
    std::int64_t last_ts_ns = 0;

    friend bool operator==(const LeftOutRange&, const LeftOutRange&) = default;
};

}  // namespace pinstrike::feed
