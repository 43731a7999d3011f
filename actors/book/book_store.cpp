// path: cold
#include "actors/book/book_store.h"

namespace pinstrike::actors {

/// The share has a reserve because sharding is uneven: a hash spreads series well, and underlyings
/// less well.
std::size_t series_share(const BookConfig& config, unsigned cores_count) {
    const std::size_t even = (config.series_capacity + cores_count - 1) / cores_count;
    return cores_count == 1 ? even : even + even / 4;
}

CoreShape book_shape(const BookConfig& config, unsigned cores_count) {
    // In a fuller table more series are in their second slot or displaced, which costs a second
    // cache line.
    constexpr double table_load = 0.36;
    const std::size_t series = series_share(config, cores_count);
    return {.series = series, .slots = BookStore::Table::slots_for(series, table_load)};
}

std::size_t book_bytes(const BookConfig& config, unsigned cores_count) {
    return cores_count * CoreMemory::bytes_for(book_shape(config, cores_count));
}

}  // namespace pinstrike::actors
