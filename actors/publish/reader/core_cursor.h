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
    explicit CoreCursor(const CoreView& core) : core_(&core) {}

    [[nodiscard]] const CoreView& core() const { return *core_; }

    /// Continues behind a published position.
    void start(const Tail& tail);

    [[nodiscard]] std::uint64_t position() const { return position_; }

    enum class State : std::uint8_t {
        nothing,  ///< no event has arrived
        event,
        overrun,   ///< records from position() on were overwritten
        diverged,  ///< the state has changed other than by events
    };

    /// Makes the next event available. Throws Error if the stream is damaged.
    [[nodiscard]] State next();

    /// The event that next() found: all its records, contiguous.
    [[nodiscard]] const feed::Event& event() const { return records_[at_]; }

    [[nodiscard]] std::uint64_t stamp() const { return clock_.stamp(); }

    /// Steps over the event.
    void advance() { at_ += records_[at_].header.records; }

  private:
    [[nodiscard]] State load();
    void keep_whole_events(std::size_t available);

    const CoreView* core_;
    std::uint64_t position_ = 0;  ///< behind records_
    Tail tail_;                   ///< the latest that was read
    actors::StampClock clock_;    ///< at the event
    std::vector<feed::Event> records_;
    std::size_t at_ = 0;
};

}  // namespace pinstrike::reader
