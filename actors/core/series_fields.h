// path: hot
//
// The fields of a series' state that actors keep, publish and exchange with peers: a side of the
// best bid and offer, and the record of trades. pinstrike.h has their layout, because programs of
// users may read them.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/side_rules.h"
#include "config/cache_line.h"

#include <cstdint>

namespace pinstrike::actors {

/// One side of the best bid and offer. A quote replaces its words as a whole.
using BookSide = pinstrike_side;

inline char participant_of(const BookSide& side) {
    return static_cast<char>(side.said);
}

/// OPRA Denominator Code of the price.
inline char price_code_of(const BookSide& side) {
    return static_cast<char>(side.said >> 8);
}

inline std::uint32_t size_of(const BookSide& side) {
    return static_cast<std::uint32_t>(side.value >> 32);
}

/// Bits of TradeRecord::flags. A `touched` bit says that a report set or cancelled the value on the
/// series' current line and in its current numbering. The report's sequence is stored, and a late
/// message is compared with it.
enum TradeFlag : std::uint16_t {
    has_open = PINSTRIKE_HAS_OPEN,
    has_range = PINSTRIKE_HAS_RANGE,
    has_last = PINSTRIKE_HAS_LAST,
    has_open_interest = PINSTRIKE_HAS_OPEN_INTEREST,
    open_stated = 16,  ///< by an opening report, not taken from the first trade
    last_touched = 32,
    open_touched = 64,
    open_interest_touched = 128,
    touched_here = last_touched | open_touched | open_interest_touched,
    covered_here = 2048,       ///< includes state of a peer, up to covered_sequence
    covered_elsewhere = 4096,  ///< the same, on a line that it left or in an earlier numbering
    has_earlier = 8192,        ///< includes what the feed recorded before this start
    open_cancelled = 16384,    ///< the open of the time before was cancelled
    all_cancelled = 32768,     ///< all reports of the time before were cancelled
    /// Bits that say nothing about the series and are not given to others.
    own_flags = covered_here | covered_elsewhere | has_earlier | open_cancelled | all_cancelled,
};

/// A touched bit, shifted left by this, says that the value was touched on a line that the series
/// has left, or in an earlier numbering.
inline constexpr unsigned elsewhere_shift = 3;

using TradeRecord = pinstrike_trades;

static_assert(sizeof(TradeRecord) == cache_line_bytes);

/// False if the record is equivalent to no record.
inline bool says_anything(const TradeRecord& record) {
    return (record.flags & ~unsigned{own_flags}) != 0 || record.volume != 0 || record.trades != 0;
}

}  // namespace pinstrike::actors
