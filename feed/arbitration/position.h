// path: hot
//
// Where a message stands on its line. Sequence numbers wrap (after 4,294,967,295 comes 1; 0 is
// never a data number, OPRA Block Sequence Number) and begin anew with every reset, so
// nothing inside the arbiter compares them. A message has a 64-bit position instead, which only
// grows: over wraps by itself, over resets because each epoch begins more than a turn behind the
// end of the one before it. A position's number is its residue, so no table is needed to tell a
// number of any epoch.
#pragma once

#include <cstdint>

namespace pinstrike::feed {

/// Of a message on its line. The end of a range is the position behind its last message.
using Position = std::uint64_t;

/// How many numbers there are before they wrap.
inline constexpr std::uint64_t numbers_per_turn = 0xFFFF'FFFF;

[[nodiscard]] constexpr std::uint32_t number_at(Position position) {
    return static_cast<std::uint32_t>((position - 1) % numbers_per_turn + 1);
}

[[nodiscard]] constexpr std::uint32_t number_after(std::uint32_t number) {
    return number == numbers_per_turn ? 1 : number + 1;
}

/// How many numbers `to` is behind `from`, forward and over the wrap.
[[nodiscard]] constexpr std::uint64_t distance(std::uint32_t from, std::uint32_t to) {
    return (numbers_per_turn + to - from) % numbers_per_turn;
}

/// The position of number 0 (which no message has) in the turn that holds `position`.
[[nodiscard]] constexpr Position turn_of(Position position) {
    return (position - 1) / numbers_per_turn * numbers_per_turn;
}

/// Of all positions that have this number (1 or more), the one nearest to `anchor`, which is at
/// least one turn from 0.
[[nodiscard]] constexpr Position nearest(Position anchor, std::uint32_t number) {
    const std::uint64_t ahead =
        (number - 1 + numbers_per_turn - (anchor - 1) % numbers_per_turn) % numbers_per_turn;
    return ahead <= numbers_per_turn / 2 ? anchor + ahead : anchor + ahead - numbers_per_turn;
}

}  // namespace pinstrike::feed
