// path: hot
//
// How far the events of one core have come on each line, and which numbers of a line were not
// carried by the bridge.
//
// Numbers of one line follow each other. After another state was received, the first number of a
// line that comes as an event, or came while the state was received, says which were left out.
#pragma once

#include "feed/event/event.h"
#include "feed/event/limits.h"
#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::actors::bridge {

/// Numbers of a line that were not carried, both included.
struct LostNumbers {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  ///< below `first`: the numbers span the wrap

    [[nodiscard]] std::uint64_t count(const feed::Numbering& numbering) const {
        return numbering.distance(first, last) + 1;
    }

    friend bool operator==(const LostNumbers&, const LostNumbers&) = default;
};

class LineNumbers {
  public:
    /// What is known of one line. Without a filter, without a numbering that began anew, and if
    /// only this core has the line, first to last are `carried` and `lost` numbers together.
    struct Line {
        std::uint64_t first = 0;
        std::uint64_t last = 0;  ///< 0: no number came yet
        std::uint64_t carried = 0;
        std::uint64_t lost = 0;
    };

    explicit LineNumbers(const feed::Numbering& numbering)
        : numbering_(numbering),
          lines_(feed::line_numbers),
          open_(feed::line_numbers),
          anew_(feed::line_numbers) {}

    /// The number that the event brings its line to; 0: none, or it came late.
    [[nodiscard]] static std::uint64_t number_of(const feed::Event& event) {
        const feed::Header& header = event.header;
        constexpr unsigned others = feed::flag_late | feed::flag_before_day |
                                    feed::flag_before_flush | feed::flag_from_file |
                                    feed::flag_unnumbered;
        if ((header.flags & others) != 0 || header.kind == feed::EventKind::line_state) {
            return 0;
        }
        if (header.kind == feed::EventKind::gap) {
            const feed::Gap& gap = event.body.gap;
            return gap.cause == feed::GapCause::repaired || gap.cause == feed::GapCause::bridge
                       ? 0
                       : gap.last;
        }
        return header.number();
    }

    /// An event that is published. Returns the numbers before it that were not carried.
    [[nodiscard]] std::optional<LostNumbers> see(const feed::Event& event) {
        const std::uint64_t number = number_of(event);
        if (number == 0) {
            note_control(event);
            return std::nullopt;
        }
        if (feed::is_line_event(event.header.kind)) [[unlikely]] {
            return see_line_event(event, number);
        }
        const std::uint16_t line = event.header.line;
        std::optional<LostNumbers> lost;
        if (open_count_ != 0 && open_[line]) [[unlikely]] {
            lost = close(line, number - 1, false);
        }
        Line& known = lines_[line];
        if (known.last == 0) [[unlikely]] {
            known.first = number;
        }
        ++known.carried;
        known.last = number;
        return lost;
    }

    /// An event that became part of a state and is not published.
    void pass(const feed::Event& event) {
        const std::uint64_t number = number_of(event);
        const bool began = note_control(event);
        if (number == 0 && !began) {
            return;
        }
        const std::uint16_t line = event.header.line;
        if (passed_.empty()) {
            passed_ = std::vector<std::uint64_t>(feed::line_numbers);
        }
        const std::uint64_t before = passed_[line] != 0 ? passed_[line]
                                     : is_anew(line)    ? 0
                                                        : lines_[line].last;
        const bool is_gap = event.header.kind == feed::EventKind::gap;
        if (!is_gap || before == 0 || is_after(number, before)) {
            passed_[line] = number;
        }
    }

    /// The numbering of a line began anew since its last number.
    void begin_anew(std::uint16_t line) { anew_[line] = lines_[line].carried + 1; }

    /// Another state begins: from here on numbers may be left out.
    void interrupt() {
        open_count_ = 0;
        passed_.clear();
        for (std::size_t line = 0; line < lines_.size(); ++line) {
            open_[line] = lines_[line].last != 0;
            open_count_ += open_[line] ? 1 : 0;
        }
    }

