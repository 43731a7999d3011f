// path: hot
//
// Selects the core for a series. The router, the book and the series map's reader share this rule.
#pragma once

#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// The part of a series that selects the core: the whole series, or its root alone.
enum class Sharding : std::uint8_t { series, underlying };

/// Uses the high half of the hash, because the table of the book uses the low bits (series_key.h).
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
