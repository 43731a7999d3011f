// path: hot
//
// Which core a series belongs to: the one rule that router, book and reader of the day's file
// share.
#pragma once

#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// Which part of a series decides on the core: all of it, or its root alone.
enum class Sharding : std::uint8_t { series, underlying };

/// The high half of the hash times the count: the table of the book takes the low bits
/// (series_key.h).
inline std::size_t core_of(std::uint64_t hash, std::size_t cores_count) {
    return ((hash >> 32) * cores_count) >> 32;
}

inline std::size_t core_of(const feed::SeriesKey& series, Sharding sharding,
                           std::size_t cores_count) {
    return core_of(
        sharding == Sharding::series ? feed::hash(series) : feed::hash_symbol(series.symbol_word()),
        cores_count);
}

}  // namespace pinstrike::actors
