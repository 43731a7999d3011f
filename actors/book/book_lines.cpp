// path: hot
//
// Events of lines, and how an entry is brought up to date with those of its own line.
#include "actors/book/book.h"
#include "config/mistake.h"

namespace pinstrike::actors {

namespace {

/// Flushes quotes. A late flush only removes what was stated before it, and has no effect if
/// another flush or a start of day came after it.
void flush(LineMemory& line, const feed::Header& header, std::uint64_t stamp) {
    if ((header.flags & (feed::flag_before_day | feed::flag_before_flush)) != 0) {
        return;
    }
    if ((header.flags & feed::flag_late) != 0) {
        line.flush_quotes_late(stamp, header.sequence);
    } else {
        line.flush_quotes(stamp);
    }
}

}  // namespace

void Book::apply_control(const feed::Event& event) {
    LineMemory& line = store_.lines[event.header.line];
    switch (event.body.control.forget) {
        case feed::Forget::nothing:
            break;
        case feed::Forget::quotes:
            flush(line, event.header, clock_.stamp());
            break;
        case feed::Forget::day:
            line.start_of_day(clock_.stamp());
            sweeper_.start(store_.table.slots());
            break;
    }
}

void Book::apply_gap(const feed::Event& event) {
    const feed::Gap& gap = event.body.gap;
    LineMemory& line = store_.lines[event.header.line];
    if (gap.cause == feed::GapCause::repaired) {
        line.repair(feed::serial_of(gap.first), feed::serial_of(gap.last));
    } else if (!planted(Mistake::book) || gap.cause != feed::GapCause::ring_full) {
        line.lose(clock_.stamp(), feed::serial_of(gap.last));
    }
}

void Book::clear_flushed_sides(BookEntry& entry) const {
    const LineMemory& line = store_.lines[entry.line()];
    const auto came = [&entry](std::uint64_t stamp) { return stamp_after(stamp, entry.stamp); };
    const auto outlives = [&line](const BookSide& side) {
        return !is(side, side_elsewhere) && sequence_after(side.sequence, line.late_flush_sequence);
    };
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        const bool flushed = came(line.flush) || (came(line.late_flush) && !outlives(*side));
        if (flushed) {
            *side = BookSide{};
        } else if (came(line.gap) && is(*side, side_known)) {
            raise(*side, side_stale);
            lower(*side, side_late);
        }
    }
}

/// The sequences of the entry's state have no meaning on its next line, so they are marked.
void Book::leave_line(BookEntry& entry) {
    counters_.bump(BookCount::series_moved);
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        if (state_of(entry, *side) == SideState::stale) {
            raise(*side, side_stale);
        }
        raise(*side, side_elsewhere);
        lower(*side, side_late);
    }
    touch_elsewhere(entry);
}

void Book::touch_elsewhere(BookEntry& entry) {
    if (!entry.has_trades()) {
        return;
    }
    std::uint16_t& flags = store_.trades_at(entry).flags;
    const unsigned touched = flags & touched_here;
    flags = static_cast<std::uint16_t>((flags & ~touched) | touched << elsewhere_shift);
    if ((flags & covered_here) != 0) {
        flags = static_cast<std::uint16_t>((flags & ~covered_here) | covered_elsewhere);
    }
}

}  // namespace pinstrike::actors
