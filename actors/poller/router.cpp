// path: mixed, cold: construction, wait_for_room()
#include "actors/poller/router.h"

#include "config/check.h"
#include "config/mistake.h"
#include "feed/event/limits.h"

#include <immintrin.h>
#include <sched.h>

#include <utility>

namespace pinstrike::actors {

Router::Router(const RouterConfig& config, std::vector<Producer<feed::Event>> rings,
               const std::vector<Parking*>& wakers)
    : config_(config) {
    PINSTRIKE_CHECK(!rings.empty() && rings.size() == wakers.size());
    constexpr std::size_t spare_share = 16;
    for (std::size_t i = 0; i < rings.size(); ++i) {
        const std::size_t capacity = rings[i].capacity();
        PINSTRIKE_CHECK(capacity >= 2 * feed::message_records_max);
        CoreOutput output{std::move(rings[i])};
        output.waker = wakers[i];
        output.spare = config.when_full == WhenFull::refuse ? capacity / spare_share : 0;
        output.closed = output.spare;
        output.counters = std::make_unique<RingCounters>();
        output.pending.resize(config.lines_max);
        output.pending_lines.resize(config.lines_max);
        outputs_.push_back(std::move(output));
    }
    if (outputs_.size() > 1) {
        multi_core_buffer_.resize(batch_records_max, feed::Event{});
        places_.resize(outputs_.size());
    }
}

// --- hot ---

namespace {

/// Two moves, because each record was written by two stores. The compiler would use four.
void copy_record(feed::Event* to, const feed::Event* from) noexcept {
    static_assert(sizeof(feed::Event) == 2 * sizeof(__m256i));
    const auto* const halves = reinterpret_cast<const __m256i*>(from);  // tidy: own records
    const __m256i first = _mm256_loadu_si256(halves);
    const __m256i second = _mm256_loadu_si256(halves + 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), first);       // tidy: own records
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, second);  // tidy: own records
}

}  // namespace

/// Copies each message in the buffer to the ring of its core. With more than two records for each
/// ring, one check of each ring costs less than one of each message.
void Router::push_all(std::size_t records) noexcept {
    const feed::Event* event = multi_core_buffer_.data();
    const feed::Event* const end = event + records;
    if (records > 2 * outputs_.size() && all_have_room(records)) [[likely]] {
        return copy_all(event, end);
    }
    // As push(), written here again: a call for each message would take a tenth more instructions.
    const std::size_t cores = outputs_.size();
    while (event != end) {
        const std::size_t count = event->header.records;
        CoreOutput& output = outputs_[core_index(*event, config_.sharding, cores)];
        ++output.routed_count;
        feed::Event* const slots = output.ring.claim(count, output.closed);
        if (slots == nullptr) [[unlikely]] {
            push_when_full(output, {event, count});
        } else {
            ++output.pushed_count;
            for (std::size_t i = 0; i < count; ++i) {
                copy_record(slots + i, event + i);
            }
        }
        event += count;
    }
}

/// Whether each ring has room for all `records`, so that no message needs a check of its own.
bool Router::all_have_room(std::size_t records) noexcept {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        places_[i] = {outputs_[i].ring.next_slots(records, outputs_[i].closed), 0};
        if (places_[i].slot == nullptr) [[unlikely]] {
            return false;
        }
    }
    return true;
}

void Router::copy_all(const feed::Event* event, const feed::Event* end) noexcept {
    CopyPlace* const places = places_.data();
    const std::size_t cores = outputs_.size();
    const Sharding sharding = config_.sharding;
    while (event != end) {
        CopyPlace& place = places[core_index(*event, sharding, cores)];
        const feed::Event* const next = event + event->header.records;
        feed::Event* slot = place.slot;
        do {
            copy_record(slot, event++);
            prefetch_ahead(slot++);
        } while (event != next);
        place.slot = slot;
        ++place.messages;
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        outputs_[i].commit_to(places[i].slot, places[i].messages);
    }
}

void Router::push_when_full(CoreOutput& output, std::span<const feed::Event> message) noexcept {
    feed::Event* slots = nullptr;
    if (config_.when_full == WhenFull::wait) {
        wait_for_room(output, message.size());
        slots = output.ring.claim(message.size());
    } else if (output.pending_lines_count != 0) {
        flush_pending(output, output.room_to_flush());
        slots = output.ring.claim(message.size(), output.closed);
    }
    if (slots != nullptr) {
        return output.write(slots, message);
    }
    ++output.refused_count;
    if (!planted(Mistake::ring)) {
        pending_of(output).refuse(message.front().header);
    }
}

void Router::deliver(CoreOutput& output, const feed::Event& event) noexcept {
    if (config_.when_full == WhenFull::wait) {
        wait_for_room(output, 1);
    }
    if (output.pending[line_].events_count() == 0 || flush_line(output, line_)) {
        if (feed::Event* slot = output.ring.claim(1)) {
            *slot = event;
            output.counters->bump(RingCount::broadcast);
            return;
        }
    }
    PendingEvents& events = pending_of(output);
    events.add(event);
    if (event.header.kind == feed::EventKind::gap &&
        event.body.gap.cause == feed::GapCause::repaired) {
        output.counters->bump(RingCount::untold_repairs);
    }
}

PendingEvents& Router::pending_of(CoreOutput& output) noexcept {
    PendingEvents& events = output.pending[line_];
    if (!events.listed) {
        events.listed = true;
        output.pending_lines[output.pending_lines_count++] = static_cast<std::uint32_t>(line_);
        output.closed = output.ring.capacity() + 1;
    }
    return events;
}

/// Writes the pending events of a line. If the ring lacks space for all of them, it writes none and
/// returns false.
bool Router::flush_line(CoreOutput& output, std::size_t line) noexcept {
    PendingEvents& events = output.pending[line];
    const std::size_t count = events.events_count();
    if (count != 0) {
        feed::Event* slots = output.ring.claim(count);
        if (slots == nullptr) {
            return false;
        }
        events.write_to(slots);
        output.counters->bump(RingCount::broadcast, count);
    }
    return true;
}

/// Writes the pending events line by line while `room` slots are free before each line.
void Router::flush_pending(CoreOutput& output, std::size_t room) noexcept {
    while (output.pending_lines_count != 0 && output.ring.has_room(room)) {
        const std::uint32_t line = output.pending_lines[output.pending_lines_count - 1];
        if (!flush_line(output, line)) {
            return;
        }
        output.pending[line].listed = false;
        --output.pending_lines_count;
    }
    if (output.pending_lines_count == 0) {
        output.closed = output.spare;
    }
}

bool Router::flush_pending() noexcept {
    bool remains = false;
    for (CoreOutput& output : outputs_) {
        flush_pending(output, output.spare / 2 + PendingEvents::events_max);
        output.count();
        output.publish();
        remains = remains || output.pending_lines_count != 0;
    }
    return !remains;
}

// --- cold ---

/// Only in replays, where the input can wait. Yields, because the core's thread may need this CPU.
void Router::wait_for_room(CoreOutput& output, std::size_t records) noexcept {
    constexpr unsigned spins_before_yield = 256;
    if (output.ring.has_room(records)) {
        return;
    }
    output.counters->bump(RingCount::waits);
    output.publish();  // the core cannot release records that are not published
    for (unsigned spins = 0; !output.ring.has_room(records); ++spins) {
        _mm_pause();
        if (spins >= spins_before_yield) {
            ::sched_yield();
        }
    }
}

}  // namespace pinstrike::actors
