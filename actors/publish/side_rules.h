// path: hot
//
// What the stored sides of a series mean. The book and its readers apply these rules to the sides
// that they keep, or to copies of them.
#pragma once

#include "actors/publish/missing.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/stamp.h"

#include <cstdint>

namespace pinstrike::actors {

/// Bits of mark_of(side).
using SideMark = pinstrike_mark;
inline constexpr SideMark side_known = PINSTRIKE_KNOWN;
inline constexpr SideMark side_stale = PINSTRIKE_STALE;
inline constexpr SideMark side_late = PINSTRIKE_LATE;
inline constexpr SideMark side_present = PINSTRIKE_PRESENT;
inline constexpr SideMark side_elsewhere = PINSTRIKE_ELSEWHERE;

inline constexpr unsigned mark_shift = 16;

[[nodiscard]] inline std::uint8_t mark_of(const pinstrike_side& side) {
    return static_cast<std::uint8_t>(side.said >> mark_shift);
}

[[nodiscard]] inline bool is(const pinstrike_side& side, SideMark bit) {
    return (mark_of(side) & bit) != 0;
}

inline void raise(pinstrike_side& side, SideMark bit) {
    side.said |= static_cast<std::uint32_t>(bit) << mark_shift;
}

inline void lower(pinstrike_side& side, SideMark bit) {
    side.said &= ~(static_cast<std::uint32_t>(bit) << mark_shift);
}

/// Applies to a side what happened to its line after the stamp of its series.
inline void follow_line(pinstrike_side& side, std::uint64_t stamp, const pinstrike_line& line) {
    const bool outlives_late =
        !is(side, side_elsewhere) && !late_after(line.late_flush_sequence, side.sequence);
    if (stamp_after(line.flush, stamp) || (stamp_after(line.late_flush, stamp) && !outlives_late)) {
        side = {};
    } else if (stamp_after(line.gap, stamp) && is(side, side_known)) {
        raise(side, side_stale);
        lower(side, side_late);
    }
}

/// The state of a side that follow_line() has brought up to date.
[[nodiscard]] inline pinstrike_side_state state_of(const pinstrike_side& side,
                                                   const pinstrike_line& line) {
    if (!is(side, side_known)) {
        return PINSTRIKE_SIDE_UNKNOWN;
    }
    const bool waits = is(side, side_late) && misses_after(line, side.sequence);
    return is(side, side_stale) || waits ? PINSTRIKE_SIDE_STALE : PINSTRIKE_SIDE_FRESH;
}

/// The series leaves a line, so the numbers of its sides have no meaning on its next one.
inline void leave_line(pinstrike_side& side, const pinstrike_line& line) {
    if (state_of(side, line) == PINSTRIKE_SIDE_STALE) {
        raise(side, side_stale);
    }
    raise(side, side_elsewhere);
    lower(side, side_late);
}

}  // namespace pinstrike::actors
