// path: cold
//
// What the reading of a venue's nightly list of series gives.
#pragma once

#include "config/problem.h"
#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pinstrike::feed {

/// Gets each good row in turn.
using TakeSeries = std::function<void(const SeriesMap&)>;

/// What the rows were; a heading and empty rows are neither.
struct MappingRows {
    static constexpr std::size_t problems_max = 10;

    std::uint64_t good = 0;
    std::uint64_t malformed = 0;
    Problems problems;  ///< of the first few malformed rows, each at file:row
};

}  // namespace pinstrike::feed
