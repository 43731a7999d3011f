// path: hot
//
// How far one core has come on each line, and from where on it knows all that came.
//
// The messages of a line that other cores get are not seen here, so a line's number moves with
// what this core gets, and with the marks that pollers tell every core (EventKind::line_mark). Both
// are in the order of the line. A loss that a full ring caused is told behind newer messages; it
// moves nothing back.
#pragma once

#include "actors/book/line_memory.h"
#include "actors/book/pages.h"
#include "actors/book/transfer/state_record.h"
#include "feed/event/event.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

struct LinePlace {
    CoveredPlace here;           ///< how far
    std::int64_t first_ts_ns;    ///< the exchange's, of what was heard first
    std::uint64_t remembered;    ///< place in the journal where the present numbering begins
    std::uint32_t from;          ///< every message behind this number is remembered
    std::uint32_t lost_last;     ///< greatest number of a loss, mended or not
    std::uint32_t forced_first;  ///< of series taken before anything was heard: the least place
    std::uint32_t forced_last;   ///< and the greatest
    bool forced;                 ///< there are such
    bool lost_any;               ///< there is one
    bool heard;

    /// True where nothing behind this number was ever called lost.
    [[nodiscard]] bool whole_after(std::uint32_t sequence) const {
        return !lost_any || !sequence_after(lost_last, sequence);
    }

    [[nodiscard]] bool resets_seen() const { return here.reset_ts_ns != 0; }

    /// True where numbers of `other`, a peer's, mean the same messages as those here.
    [[nodiscard]] bool same_numbering(const CoveredPlace& other) const {
        if (resets_seen()) {
            return other.reset_ts_ns == here.reset_ts_ns &&
                   other.reset_sequence == here.reset_sequence;
        }
        // What was reset before this core heard anything began the numbering that it heard.
        return other.reset_ts_ns <= first_ts_ns;
    }
};

class LinePlaces {
  public:
    LinePlaces() : rows_(line_numbers) {}

    void prefault() { rows_.prefault(); }

    [[nodiscard]] LinePlace& at(std::uint16_t line) const { return rows_[line]; }

    /// Behind the greatest line number that was heard.
    [[nodiscard]] std::size_t end() const { return end_; }

    /// Takes note of an event, before or after it is applied. `remembered`: where the journal
    /// stands.
    void see(const feed::Event& event, std::uint64_t remembered) {
        const feed::Header& header = event.header;
        constexpr unsigned unnumbered = feed::flag_late | feed::flag_before_day |
                                        feed::flag_before_flush | feed::flag_from_file;
        LinePlace& row = rows_[header.line];
        if ((header.flags & unnumbered) != 0) [[unlikely]] {
            return see_late(row, event);
        }
        if (!feed::is_line_event(header.kind)) [[likely]] {
            advance(row, header, header.sequence - 1, header.sequence);
        } else {
            see_line(row, event, remembered);
        }
    }

    [[nodiscard]] static std::size_t bytes() { return line_numbers * sizeof(LinePlace); }

  private:
    static constexpr std::size_t line_numbers = 65536;

    void advance(LinePlace& row, const feed::Header& header, std::uint32_t before,
                 std::uint32_t last) {
        if (!row.heard) [[unlikely]] {
            begin(row, header, before);
        }
        row.here.sequence = last;
    }

    void begin(LinePlace& row, const feed::Header& header, std::uint32_t before) {
        row.heard = true;
        end_ = std::max(end_, std::size_t{header.line} + 1);
        row.from = before;
        row.first_ts_ns = header.ts_exchange_ns;
    }

    void see_line(LinePlace& row, const feed::Event& event, std::uint64_t remembered) {
        const feed::Header& header = event.header;
        switch (header.kind) {
            case feed::EventKind::control:
                if (event.body.control.forget != feed::Forget::nothing) {
                    reset(row, event, remembered);
                } else if (!row.heard || (!older_than_numbering(row, header) &&
                                          sequence_after(header.sequence, row.here.sequence))) {
                    // One that is told behind what follows it takes nothing back.
                    advance(row, header, header.sequence - 1, header.sequence);
                }
                break;
            case feed::EventKind::gap:
                see_gap(row, event);
                break;
            case feed::EventKind::line_mark:
                advance(row, header, header.sequence, header.sequence);
                break;
            default:
                break;
        }
    }

    /// A start of day that arrives after a later reset: its number belongs to an earlier numbering.
    [[nodiscard]] static bool older_than_numbering(const LinePlace& row,
                                                   const feed::Header& header) {
        return header.ts_exchange_ns < std::max(row.first_ts_ns, row.here.reset_ts_ns);
    }

    /// A flush that is told late is a reset all the same: who has heard of it does not go together
    /// with who has not. It moves nothing.
    static void see_late(LinePlace& row, const feed::Event& event) {
        const feed::Header& header = event.header;
        const bool flush = header.kind == feed::EventKind::control &&
                           (header.flags & ~feed::flag_retransmitted) == feed::flag_late &&
                           event.body.control.forget == feed::Forget::quotes;
        if (flush && row.heard) {
            row.here.reset_ts_ns = header.ts_exchange_ns;
            row.here.reset_sequence = header.sequence;
        }
    }

    static void see_gap(LinePlace& row, const feed::Event& event) {
        const feed::Gap& gap = event.body.gap;
        const std::uint32_t last = feed::serial_of(gap.last);
        if (gap.cause == feed::GapCause::repaired) {
            return;
        }
        if (!row.lost_any || sequence_after(last, row.lost_last)) {
            row.lost_last = last;
            row.lost_any = true;
        }
        // It bears no stamp of the exchange: in which numbering a line begins, it cannot say.
        if (row.heard && sequence_after(last, row.here.sequence)) {
            row.here.sequence = last;
        }
    }

    void reset(LinePlace& row, const feed::Event& event, std::uint64_t remembered) {
        const bool day = event.body.control.forget == feed::Forget::day;
        const bool heard = (event.header.flags & feed::flag_inferred) == 0;
        const std::uint32_t number =  // before the first behind it
            day && heard ? 0 : event.header.sequence;
        if (!row.heard) {
            begin(row, event.header, number);
        }
        row.here = {event.header.ts_exchange_ns, event.header.sequence, number};
        row.from = number;
        row.lost_any = false;
        row.remembered = remembered;
    }

    PageArray<LinePlace> rows_;
    std::size_t end_ = 0;
};

}  // namespace pinstrike::actors
