// path: hot
//
// The entry of a series: one cache line that every quote touches, and a second one for trades and
// open interest, which only series with trades or open interest use. pinstrike.h has their layout,
// because programs of users may read them.
#pragma once

#include "actors/book/series_state.h"
#include "actors/publish/pinstrike.h"
#include "config/cache_line.h"
#include "feed/event/series_key.h"

#include <cstdint>

namespace pinstrike::actors {

inline bool is_empty(const feed::SeriesKey& key) {
    return key.name == 0;  // no series has an expiration letter of 0
}

/// Bits of mark_of(side).
enum SideMark : std::uint8_t {
    side_known = PINSTRIKE_KNOWN,
    side_stale = PINSTRIKE_STALE,
    side_late = PINSTRIKE_LATE,
    side_present = PINSTRIKE_PRESENT,
    side_elsewhere = PINSTRIKE_ELSEWHERE,
};

/// One side of the best bid and offer. A quote replaces its words as a whole.
using BookSide = pinstrike_side;

inline constexpr unsigned mark_shift = 16;

inline std::uint8_t mark_of(const BookSide& side) {
    return static_cast<std::uint8_t>(side.said >> mark_shift);
}

inline bool is(const BookSide& side, SideMark bit) {
    return (mark_of(side) & bit) != 0;
}

inline void raise(BookSide& side, SideMark bit) {
    side.said |= std::uint32_t{bit} << mark_shift;
}

inline void lower(BookSide& side, SideMark bit) {
    side.said &= ~(std::uint32_t{bit} << mark_shift);
}

inline char participant_of(const BookSide& side) {
    return static_cast<char>(side.said);
}

inline Price price_of(const BookSide& side) {
    return {static_cast<std::int32_t>(side.value), static_cast<char>(side.said >> 8)};
}

inline std::uint32_t size_of(const BookSide& side) {
    return static_cast<std::uint32_t>(side.value >> 32);
}

/// The hot entry. An empty slot is all zeros. `quotes` stays below 2^32 for every series.
struct alignas(cache_line_bytes) BookEntry : pinstrike_entry {
    static constexpr unsigned announced_shift = 30;

    [[nodiscard]] feed::SeriesKey key() const { return {name, strike_e8}; }

    void set_key(const feed::SeriesKey& key) {
        name = key.name;
        strike_e8 = key.strike_e8;
    }

    /// Line of the latest message.
    [[nodiscard]] std::uint16_t line() const { return static_cast<std::uint16_t>(stamp); }

    /// Index of the series' records of trades and of the directory.
    [[nodiscard]] std::uint32_t index() const { return record & PINSTRIKE_INDEX; }

    /// Whether the record of trades is in use.
    [[nodiscard]] bool has_trades() const { return (record & PINSTRIKE_TRADES) != 0; }

    /// Starts of day until removal if no message comes; 0: unannounced.
    [[nodiscard]] unsigned announced() const { return record >> announced_shift; }

    void set_announced(unsigned starts) {
        record = (record & ~(3U << announced_shift)) | starts << announced_shift;
    }
};

static_assert(sizeof(BookEntry) == sizeof(pinstrike_entry));

/// Whether a message stated something of the series since the entry was created or forgotten: a
/// quote was counted, or trades or open interest have a record.
inline bool heard(const BookEntry& entry) {
    return entry.quotes != 0 || entry.has_trades();
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
};

/// A touched bit, shifted left by this, says that the value was touched on a line that the series
/// has left, or in an earlier numbering.
inline constexpr unsigned elsewhere_shift = 3;

using TradeRecord = pinstrike_trades;

static_assert(sizeof(TradeRecord) == cache_line_bytes);

/// False if the record is equivalent to no record.
inline bool says_anything(const TradeRecord& record) {
    constexpr unsigned kept = covered_here | covered_elsewhere;
    return (record.flags & ~kept) != 0 || record.volume != 0 || record.trades != 0;
}

}  // namespace pinstrike::actors
