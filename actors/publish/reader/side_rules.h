// path: hot
//
// The stored sides of a series as users get them. The rules are those of the book (actors/book),
// which stores the sides.
#pragma once

#include "actors/publish/line_memory.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/side_rules.h"
#include "actors/publish/stamp.h"
#include "feed/event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::reader {

using actors::flushed_after;
using actors::flushed_twice;
using actors::follow_line;
using actors::is;
using actors::is_late;
using actors::late_after;
using actors::leave_line;
using actors::mark_shift;
using actors::stamp_after;
using actors::state_of;

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
