// path: hot
//
// What a book remembers of a line, so that an event of the line touches no series.
//
// A start of day, a flush of quotes or a gap concerns every series whose latest message came on
// that line, which may be thousands. The event only advances the line's epoch. An entry keeps the
// epoch up to which it is up to date. Code that touches or reads the entry compares the epochs and
// applies the events that the entry missed.
#pragma once

#include "feed/event/event.h"
#include "feed/event/position.h"

#include <cstdint>

namespace pinstrike::actors {

/// Whether sequence `a` comes after `b` on one line, also if the counter wraps in between.
inline bool sequence_after(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) > 0;
}

/// Whether a message came after its number had been declared lost.
constexpr bool is_late(const feed::Header& header) {
    return (header.flags & (feed::flag_late | feed::flag_before_day | feed::flag_before_flush)) !=
           0;
}

struct LineMemory {
    std::uint32_t epoch;                ///< number of events; entries start at 0, lines at 1
    std::uint32_t day;                  ///< epoch of the last start of day
    std::uint32_t flush;                ///< epoch of the last flush of quotes that came in order
    std::uint32_t late_flush;           ///< epoch of the last flush that came late
    std::uint32_t late_flush_sequence;  ///< highest number of a late flush; later quotes stay
    std::uint32_t gap;                  ///< epoch of the last gap
    std::uint32_t missing_last;         ///< highest number known to be missing; see `missing`
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

    /// Whether a late flush came in the current numbering.
    [[nodiscard]] bool flushed_late() const { return late_flush > flush && late_flush > day; }

    /// Whether a late flush in the current numbering came after this number.
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

    /// Numbers that had been declared lost arrived. That alone makes no side fresh. But a side that
    /// a late quote stated is fresh once no number after it is missing.
    void repair(std::uint32_t first, std::uint32_t last) {
        if (missing && last == missing_last) {
            missing_last = first - 1;
        }
    }

    /// Whether all numbers after this one were delivered, as far as is known.
    [[nodiscard]] bool complete_after(std::uint32_t sequence) const {
        return !missing || !sequence_after(missing_last, sequence);
    }
};

static_assert(sizeof(LineMemory) == 32);

}  // namespace pinstrike::actors
