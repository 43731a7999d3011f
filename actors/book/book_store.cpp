// path: cold
#include "actors/book/book_store.h"

#include <cmath>

namespace pinstrike::actors {

/// The share has a reserve, because the cores get different numbers of series. A hash of the series
/// gives a core more than 8 standard deviations above its even share in no practical case.
/// Underlyings differ so much that there is no such bound.
std::size_t series_share(const BookConfig& config, unsigned cores_count, bool underlyings_whole) {
    const std::size_t even = (config.series_capacity + cores_count - 1) / cores_count;
    if (cores_count == 1) {
        return even;
    }
    const double deviation = std::sqrt(static_cast<double>(even));  // somewhat more than it is
    return even + (underlyings_whole ? even / 4 : static_cast<std::size_t>(8 * deviation));
}

CoreShape book_shape(const BookConfig& config, unsigned cores_count, bool underlyings_whole) {
    // In a fuller table more series are in their second slot or displaced, which costs a second
    // cache line.
    constexpr double table_load = 0.36;
    const std::size_t series = series_share(config, cores_count, underlyings_whole);
    return {.series = series, .slots = BookStore::Table::slots_for(series, table_load)};
}

}  // namespace pinstrike::actors
