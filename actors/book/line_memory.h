// path: hot
//
// What a book remembers of a line, so that what happens to a line touches no series.
//
// A start of day, a flush of quotes or a gap concerns every series whose latest message came on
// that line: thousands. It is one step of the line's epoch. An entry keeps the epoch it was last
// brought up to; whoever touches or reads it compares, and settles what it missed.
#pragma once

#include "feed/event/event.h"
#include "feed/event/position.h"

#include <cstdint>

namespace pinstrike::actors {

/// True where sequence `a` comes after `b` on one line, also across the wrap of the counter.
inline bool sequence_after(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) > 0;
}

/// True where a message came after its number had been declared lost.
constexpr bool is_late(const feed::Header& header) {
    return (header.flags & (feed::flag_late | feed::flag_before_day | feed::flag_before_flush)) !=
           0;
}

struct LineMemory {
    std::uint32_t epoch;                ///< steps of any kind; entries start at 0, lines at 1
    std::uint32_t day;                  ///< epoch of the last start of day
    std::uint32_t flush;                ///< epoch of the last flush of quotes, in order
    std::uint32_t late_flush;           ///< epoch of the last flush told late
    std::uint32_t late_flush_sequence;  ///< quotes stated after this number outlive it
    std::uint32_t gap;                  ///< epoch of the last gap
    std::uint32_t missing_last;         ///< highest number known to be missing, if any
    bool missing;

    void start_of_day() {
        day = ++epoch;
        missing = false;
    }

    void flush_quotes() {
        flush = ++epoch;
        missing = false;
    }

    void flush_quotes_late(std::uint32_t sequence) {
        if (!flushed_late() || sequence_after(sequence, late_flush_sequence)) {
            late_flush_sequence = sequence;
        }
        late_flush = ++epoch;
    }

    /// True where a flush, told late, came in the present numbering.
    [[nodiscard]] bool flushed_late() const { return late_flush > flush && late_flush > day; }

    /// True where a flush told late came behind this number.
    [[nodiscard]] bool flushed_after(std::uint32_t sequence) const {
        return flushed_late() && !sequence_after(sequence, late_flush_sequence);
    }

    void lose(std::uint32_t last) {
        gap = ++epoch;
        if (!missing || sequence_after(last, missing_last)) {
            missing_last = last;
        }
        missing = true;
    }

    /// What was declared lost has come. Makes nothing fresh by itself; but what a late quote
    /// stated is vouched for once nothing behind it is missing.
    void repair(std::uint32_t first, std::uint32_t last) {
        if (missing && last == missing_last) {
            missing_last = first - 1;
        }
    }

    /// True where every number after this one has been delivered, as far as is known.
    [[nodiscard]] bool complete_after(std::uint32_t sequence) const {
        return !missing || !sequence_after(missing_last, sequence);
    }
};

static_assert(sizeof(LineMemory) == 32);

}  // namespace pinstrike::actors