    /// The state is published. Calls each(line, LostNumbers) for the lines that went on meanwhile.
    template <class Each>
    void resume(Each&& each) {
        for (std::size_t line = 0; line < passed_.size(); ++line) {
            const auto number = static_cast<std::uint16_t>(line);
            if (passed_[line] == 0) {
                continue;
            }
            if (open_[line]) {
                if (const auto lost = close(number, passed_[line], false)) {
                    each(number, *lost);
                }
            } else {
                lines_[line].first = numbering_.number_after(passed_[line]);
            }
            lines_[line].last = passed_[line];
            anew_[line] = 0;
        }
        passed_.clear();
    }

    [[nodiscard]] const Line& line(std::uint16_t number) const { return lines_[number]; }

    /// Lines of which it is not known yet what was left out.
    [[nodiscard]] std::size_t open() const { return open_count_; }

  private:
    [[nodiscard]] bool is_anew(std::uint16_t line) const {
        return anew_[line] == lines_[line].carried + 1;
    }

    /// Whether a number comes after another one of the same numbering, which may wrap.
    [[nodiscard]] bool is_after(std::uint64_t number, std::uint64_t before) const {
        return number != before && numbering_.distance(before, number) <= numbering_.last / 2;
    }

    /// A control, a gap or a mark. A gap of a core whose ring refused late messages may begin, or
    /// end, before numbers that have come.
    [[gnu::noinline]] std::optional<LostNumbers> see_line_event(const feed::Event& event,
                                                                std::uint64_t number) {
        const std::uint16_t line = event.header.line;
        const bool is_gap = event.header.kind == feed::EventKind::gap;
        const bool is_mark = event.header.kind == feed::EventKind::line_mark;
        // A gap that the feed itself states has numbers of its own; a mark has none.
        std::uint64_t first = is_gap ? event.body.gap.first : number;
        std::optional<LostNumbers> lost;
        if (open_[line]) {
            note_control(event);
            lost = close(line, is_mark ? number : first - 1, is_gap);
        }
        Line& known = lines_[line];
        if (is_gap && known.last != 0 && !is_anew(line)) {
            if (!is_after(number, known.last)) {
                return lost;
            }
            first = is_after(first, known.last) ? first : numbering_.number_after(known.last);
        }
        if (known.last == 0) {
            known.first = is_mark ? numbering_.number_after(number) : first;
        }
        known.carried += is_mark ? 0 : LostNumbers{first, number}.count(numbering_);
        known.last = number;
        anew_[line] = 0;
        return lost;
    }

    /// A start of day or a flush that came in order begins another numbering, or may. Returns
    /// whether the event is one.
    [[gnu::noinline]] bool note_control(const feed::Event& event) {
        const bool begins = event.header.kind == feed::EventKind::control &&
                            (event.header.flags & feed::flag_late) == 0 &&
                            event.body.control.forget != feed::Forget::nothing;
        if (begins) {
            begin_anew(event.header.line);
        }
        return begins;
    }

    /// The numbers up to `last` were not carried. If the numbering began anew meanwhile, only those
    /// of the present one are known. `of_gap`: `last` is the number before a gap that the feed
    /// states. Such a gap may begin before numbers that have come.
    [[gnu::noinline]] std::optional<LostNumbers> close(std::uint16_t line, std::uint64_t last,
                                                       bool of_gap) {
        open_[line] = false;
        --open_count_;
        const std::uint64_t before = lines_[line].last;
        const std::uint64_t reached = last == 0 ? numbering_.last : last;  // 0 is no number
        const bool goes_on =
            !is_anew(line) && numbering_.distance(before, reached) <= numbering_.last / 2;
        if (goes_on ? reached == before : last == 0 || (of_gap && !is_anew(line))) {
            return std::nullopt;
        }
        const LostNumbers lost =
            goes_on ? LostNumbers{numbering_.number_after(before), reached} : LostNumbers{1, last};
        lines_[line].lost += lost.count(numbering_);
        return lost;
    }

    feed::Numbering numbering_;
    std::vector<Line> lines_;
    std::vector<bool> open_;
    /// Line::carried + 1 when the numbering began anew. It counts until another number is carried.
    std::vector<std::uint64_t> anew_;
    std::vector<std::uint64_t> passed_;  ///< empty: no event passed
    std::size_t open_count_ = 0;
};

}  // namespace pinstrike::actors::bridge
