// path: cold
//
// The result of reading a venue's nightly list of series.
#pragma once

#include "config/problem.h"
#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pinstrike::feed {

/// Called with each good row, in order.
using OnSeries = std::function<void(const SeriesMap&)>;

/// The numbers of good and malformed rows. A heading and empty rows count as neither.
struct MappingRows {
    static constexpr std::size_t problems_max = 10;

    std::uint64_t good = 0;
    std::uint64_t malformed = 0;
    Problems problems;  ///< of the first few malformed rows, each at file:row
};

}  // namespace pinstrike::feed
