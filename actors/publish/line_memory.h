// path: hot
//
// What a book, or a reader of its stream, remembers of a line, so that an event of the line touches
// no series.
//
// A start of day, a flush of quotes or a gap concerns every series whose latest message came on
// that line, which may be thousands. The line only keeps the stamp of the event. An entry keeps the
// stamp of its latest event. Code that touches or reads the entry compares the stamps and applies
// the events that the entry missed.
#pragma once

#include "actors/publish/missing.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/stamp.h"
#include "config/hooks.h"
#include "feed/event/event.h"
#include "feed/event/position.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors {

/// Whether a message came after its number had been declared lost.
constexpr bool is_late(const feed::Header& header) {
    return (header.flags & (feed::flag_late | feed::flag_before_day | feed::flag_before_flush)) !=
           0;
}

/// Whether a late flush came in the line's current numbering.
[[nodiscard]] inline bool flushed_late(const pinstrike_line& line) {
    return stamp_after(line.late_flush, line.flush) && stamp_after(line.late_flush, line.day);
}

/// Whether two flushes came in order after this stamp, as far as is known.
[[nodiscard]] inline bool flushed_twice(const pinstrike_line& line, std::uint64_t stamp) {
    return !flushed_late(line) && stamp_after(line.late_flush, stamp);
}

/// Whether a late flush in the current numbering came after this late message.
[[nodiscard]] inline bool flushed_after(const pinstrike_line& line, std::uint32_t sequence) {
    return flushed_late(line) && !late_after(sequence, line.late_flush_sequence);
}

/// The stamp of each event is newer than those before it.
struct LineMemory : pinstrike_line {
    void start_of_day(std::uint64_t stamp) {
        write([&] {
            // The older events concern no entry any more.
            changed = day = flush = late_flush = gap = stamp;
            missing = 0;
        });
    }

    void flush_quotes(std::uint64_t stamp) {
        write([&] {
            late_flush = flush;
            changed = flush = stamp;
            missing = 0;
        });
    }

    void flush_quotes_late(std::uint64_t stamp, std::uint32_t sequence) {
        write([&] {
            if (!flushed_late(*this) || late_after(sequence, late_flush_sequence)) {
                late_flush_sequence = sequence;
            }
            changed = late_flush = stamp;
        });
    }

    /// `messages` of the numbers from `first` to `last` are missing.
    void lose(std::uint64_t stamp, std::uint32_t first, std::uint32_t last,
              std::uint64_t messages) {
        write([&] {
            changed = gap = stamp;
            add_missing(*this, first, last, messages);
        });
    }

    /// Numbers that had been declared lost arrived. That alone makes no side fresh. But a side that
    /// a late quote stated is fresh once no number after it is missing.
    void repair(std::uint32_t first, std::uint32_t last) {
        if (has_missing(*this, first, last)) {
            write([&] { remove_missing(*this, first, last); });
        }
    }

    /// Applies an event of the line.
    void apply(const feed::Event& event, std::uint64_t stamp) {
        if (event.header.kind == feed::EventKind::gap) {
            apply_gap(event, stamp);
        } else if (event.header.kind == feed::EventKind::control) {
            apply_control(event, stamp);
        }
    }

  private:
    /// A late flush only removes what was stated before it, and has no effect if another flush or a
    /// start of day came after it.
    void apply_control(const feed::Event& event, std::uint64_t stamp) {
        const feed::Header& header = event.header;
        if (event.body.control.forget == feed::Forget::day) {
            start_of_day(stamp);
        } else if (event.body.control.forget == feed::Forget::quotes && is_after_flush(header)) {
            if ((header.flags & feed::flag_late) != 0) {
                flush_quotes_late(stamp, header.sequence);
            } else {
                flush_quotes(stamp);
            }
        }
    }

    void apply_gap(const feed::Event& event, std::uint64_t stamp) {
        const feed::Gap& numbers = event.body.gap;
        const std::uint32_t first = feed::serial_of(numbers.first);
        const std::uint32_t last = feed::serial_of(numbers.last);
        if (numbers.cause == feed::GapCause::repaired) {
            if (is_after_flush(event.header)) {
                repair(first, last);
            }
        } else if (numbers.cause != feed::GapCause::bridge) {  // the state includes such messages
            lose(stamp, first, last, numbers.messages);
        }
    }

    /// Readers in other processes see an odd version while the other fields change. Order: the
    /// release fence makes the odd version visible before the fields, the release store makes the
    /// fields visible before the even version.
    template <class Change>
    void write(Change&& change) {
        const std::atomic_ref<std::uint64_t> guard{version};
        guard.store(version + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        RING_HOOK("line:writing");
        change();
        RING_HOOK("line:written");
        guard.store(version + 1, std::memory_order_release);
    }
};

static_assert(sizeof(LineMemory) == sizeof(pinstrike_line));

}  // namespace pinstrike::actors
