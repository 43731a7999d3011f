// path: hot
//
// The events that a core has yet to get about a line because its ring was full. Their memory is
// bounded.
//
// A core may conclude from silence that nothing was lost. So a message that a full ring refuses
// becomes a pending gap event of cause ring_full, and an event for every core (control, gap, line
// state) becomes pending itself. A core may stand still for long, so pending events are merged:
//
//   - Refused messages become one range and a count (`messages` of first..last were refused).
//   - A control replaces a pending control that forgets as much or less. The control that is not
//     kept is a message, so it counts as refused. So the core gets the last start of day or flush
//     that it missed, and learns that something was lost before it.
//   - Messages refused before the pending control and after it are two ranges, because a control
//     may restart the numbering.
//   - A gap of the line becomes part of the range, because messages that neither stream brought are
//     lost to this core too.
//   - A gap event of cause `repaired` is dropped, and the router counts it. The core then keeps
//     counting a loss that was repaired, which errs on the safe side.
//   - Only the last line state is kept.
//
// Pending events are written in this order: state, range before, control, range after. There is one
// PendingEvents for each line and ring.
#pragma once

#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// The numbers first..last, of which `messages` were lost to one core. Messages without numbers are
/// only counted; 0..0: there were no others.
struct LostRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t messages = 0;

    void add(std::uint64_t from, std::uint64_t to, std::uint64_t count) noexcept {
        messages += count;
        if (from == 0) {
            return;  // without a number
        }
        // Serial number arithmetic, because numbers wrap and a late one may precede the range.
        if (first == 0 || before(from, first)) {
            first = from;
        }
        if (last == 0 || before(last, to)) {
            last = to;
        }
    }

    void add(const LostRange& other) noexcept {
        if (other.messages != 0) {
            add(other.first, other.last, other.messages);
        }
    }

    [[nodiscard]] static bool before(std::uint64_t a, std::uint64_t b) noexcept {
        return static_cast<std::int32_t>(a - b) < 0;
    }
};

class PendingEvents {
  public:
    static constexpr std::size_t events_max = 4;

    /// Adds a data message that the ring refused.
    void refuse(const feed::Header& header) noexcept {
        remember(header);
        latest().add(header.number(), header.number(), 1);
    }

    /// Adds an event for every core that the ring refused.
    void add(const feed::Event& event) noexcept {
        remember(event.header);
        switch (event.header.kind) {
            case feed::EventKind::control:
                add_control(event);
                break;
            case feed::EventKind::gap:
                add_gap(event.body.gap);
                break;
            case feed::EventKind::line_state:
                state_ = event;
                break;
            default:
                break;  // a mark: the next one replaces it
        }
    }

    [[nodiscard]] std::size_t events_count() const noexcept {
        return static_cast<std::size_t>(is_pending(state_)) +
               static_cast<std::size_t>(is_pending(control_)) +
               static_cast<std::size_t>(before_.messages != 0) +
               static_cast<std::size_t>(after_.messages != 0);
    }

    /// Writes the pending events into `slots`, which has events_count() slots, and clears them.
    void write_to(feed::Event* slots) noexcept {
        if (is_pending(state_)) {
            *slots++ = state_;
        }
        if (before_.messages != 0) {
            *slots++ = gap_of(before_);
        }
        if (is_pending(control_)) {
            *slots++ = control_;
        }
        if (after_.messages != 0) {
            *slots++ = gap_of(after_);
        }
        state_.header.kind = feed::EventKind::none;
        control_.header.kind = feed::EventKind::none;
        before_ = {};
        after_ = {};
    }

    bool listed =
        false;  ///< set by the router: the line is in its list of lines with pending events

  private:
    [[nodiscard]] static bool is_pending(const feed::Event& event) noexcept {
        return event.header.kind != feed::EventKind::none;
    }

    [[nodiscard]] LostRange& latest() noexcept { return is_pending(control_) ? after_ : before_; }

    void remember(const feed::Header& header) noexcept { last_header_ = header; }

    void add_control(const feed::Event& event) noexcept {
        if (!is_pending(control_)) {
            control_ = event;
            return;
        }
        if (event.body.control.forget < control_.body.control.forget) {
            after_.add(event.header.number(), event.header.number(), 1);
            return;
        }
        before_.add(control_.header.number(), control_.header.number(), 1);
        before_.add(after_);
        after_ = {};
        control_ = event;
    }

    void add_gap(const feed::Gap& gap) noexcept {
        if (gap.cause == feed::GapCause::repaired) {
            return;
        }
        latest().add(gap.first, gap.last, gap.messages);
    }

    [[nodiscard]] feed::Event gap_of(const LostRange& range) const noexcept {
        feed::Event event{};
        event.header = last_header_;
        event.header.kind = feed::EventKind::gap;
        event.header.flags = 0;
        event.header.records = 1;
        event.header.set_number(range.first);
        event.header.type = ' ';
        event.header.indicator = ' ';
        event.body.gap = {range.first, range.last, range.messages, feed::GapCause::ring_full};
        return event;
    }

    LostRange before_;
    LostRange after_;
    feed::Event control_{};
    feed::Event state_{};
    feed::Header last_header_{};
};

}  // namespace pinstrike::actors
