// path: hot
//
// The entry of a series: one cache line that every quote touches, and a second one for trades and
// open interest. The second one comes from a pool, and only series with trades or open interest
// have it.
#pragma once

#include "actors/book/series_state.h"
#include "config/cache_line.h"
#include "feed/event/series_key.h"

#include <cstdint>

namespace pinstrike::actors {

inline bool is_empty(const feed::SeriesKey& key) {
    return key.name == 0;  // no series has an expiration letter of 0
}

/// Bits of BookSide::mark().
enum SideMark : std::uint8_t {
    side_known = 1,      ///< a quote stated the side; else it is unknown
    side_stale = 2,      ///< a gap came after the statement
    side_late = 4,       ///< stated late: stale while a number after it is missing
    side_present = 8,    ///< the side has a best quote
    side_elsewhere = 16  ///< `sequence` is of another line or an earlier numbering
};

/// One side of the best bid and offer. A quote replaces its words as a whole.
struct BookSide {
    std::uint64_t value;     ///< price in the lower half, size in the upper half
    std::uint32_t sequence;  ///< number of the message that stated the side
    std::uint32_t said;      ///< from the lowest byte: participant, code, mark

    static constexpr unsigned mark_shift = 16;

    [[nodiscard]] std::uint8_t mark() const {
        return static_cast<std::uint8_t>(said >> mark_shift);
    }

    [[nodiscard]] bool is(SideMark bit) const { return (mark() & bit) != 0; }

    void raise(SideMark bit) { said |= std::uint32_t{bit} << mark_shift; }

    void lower(SideMark bit) { said &= ~(std::uint32_t{bit} << mark_shift); }

    [[nodiscard]] char participant() const { return static_cast<char>(said); }

    [[nodiscard]] Price price() const {
        return {static_cast<std::int32_t>(value), static_cast<char>(said >> 8)};
    }

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(value >> 32); }
};

static_assert(sizeof(BookSide) == 16);

/// The hot entry. An empty slot is all zeros.
struct alignas(cache_line_bytes) BookEntry {
    feed::SeriesKey key;
    BookSide bid;
    BookSide offer;
    std::uint32_t epoch;         ///< epoch of `line` up to which the entry is up to date
    std::uint32_t quotes;        ///< since the start of day; below 2^32 for every series
    std::uint32_t trade_record;  ///< index into the pool; 0: none
    std::uint16_t line;
    std::uint16_t announced;  ///< starts of day until removal if no message comes; 0: unannounced
};

static_assert(sizeof(BookEntry) == cache_line_bytes);

/// Whether a message stated something of the series since the entry was created or forgotten: a
/// quote was counted, or trades or open interest have a record.
inline bool heard(const BookEntry& entry) {
    return entry.quotes != 0 || entry.trade_record != 0;
}

/// Bits of TradeRecord::flags. A `touched` bit says that a report set or cancelled the value on the
/// series' current line and in its current numbering. The report's sequence is stored, and a late
/// message is compared with it.
enum TradeFlag : std::uint16_t {
    has_open = 1,
    has_range = 2,  ///< high and low
    has_last = 4,
    has_open_interest = 8,
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

struct alignas(cache_line_bytes) TradeRecord {
    std::uint64_t volume;
    std::int32_t open;
    std::int32_t high;
    std::int32_t low;
    std::int32_t last;
    std::uint32_t last_size;
    std::uint32_t trades;
    std::uint32_t open_interest;
    std::uint32_t last_sequence;
    std::uint32_t open_sequence;
    std::uint32_t open_interest_sequence;
    char open_code;
    char high_code;
    char low_code;
    char last_code;
    char last_participant;
    char last_type;
    std::uint16_t flags;
    std::uint32_t covered_sequence;
    std::uint8_t reserved[4];
};

static_assert(sizeof(TradeRecord) == cache_line_bytes);

/// False if the record is equivalent to no record.
inline bool says_anything(const TradeRecord& record) {
    constexpr unsigned kept = covered_here | covered_elsewhere;
    return (record.flags & ~kept) != 0 || record.volume != 0 || record.trades != 0;
}

}  // namespace pinstrike::actors
