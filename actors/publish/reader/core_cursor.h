// path: cold
//
// The place of a reader in the stream of one core, and copies of the events behind it.
//
// The writer does not wait for readers. Records are copied first, then the writer's `intent` is
// loaded: if it is at most one ring ahead of the copied records, none of them was overwritten
// before it was copied. Otherwise the reader was overrun, and it knows which records it missed.
#pragma once

#include "actors/publish/reader/mapping.h"
#include "actors/publish/reader/series_reader.h"
#include "actors/publish/stamp.h"
#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::reader {

class CoreCursor {
  public:
    explicit CoreCursor(const CoreView& core) : core_(&core), records_(copied_max, feed::Event{}) {}

    [[nodiscard]] const CoreView& core() const { return *core_; }

    /// Continues behind a published position.
    void start(const Tail& tail);

    /// Position of the next record that take() will pass on.
    [[nodiscard]] std::uint64_t position() const { return copied_from_ + at_; }

    /// At the last event that was taken.
    [[nodiscard]] const actors::StampClock& clock() const { return clock_; }

    enum class State : std::uint8_t {
        nothing,  ///< no event has arrived
        event,
        overrun,   ///< records from position() on were overwritten
        diverged,  ///< the state has changed other than by events
    };

    /// Copies the next events, unless some are left to take. Throws Error if the stream is damaged.
    [[nodiscard]] State load();

    /// Calls each(event, stamp) for the events that load() found, until it returns false. All
    /// records of an event are contiguous, and stay until the next load(). Throws Error if the
    /// stream is damaged.
    template <class Each>
    void take(Each&& each) {
        actors::StampClock::Stamps stamps{clock_};
        const feed::Event* event = records_.data() + at_;
        const feed::Event* const end = records_.data() + end_;
        for (bool more = true; more && event < end;) {
            const std::size_t records = event->header.records;
            const auto left = static_cast<std::size_t>(end - event);
            if (records - 1 >= left || event->header.ts_receive_ns > actors::ts_receive_ns_max)
                [[unlikely]] {
                at_ = end_ - left;
                end_early(*event);
                return stamps.end();
            }
            more = each(*event, stamps.next(event->header.ts_receive_ns));
            ++event;
            if (records != 1) [[unlikely]] {  // the processor predicts it, and loads the next event
                event += records - 1;
            }
        }
        at_ = end_ - static_cast<std::size_t>(end - event);
        stamps.end();
    }

  private:
    /// Records of one copy. More than the 255 of the longest event, so each copy has a whole event.
    static constexpr std::size_t copied_max = 256;

    State look_for_more();
    bool copy(std::size_t count);
    void prefetch_next() const;
    void end_early(const feed::Event& event);

    const CoreView* core_;
    Tail tail_;                         ///< the latest that was read
    actors::StampClock clock_;          ///< at the last event that was taken
    std::vector<feed::Event> records_;  ///< copies, of which `end_` are valid
    std::uint64_t copied_from_ = 0;     ///< position of the first copy
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    bool changed_ = false;  ///< the state changed without an event before `tail_`
};

}  // namespace pinstrike::reader
