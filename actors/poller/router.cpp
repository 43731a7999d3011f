// path: cold
#include "actors/poller/router.h"

#include "config/check.h"

#include <immintrin.h>
#include <sched.h>

#include <utility>

namespace pinstrike::actors {

Router::Router(const RouterConfig& config, std::vector<Producer<feed::Event>> rings,
               const std::vector<Parking*>& bells)
    : config_(config), refused_(message_records_max, feed::Event{}) {
    PINSTRIKE_CHECK(!rings.empty() && rings.size() == bells.size());
    constexpr std::size_t spare_share = 16;
    for (std::size_t i = 0; i < rings.size(); ++i) {
        const std::size_t capacity = rings[i].capacity();
        PINSTRIKE_CHECK(capacity >= 2 * message_records_max);
        Lane lane{std::move(rings[i])};
        lane.bell = bells[i];
        lane.spare = config.when_full == WhenFull::refuse ? capacity / spare_share : 0;
        lane.closed = lane.spare;
        lane.counters = std::make_unique<RingCounters>();
        lane.pending.resize(config.lines_max);
        lane.pending_lines.resize(config.lines_max);
        lanes_.push_back(std::move(lane));
    }
    if (lanes_.size() > 1) {
        apart_.resize(offered_records_max, feed::Event{});
    }
}

// --- hot ---

feed::Event* Router::claim_when_full(Lane& lane, std::size_t records) noexcept {
    if (config_.when_full == WhenFull::wait) {
        wait_for_room(lane, records);
        ++lane.pushed_count;
        return lane.ring.claim(records);
    }
    if (lane.pending_lines_count != 0) {
        flush_pending(lane, lane.room_to_flush());
        if (feed::Event* slots = lane.ring.claim(records, lane.closed)) {
            ++lane.pushed_count;
            return slots;
        }
    }
    ++lane.refused_count;
    refused_by_ = &lane;
    return refused_.data();
}

void Router::tell(Lane& lane, const feed::Event& event) noexcept {
    if (config_.when_full == WhenFull::wait) {
        wait_for_room(lane, 1);
    }
    if (lane.pending[line_].events_count() == 0 || flush_line(lane, line_)) {
        if (feed::Event* slot = lane.ring.claim(1)) {
            *slot = event;
            lane.counters->broadcast.add();
            return;
        }
    }
    PendingEvents& events = pending_of(lane);
    events.add(event);
    if (event.header.kind == feed::EventKind::gap &&
        event.body.gap.cause == feed::GapCause::repaired) {
        lane.counters->repairs_untold.add();
    }
}

PendingEvents& Router::pending_of(Lane& lane) noexcept {
    PendingEvents& events = lane.pending[line_];
    if (!events.listed) {
        events.listed = true;
        lane.pending_lines[lane.pending_lines_count++] = static_cast<std::uint32_t>(line_);
        lane.closed = lane.ring.capacity() + 1;
    }
    return events;
}

/// Writes the pending events of a line. If the ring lacks space for all of them, it writes none and
/// returns false.
bool Router::flush_line(Lane& lane, std::size_t line) noexcept {
    PendingEvents& events = lane.pending[line];
    const std::size_t count = events.events_count();
    if (count != 0) {
        feed::Event* slots = lane.ring.claim(count);
        if (slots == nullptr) {
            return false;
        }
        events.write_to(slots);
        lane.counters->broadcast.add(count);
    }
    return true;
}

/// Writes the pending events line by line while `room` slots are free before each line.
void Router::flush_pending(Lane& lane, std::size_t room) noexcept {
    while (lane.pending_lines_count != 0 && lane.ring.has_room(room)) {
        const std::uint32_t line = lane.pending_lines[lane.pending_lines_count - 1];
        if (!flush_line(lane, line)) {
            return;
        }
        lane.pending[line].listed = false;
        --lane.pending_lines_count;
    }
    if (lane.pending_lines_count == 0) {
        lane.closed = lane.spare;
    }
}

bool Router::flush_pending() noexcept {
    note_refused();
    bool remains = false;
    for (Lane& lane : lanes_) {
        flush_pending(lane, lane.spare / 2 + PendingEvents::events_max);
        lane.count();
        if (lane.ring.unpublished()) {
            lane.publish();
        }
        remains = remains || lane.pending_lines_count != 0;
    }
    return !remains;
}

// --- cold ---

/// Only in replays, where the input can wait. Yields, because the core's thread may need this CPU.
void Router::wait_for_room(Lane& lane, std::size_t records) noexcept {
    constexpr unsigned spins_before_yield = 256;
    if (lane.ring.has_room(records)) {
        return;
    }
    lane.counters->waits.add();
    lane.publish();  // the core cannot release records that are not published
    for (unsigned spins = 0; !lane.ring.has_room(records); ++spins) {
        _mm_pause();
        if (spins >= spins_before_yield) {
            ::sched_yield();
        }
    }
}

}  // namespace pinstrike::actors
