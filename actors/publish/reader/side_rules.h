// path: hot
//
// What the stored parts of a series mean: the rules of the book (actors/book), which stores them,
// for copies of these parts.
#pragma once

#include "actors/publish/missing.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/stamp.h"
#include "feed/event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::reader {

using actors::late_after;
using actors::misses_after;
using actors::stamp_after;

inline constexpr unsigned mark_shift = 16;

[[nodiscard]] inline bool is(const pinstrike_side& side, pinstrike_mark mark) {
    return (side.said >> mark_shift & mark) != 0;
}

inline void raise(pinstrike_side& side, std::uint32_t mark) {
    side.said |= mark << mark_shift;
}

inline void lower(pinstrike_side& side, std::uint32_t mark) {
    side.said &= ~(mark << mark_shift);
}

/// Decimals of each denominator code; 0 for any other byte.
inline constexpr auto decimals_of_codes = [] {
    std::array<std::uint8_t, 256> table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        const char code = static_cast<char>(byte);
        table[byte] =
            feed::is_code(code) ? static_cast<std::uint8_t>(feed::decimals(code)) : std::uint8_t{0};
    }
    return table;
}();

[[nodiscard]] inline std::uint8_t decimals_of(char code) {
    return decimals_of_codes[static_cast<unsigned char>(code)];
}

/// The line of an entry's latest message.
[[nodiscard]] inline std::uint16_t line_of(std::uint64_t stamp) {
    return static_cast<std::uint16_t>(stamp);
}

/// A stamp without the line and the writing bit.
[[nodiscard]] inline std::uint64_t place_of(std::uint64_t stamp) {
    return stamp & ~(PINSTRIKE_STAMP_PLACE - 1);
}

/// Whether a late flush came in the line's current numbering.
[[nodiscard]] inline bool flushed_late(const pinstrike_line& line) {
    return stamp_after(line.late_flush, line.flush) && stamp_after(line.late_flush, line.day);
}

/// Whether two flushes came in order after this stamp, as far as is known.
[[nodiscard]] inline bool flushed_twice(const pinstrike_line& line, std::uint64_t stamp) {
    return !flushed_late(line) && stamp_after(line.late_flush, stamp);
}

/// Applies to a side what happened to its line after the stamp of its entry.
inline void follow_line(pinstrike_side& side, std::uint64_t stamp, const pinstrike_line& line) {
    const bool outlives_late =
        !is(side, PINSTRIKE_ELSEWHERE) && !late_after(line.late_flush_sequence, side.sequence);
    if (stamp_after(line.flush, stamp) || (stamp_after(line.late_flush, stamp) && !outlives_late)) {
        side = {};
    } else if (stamp_after(line.gap, stamp) && is(side, PINSTRIKE_KNOWN)) {
        raise(side, PINSTRIKE_STALE);
        lower(side, PINSTRIKE_LATE);
    }
}

/// The state of a side that follow_line() has brought up to date.
[[nodiscard]] inline pinstrike_side_state state_of(const pinstrike_side& side,
                                                   const pinstrike_line& line) {
    if (!is(side, PINSTRIKE_KNOWN)) {
        return PINSTRIKE_SIDE_UNKNOWN;
    }
    const bool waits = is(side, PINSTRIKE_LATE) && misses_after(line, side.sequence);
    return is(side, PINSTRIKE_STALE) || waits ? PINSTRIKE_SIDE_STALE : PINSTRIKE_SIDE_FRESH;
}

/// Each field is written once and without a branch on what quotes mix, because each quote of a
/// stream has both sides.
inline void write_side(pinstrike_best& best, const pinstrike_side& side,
                       const pinstrike_line& line) {
    constexpr std::uint32_t rare = (PINSTRIKE_STALE | PINSTRIKE_LATE) << mark_shift;
    static_assert(PINSTRIKE_KNOWN == 1 && PINSTRIKE_SIDE_UNKNOWN == 0 && PINSTRIKE_SIDE_FRESH == 1);
    const bool present = is(side, PINSTRIKE_PRESENT);
    const std::uint64_t value = side.value & (std::uint64_t{0} - (present ? 1U : 0U));
    best.price = static_cast<std::int32_t>(value);
    best.size = static_cast<std::uint32_t>(value >> 32);
    best.decimals = present ? decimals_of(static_cast<char>(side.said >> 8)) : std::uint8_t{0};
    best.participant = present ? static_cast<char>(side.said) : ' ';
    best.present = present ? 1 : 0;
    best.state = (side.said & rare) == 0 ? static_cast<std::uint8_t>(side.said >> mark_shift & 1)
                                         : static_cast<std::uint8_t>(state_of(side, line));
    best.sequence = is(side, PINSTRIKE_ELSEWHERE) ? 0 : side.sequence;
}

}  // namespace pinstrike::reader
