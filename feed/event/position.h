// path: hot
//
// Positions of messages on a line. Sequence numbers may wrap (OPRA Block Sequence Number: after
// 4,294,967,295 comes 1; 0 is never a data number) and begin anew with every reset or session, so
// the arbiter does not compare them. Instead, it gives each message a 64-bit position. Positions
// only grow: they continue across a wrap, and each epoch begins more than a turn after the end of
// the one before it. The number of a position is its residue modulo the turn, so no table is needed
// to find it in any epoch.
#pragma once

#include <cstdint>

namespace pinstrike::feed {

/// The position of a message on its line. The end of a range is the position after its last
/// message.
using Position = std::uint64_t;

/// How a venue numbers the messages of a line. A turn is the numbers 1 .. last.
struct Numbering {
    /// The highest number; 1 follows it. At most number_max, which events can carry.
    std::uint64_t last = 0xFFFF'FFFF;
    /// Whether numbers begin anew with a message that both streams can lose. Otherwise the codec
    /// recognises each new session by itself (BlockRole::new_session).
    bool infers_resets = true;

    [[nodiscard]] constexpr std::uint64_t number_at(Position position) const {
        return (position - 1) % last + 1;
    }

    [[nodiscard]] constexpr std::uint64_t number_after(std::uint64_t number) const {
        return number == last ? 1 : number + 1;
    }

    /// How many numbers `to` comes after `from`, counted forward and across the wrap.
    [[nodiscard]] constexpr std::uint64_t distance(std::uint64_t from, std::uint64_t to) const {
        return (last + to - from) % last;
    }

    /// The position of number 0 (which no message has) in the turn that holds `position`.
    [[nodiscard]] constexpr Position turn_of(Position position) const {
        return (position - 1) / last * last;
    }

    /// Of all positions that have this number (1 or more), the one nearest to `anchor`, which is at
    /// least one turn from 0.
    [[nodiscard]] constexpr Position nearest(Position anchor, std::uint64_t number) const {
        const std::uint64_t ahead = (number - 1 + last - (anchor - 1) % last) % last;
        return ahead <= last / 2 ? anchor + ahead : anchor + ahead - last;
    }
};

/// The highest number that a venue may use: an event carries 40 bits (event.h). A line that counts
/// 10 million messages a second reaches it after 30 hours.
inline constexpr std::uint64_t number_max = (std::uint64_t{1} << 40) - 1;

/// The low 32 bits of a number. They order messages of one line that are less than 2^31 apart, by
/// serial number arithmetic.
[[nodiscard]] constexpr std::uint32_t serial_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(number);
}

}  // namespace pinstrike::feed
