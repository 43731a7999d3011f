// path: cold
//
// The latest flush of quotes, start of day and loss of messages of each line, as stamps. They
// change all series of the line; each is updated when it is used.
#pragma once

#include "actors/market/instruments.h"
#include "actors/publish/missing.h"
#include "actors/publish/pinstrike.h"
#include "feed/dbn/records.h"
#include "feed/event/limits.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::actors {

class LineChanges {
  public:
    /// Adds an event of a line, by the rules of the book.
    void add(const pinstrike_record& record) {
        if (record.kind == PINSTRIKE_CONTROL) {
            add_control(record);
        } else if (record.kind == PINSTRIKE_GAP && record.of.gap.cause < no_loss_from) {
            of(record.core, record.line).loss = record.stamp;
        }
    }

    /// Whether the line of a quote was flushed after it.
    [[nodiscard]] bool flushed_after(const pinstrike_record& record) const {
        const Changes* const line = find(record.core, record.line);
        return line != nullptr && comes_after(line->quotes, record.stamp);
    }

    /// Whether a flush was added since the last call.
    [[nodiscard]] bool take_new_flush() { return std::exchange(has_new_flush_, false); }

    /// Whether a change of its line came after what a series states.
    [[nodiscard]] bool are_after(const Instrument& at) const {
        const Changes* const found = find(at.core, at.line);
        return found != nullptr &&
               (comes_after(found->quotes, at.stamp) || comes_after(found->late, at.stamp) ||
                comes_after(found->day, at.stamp) || comes_after(found->loss, at.stamp));
    }

    /// Removes from a series what was stated before the flushes of its line, and marks as stale
    /// what was stated before a loss.
    void apply_to(Instrument& at) const {
        const Changes* const found = find(at.core, at.line);
        if (found == nullptr) {
            return;
        }
        const Changes& line = *found;
        at.stale = at.stale || (at.has_sides && comes_after(line.loss, at.stamp));
        if (comes_after(line.quotes, at.stamp)) {
            at.best = {};
            at.stale = at.has_sides = false;
        } else if (line.is_flushed_late() && comes_after(line.late, at.stamp)) {
            remove_older(at, line.late_sequence);
        }
        if (comes_after(line.day, at.stamp)) {
            at.forget_last();
            at.has_open_interest = false;
        }
    }

    void clear() { *this = {}; }

  private:
    /// Causes from this one on: found again, and not carried by a bridge, whose state has them.
    static constexpr std::uint8_t no_loss_from = 3;

    void add_control(const pinstrike_record& record) {
        constexpr std::uint8_t quotes = 1;
        constexpr std::uint8_t day = 2;
        const std::uint8_t forgets = record.of.control.forgets;
        const bool is_void = (record.flags & (PINSTRIKE_BEFORE_DAY | PINSTRIKE_BEFORE_FLUSH)) != 0;
        if (forgets < quotes || (forgets < day && is_void)) {
            return;
        }
        Changes& line = of(record.core, record.line);
        has_new_flush_ = true;
        if (forgets >= day) {
            line = {record.stamp, record.stamp, record.stamp, 0, 0};
        } else if ((record.flags & PINSTRIKE_IS_LATE) == 0) {
            line.quotes = record.stamp;
        } else {
            const auto sequence = static_cast<std::uint32_t>(record.sequence);
            if (!line.is_flushed_late() || sequence_after(sequence, line.late_sequence)) {
                line.late_sequence = sequence;
            }
            line.late = record.stamp;
        }
    }

    /// `change`: 0 if there was none.
    static bool comes_after(std::uint64_t change, std::uint64_t stamp) {
        return change != 0 && pinstrike_stamp_after(change, stamp) != 0;
    }

    struct Changes {
        std::uint64_t quotes = 0;
        std::uint64_t day = 0;
        std::uint64_t late = 0;
        std::uint64_t loss = 0;
        /// The highest number of a late flush since the latest other one.
        std::uint32_t late_sequence = 0;

        [[nodiscard]] bool is_flushed_late() const {
            return late != 0 && (quotes == 0 || comes_after(late, quotes)) &&
                   (day == 0 || comes_after(late, day));
        }
    };

    /// Removes the sides that messages before a number stated, and those of another line, whose
    /// number is 0.
    static void remove_older(Instrument& at, std::uint32_t sequence) {
        feed::dbn::ConsolidatedLevel& best = at.best;
        if (at.bid_sequence == 0 || !sequence_after(at.bid_sequence, sequence)) {
            best.bid_price = feed::dbn::undefined_price;
            best.bid_size = best.bid_publisher = 0;
        }
        if (at.offer_sequence == 0 || !sequence_after(at.offer_sequence, sequence)) {
            best.ask_price = feed::dbn::undefined_price;
            best.ask_size = best.ask_publisher = 0;
        }
        at.stale = at.stale && !(best == feed::dbn::ConsolidatedLevel{});
    }

    [[nodiscard]] const Changes* find(std::uint16_t core, std::uint16_t line) const {
        return core < by_core_.size() && !by_core_[core].empty() ? &by_core_[core][line] : nullptr;
    }

    Changes& of(std::uint16_t core, std::uint16_t line) {
        if (core >= by_core_.size()) {
            by_core_.resize(core + std::size_t{1});
        }
        by_core_[core].resize(feed::line_numbers);
        return by_core_[core][line];
    }

    std::vector<std::vector<Changes>> by_core_;
    bool has_new_flush_ = false;
};

}  // namespace pinstrike::actors
