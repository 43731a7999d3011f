// path: hot
//
// Which numbers of a line are missing: how many, and the range that has them. Writer and readers
// apply the same rules.
#pragma once

#include "actors/publish/pinstrike.h"
#include "feed/event/event.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

/// Whether number `a` comes after `b` on one line, also if the counter wraps in between.
[[nodiscard]] inline bool sequence_after(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) > 0;
}

/// `messages` of the numbers from `first` to `last` are missing.
inline void add_missing(pinstrike_line& line, std::uint32_t first, std::uint32_t last,
                        std::uint64_t messages) {
    if (line.missing == 0 || sequence_after(line.missing_first, first)) {
        line.missing_first = first;
    }
    if (line.missing == 0 || sequence_after(last, line.missing_last)) {
        line.missing_last = last;
    }
    const std::uint64_t count = line.missing + std::max<std::uint64_t>(messages, 1);
    line.missing =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(count, PINSTRIKE_MISSING_UNKNOWN));
}

/// Whether messages that were found came after the line's last flush or start of day. Earlier ones
/// do not count as missing any more, and after a reset the line uses their numbers again.
[[nodiscard]] inline bool is_after_flush(const feed::Header& header) {
    return (header.flags & (feed::flag_before_day | feed::flag_before_flush)) == 0;
}

/// Whether these numbers are among the missing ones.
[[nodiscard]] inline bool has_missing(const pinstrike_line& line, std::uint32_t first,
                                      std::uint32_t last) {
    return line.missing != 0 && !sequence_after(line.missing_first, first) &&
           !sequence_after(last, line.missing_last);
}

/// Numbers that has_missing() arrived.
inline void remove_missing(pinstrike_line& line, std::uint32_t first, std::uint32_t last) {
    if (line.missing != PINSTRIKE_MISSING_UNKNOWN) {
        line.missing -= std::min(line.missing, last - first + 1);
    }
    if (last == line.missing_last) {
        line.missing_last = first - 1;
    }
}

/// Whether a number after this one is known to be missing.
[[nodiscard]] inline bool misses_after(const pinstrike_line& line, std::uint32_t sequence) {
    return line.missing != 0 && sequence_after(line.missing_last, sequence);
}

}  // namespace pinstrike::actors
