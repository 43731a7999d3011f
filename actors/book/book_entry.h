// path: hot
//
// What the book keeps of a series: one cache line that every quote touches, and a second one for
// trades and open interest, taken from a pool by the series that have any.
#pragma once

#include "actors/book/series_state.h"
#include "feed/event/series_key.h"

#include <cstdint>

namespace pinstrike::actors {

inline bool is_empty(const feed::SeriesKey& key) {
    return key.name == 0;  // no series has an expiration letter of 0
}

/// Bits of BookSide::mark().
enum SideMark : std::uint8_t {
    side_known = 1,      ///< stated; else unknown
    side_stale = 2,      ///< a gap came after the statement
    side_late = 4,       ///< stated late: fresh only once nothing behind it is missing
    side_present = 8,    ///< there is a best quote
    side_elsewhere = 16  ///< `sequence` is of another line or an earlier numbering
};

/// One side of the best bid and offer, in words that a quote replaces whole.
struct BookSide {
    std::uint64_t value;     ///< price in the low half, size in the high one
    std::uint32_t sequence;  ///< of the message that stated it
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

/// The hot entry. All zero is an empty slot.
struct alignas(64) BookEntry {
    feed::SeriesKey key;
    BookSide bid;
    BookSide offer;
    std::uint32_t epoch;         ///< of `line`, when last settled
    std::uint32_t quotes;        ///< of one day: no series reaches 2^32
    std::uint32_t trade_record;  ///< index into the pool; 0: none
    std::uint16_t line;
    std::uint16_t announced;  ///< starts of day until it goes, if not heard; 0: no map announced it
};

static_assert(sizeof(BookEntry) == 64);

/// True where a message has stated something of the series since it was entered, or forgotten: a
/// quote was counted, or what trades and open interest state has its record.
inline bool heard(const BookEntry& entry) {
    return entry.quotes != 0 || entry.trade_record != 0;
}

/// Bits of TradeRecord::flags. `touched`: set or cancelled, with its sequence, on the series'
/// present line and numbering; a message that comes late is compared with it.
enum TradeFlag : std::uint16_t {
    has_open = 1,
    has_range = 2,  ///< high and low
    has_last = 4,
    has_open_interest = 8,
    open_stated = 16,  ///< by an opening report, not by the first trade heard
    last_touched = 32,
    open_touched = 64,
    open_interest_touched = 128,
    touched_here = last_touched | open_touched | open_interest_touched,
    covered_here = 2048,       ///< state of a peer is in it, up to covered_sequence
    covered_elsewhere = 4096,  ///< the same, on a line it has left, or in an earlier numbering
};

/// A touched bit so far to the left: touched on a line it has left, or in an earlier numbering.
inline constexpr unsigned elsewhere_shift = 3;

struct alignas(64) TradeRecord {
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

static_assert(sizeof(TradeRecord) == 64);

/// False where it is as if it had never been needed.
inline bool says_anything(const TradeRecord& record) {
    constexpr unsigned kept = covered_here | covered_elsewhere;
    return (record.flags & ~kept) != 0 || record.volume != 0 || record.trades != 0;
}

/// Key of the optional table of venue quotes.
struct VenueKey {
    feed::SeriesKey series;
    std::uint64_t participant;

    friend bool operator==(const VenueKey&, const VenueKey&) = default;
};

inline bool is_empty(const VenueKey& key) {
    return is_empty(key.series);
}

inline std::uint64_t hash(const VenueKey& key) {
    return feed::fold(feed::hash(key.series), key.participant ^ 0xA076'1D64'78BD'642FULL);
}

struct alignas(64) VenueEntry {
    VenueKey key;
    std::int32_t bid;
    std::uint32_t bid_size;
    std::int32_t offer;
    std::uint32_t offer_size;
    std::uint32_t sequence;
    std::uint32_t epoch;
    std::uint16_t line;
    char type;
    char code;
};

static_assert(sizeof(VenueEntry) == 64);

}  // namespace pinstrike::actors
