// path: hot
//
// Events of lines, and how an entry is brought up to date with those of its own line.
#include "actors/book/book.h"
#include "config/mistake.h"

namespace pinstrike::actors {

namespace {

/// Flushes quotes. A late flush only removes what was stated before it, and has no effect if
/// another flush or a start of day came after it.
void flush(LineMemory& line, const feed::Header& header) {
    if ((header.flags & (feed::flag_before_day | feed::flag_before_flush)) != 0) {
        return;
    }
    if ((header.flags & feed::flag_late) != 0) {
        line.flush_quotes_late(header.sequence);
    } else {
        line.flush_quotes();
    }
}

}  // namespace

void Book::apply_control(const feed::Event& event) {
    LineMemory& line = lines_[event.header.line];
    switch (event.body.control.forget) {
        case feed::Forget::nothing:
            break;
        case feed::Forget::quotes:
            flush(line, event.header);
            break;
        case feed::Forget::day:
            line.start_of_day();
            sweeper_.start(table_.slots());
            break;
    }
}

void Book::apply_gap(const feed::Event& event) {
    const feed::Gap& gap = event.body.gap;
    LineMemory& line = lines_[event.header.line];
    if (gap.cause == feed::GapCause::repaired) {
        line.repair(feed::serial_of(gap.first), feed::serial_of(gap.last));
    } else if (!planted(Mistake::book) || gap.cause != feed::GapCause::ring_full) {
        line.lose(feed::serial_of(gap.last));
    }
}

void Book::clear_flushed_sides(BookEntry& entry) const {
    const LineMemory& line = lines_[entry.line];
    const auto outlives = [&line](const BookSide& side) {
        return !side.is(side_elsewhere) && sequence_after(side.sequence, line.late_flush_sequence);
    };
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        const bool flushed =
            line.flush > entry.epoch || (line.late_flush > entry.epoch && !outlives(*side));
        if (flushed) {
            *side = BookSide{};
        } else if (line.gap > entry.epoch && side->is(side_known)) {
            side->raise(side_stale);
            side->lower(side_late);
        }
    }
}

/// The sequences of the entry's state have no meaning on its next line, so they are marked.
void Book::leave_line(BookEntry& entry) {
    counters_.bump(BookCount::series_moved);
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        if (state_of(entry, *side) == SideState::stale) {
            side->raise(side_stale);
        }
        side->raise(side_elsewhere);
        side->lower(side_late);
    }
    touch_elsewhere(entry);
}

void Book::touch_elsewhere(BookEntry& entry) {
    if (entry.trade_record == 0) {
        return;
    }
    std::uint16_t& flags = trades_.at(entry.trade_record).flags;
    const unsigned touched = flags & touched_here;
    flags = static_cast<std::uint16_t>((flags & ~touched) | touched << elsewhere_shift);
    if ((flags & covered_here) != 0) {
        flags = static_cast<std::uint16_t>((flags & ~covered_here) | covered_elsewhere);
    }
}

}  // namespace pinstrike::actors
