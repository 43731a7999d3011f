// path: hot
//
// The place that one core has reached on each line, and the number after which it has all messages.
//
// The core does not see the messages of a line that other cores get. So its place on a line
// advances with the messages that it gets itself and with the marks that pollers send to every core
// (EventKind::line_mark). Both come in the order of the line. A gap event for a full ring comes
// after newer messages and does not move the place back.
#pragma once

#include "actors/core/state_record.h"
#include "actors/publish/line_memory.h"
#include "actors/publish/pages.h"
#include "feed/event/event.h"
#include "feed/event/limits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

struct LinePlace {
    CoveredPlace here;           ///< the place that was reached
    std::int64_t first_ts_ns;    ///< exchange time of the first message heard
    std::uint64_t remembered;    ///< journal place where the current numbering begins
    std::uint32_t from;          ///< the journal has every message after this number
    std::uint32_t first;         ///< number of the first message heard
    std::uint32_t origin;        ///< number of the first message that any core got
    std::uint32_t lost_last;     ///< highest number declared lost, repaired or not
    std::uint32_t forced_first;  ///< lowest place of series taken before the line was heard
    std::uint32_t forced_last;   ///< highest place of these series
    bool forced;                 ///< there are such series
    bool lost_any;               ///< lost_last is set
    bool heard;
    bool forgot;           ///< the journal lacks messages that came since the line was heard
    bool origin_known;     ///< a mark has stated `origin`
    bool forced_recorded;  ///< the series that were taken before are from a recording
    bool partial;          ///< series of messages before this core's first one may be unknown here

    /// Whether no number after this one was ever declared lost.
    [[nodiscard]] bool whole_after(std::uint32_t sequence) const {
        return !lost_any || !sequence_after(lost_last, sequence);
    }

    /// Whether it is known what lies between the series that were taken before the line was heard
    /// and the line's first message. The first message of a core is not always the line's first
    /// one, so with a recording the core waits for the mark that states it.
    [[nodiscard]] bool joined_forced() const {
        return heard && (origin_known || resets_seen() || !forced_recorded);
    }

    /// Whether the state of series of the line has a place: it was heard, or they were taken from a
    /// recording.
    [[nodiscard]] bool is_stated() const { return heard || (forced && forced_recorded); }

    [[nodiscard]] CoveredPlace stated() const {
        return heard ? here : CoveredPlace{.sequence = forced_last};
    }

    [[nodiscard]] bool resets_seen() const { return here.reset_ts_ns != 0; }

    /// Whether a number means the same message in `other`, a place of a peer, as it does here.
    [[nodiscard]] bool same_numbering(const CoveredPlace& other) const {
        if (resets_seen()) {
            return other.reset_ts_ns == here.reset_ts_ns &&
                   other.reset_sequence == here.reset_sequence;
        }
        // A reset before this core's first message began the numbering that this core heard.
        return other.reset_ts_ns <= first_ts_ns;
    }

    /// Whether messages before the first one that any core got are missing after this number, in
    /// the numbering of that message.
    [[nodiscard]] bool lacks_before_origin(std::uint32_t sequence) const {
        return origin_known && !resets_seen() && sequence_after(origin - 1, sequence);
    }

    /// Whether `other` includes the first message heard here, which proves that both are in one
    /// numbering. Without a reset in common nothing else does: the peer may have missed a reset
    /// that came before that message.
    [[nodiscard]] bool is_first_in(const CoveredPlace& other) const {
        return !sequence_after(first, other.sequence) && other.ts_ns >= first_ts_ns;
    }
};

class LinePlaces {
  public:
    LinePlaces() : rows_(feed::line_numbers) {}

    void prefault() { rows_.prefault(); }

    [[nodiscard]] LinePlace& at(std::uint16_t line) const { return rows_[line]; }

    /// One more than the highest line number that was heard.
    [[nodiscard]] std::size_t end() const { return end_; }

    /// Notes an event, before or after it is applied. `remembered`: the current end of the journal.
    void see(const feed::Event& event, std::uint64_t remembered) {
        const feed::Header& header = event.header;
        constexpr unsigned unordered = feed::flag_late | feed::flag_before_day |
                                       feed::flag_before_flush | feed::flag_from_file |
                                       feed::flag_unnumbered;
        LinePlace& row = rows_[header.line];
        if ((header.flags & unordered) != 0) [[unlikely]] {
            return see_late(row, event);
        }
        if (!feed::is_line_event(header.kind)) [[likely]] {
            advance(row, header, header.sequence - 1, header.sequence);
        } else {
            see_line(row, event, remembered);
        }
    }

    [[nodiscard]] static std::size_t bytes() { return feed::line_numbers * sizeof(LinePlace); }

  private:
    void advance(LinePlace& row, const feed::Header& header, std::uint32_t before,
                 std::uint32_t last) {
        if (!row.heard) [[unlikely]] {
            begin(row, header, before);
        }
        row.here.sequence = last;
        row.here.ts_ns = std::max(row.here.ts_ns, header.ts_exchange_ns);
    }

    void begin(LinePlace& row, const feed::Header& header, std::uint32_t before) {
        row.heard = true;
        end_ = std::max(end_, std::size_t{header.line} + 1);
        row.from = before;
        row.first = header.sequence;
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
                    // A control that is delivered after later messages does not move the place
                    // back.
                    advance(row, header, header.sequence - 1, header.sequence);
                }
                break;
            case feed::EventKind::gap:
                see_gap(row, event);
                break;
            case feed::EventKind::line_mark:
                advance(row, header, header.sequence, header.sequence);
                if (event.body.line_mark.first != 0 && !row.origin_known) {
                    row.origin = feed::serial_of(event.body.line_mark.first);
                    row.origin_known = true;
                }
                break;
            default:
                break;
        }
    }

    /// Whether a control is of an earlier numbering, such as a start of day that arrives after a
    /// later reset.
    [[nodiscard]] static bool older_than_numbering(const LinePlace& row,
                                                   const feed::Header& header) {
        return header.ts_exchange_ns < std::max(row.first_ts_ns, row.here.reset_ts_ns);
    }

    /// Notes a late event. A late flush is a reset too, because the state of a core that heard of
    /// it does not match the state of a core that did not. It does not move the place.
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
        if (gap.cause == feed::GapCause::repaired || gap.last == 0) {
            return;
        }
        if (!row.lost_any || sequence_after(last, row.lost_last)) {
            row.lost_last = last;
            row.lost_any = true;
        }
        // A gap event has no exchange time, so it cannot show in which numbering a line begins.
        if (row.heard && sequence_after(last, row.here.sequence)) {
            row.here.sequence = last;
        }
    }

    void reset(LinePlace& row, const feed::Event& event, std::uint64_t remembered) {
        const bool day = event.body.control.forget == feed::Forget::day;
        const bool heard = (event.header.flags & feed::flag_inferred) == 0;
        const std::uint32_t number =  // before the first number after the reset
            day && heard ? 0 : event.header.sequence;
        if (!row.heard) {
            begin(row, event.header, number);
        }
        row.here = {event.header.ts_exchange_ns, event.header.sequence, number,
                    event.header.ts_exchange_ns};
        row.from = number;
        row.forgot = false;
        row.lost_any = false;
        row.partial = row.partial && !day;
        row.remembered = remembered;
    }

    PageArray<LinePlace> rows_;
    std::size_t end_ = 0;
};

}  // namespace pinstrike::actors
