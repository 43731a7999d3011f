// path: cold
//
// What has come over a bridge, by core of the serving feed, across connections; and the gap events
// about what has not.
#pragma once

#include "actors/bridge/bridge_counts.h"
#include "actors/bridge/frames.h"
#include "actors/bridge/line_numbers.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::actors::bridge {

/// What is known of a core of the serving feed.
struct CorePlace {
    LineNumbers numbers;
    std::vector<bool> lines{};  ///< of the series of its state, by number
    std::uint64_t position = 0;
    std::int64_t ts_ns = 0;   ///< of the latest event
    std::uint64_t stamp = 0;  ///< of the latest event that was published
    bool known = false;       ///< `position` is valid
    bool ready = false;       ///< the present state of the core is complete
};

class Carried {
  public:
    explicit Carried(JoinCounters& counters) : counters_(counters) {}

    /// Another state begins. If it is of the same start of the feed, gap events will state the
    /// numbers that were not carried.
    void begin(std::uint64_t feed_start, std::size_t cores_count, const feed::Numbering& numbering);

    [[nodiscard]] const feed::Numbering& numbering() const { return numbering_; }

    [[nodiscard]] std::size_t cores_count() const { return cores_.size(); }

    [[nodiscard]] CorePlace& core(std::size_t index) { return cores_[index]; }

    /// The state of a core is complete. False: it states a position or a clock that it cannot have.
    [[nodiscard]] bool set_ready(const FrameHeader& ready);

    [[nodiscard]] bool is_ready() const { return cores_count() != 0 && ready_ == cores_count(); }

    /// All cores are ready, and events follow. Returns how many numbers are in gaps that are known.
    std::uint64_t resume();

    /// Numbers that were not carried.
    void add_gap(std::size_t core, std::uint16_t line, const LostNumbers& lost);

    /// Gives each(core, event) the gaps that are not published yet.
    template <class Each>
    void take_gaps(Each&& each) {
        for (auto& [core, event] : gaps_) {
            // So that stamps stay those of the feed's time.
            event.header.ts_receive_ns = cores_[core].ts_ns;
            each(core, event);
        }
        gaps_.clear();
    }

    [[nodiscard]] bool has_gaps() const { return !gaps_.empty(); }

    /// Gives each(core, event) an event for each line that had state or events: it is down.
    template <class Each>
    void make_line_down_events(Each&& each) const {
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            for_each_line_of(core, [&](std::uint16_t line) {
                feed::Event event{};
                event.header.kind = feed::EventKind::line_state;
                event.header.line = line;
                event.header.ts_receive_ns = cores_[core].ts_ns;
                event.body.line_state = {feed::LineState::line_down, ' '};
                each(core, event);
            });
        }
    }

    /// Calls each(core, line number, LineNumbers::Line) for lines that had events.
    template <class Each>
    void for_each_line(Each&& each) const {
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            for_each_line_of(core, [&](std::uint16_t line) {
                if (cores_[core].numbers.line(line).last != 0) {
                    each(core, line, cores_[core].numbers.line(line));
                }
            });
        }
    }

    /// Lines of which it is not known yet what was not carried.
    [[nodiscard]] std::size_t open_lines() const;

    /// Whether the records that came account for all that the serving feed wrote.
    [[nodiscard]] bool balances() const;

  private:
    template <class Each>
    void for_each_line_of(std::size_t core, Each&& each) const {
        const CorePlace& place = cores_[core];
        for (std::size_t line = 0; line < place.lines.size(); ++line) {
            const auto number = static_cast<std::uint16_t>(line);
            if (place.lines[line] || place.numbers.line(number).last != 0) {
                each(number);
            }
        }
    }

    JoinCounters& counters_;
    std::uint64_t feed_start_ = 0;
    feed::Numbering numbering_;
    std::vector<CorePlace> cores_;
    std::size_t ready_ = 0;
    std::vector<std::pair<std::size_t, feed::Event>> gaps_;  ///< to be published, by core
};

}  // namespace pinstrike::actors::bridge
