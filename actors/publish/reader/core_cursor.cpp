// path: cold
#include "actors/publish/reader/core_cursor.h"

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/shared_words.h"
#include "config/hooks.h"

#include <algorithm>

namespace pinstrike::reader {
namespace {

[[noreturn]] void fail_damaged() {
    throw Error("the stream of the published memory is damaged");
}

}  // namespace

void CoreCursor::start(const Tail& tail) {
    if (tail.base_ms > actors::stamp_ms_max || tail.ms > actors::stamp_ms_max) {
        fail_damaged();
    }
    tail_ = tail;
    clock_.start(tail.base_ms, tail.stamp, tail.ms);
    copied_from_ = tail.position;
    at_ = end_ = 0;
    changed_ = false;
}

CoreCursor::State CoreCursor::load() {
    if (at_ < end_) {
        return State::event;
    }
    RING_HOOK("reader:load");
    if (position() == tail_.position) {
        const State state = look_for_more();
        if (state != State::event) {
            return state;
        }
    }
    const std::uint64_t available = tail_.position - position();
    if (static_cast<std::int64_t>(available) < 0) {
        fail_damaged();
    }
    if (available > core_->stream.size() || !copy(std::min<std::size_t>(available, copied_max))) {
        return State::overrun;
    }
    return State::event;
}

/// At a published position the stamp that follows from the events must be the published one, and
/// the state must not have changed otherwise. The events before that position come first.
CoreCursor::State CoreCursor::look_for_more() {
    if (changed_ || clock_.stamp() != tail_.stamp) {
        return State::diverged;
    }
    Patience patience;
    Tail tail;
    if (!read_tail(*core_, patience, tail)) {
        return State::nothing;
    }
    changed_ = tail.changes != tail_.changes;
    tail_ = tail;
    if (tail.position == position()) {
        return !changed_ && tail.stamp == clock_.stamp() ? State::nothing : State::diverged;
    }
    return State::event;
}

/// Copies the records from position() on. False: some of them were overwritten.
bool CoreCursor::copy(std::size_t count) {
    copied_from_ = position();
    at_ = end_ = 0;
    const std::size_t capacity = core_->stream.size();
    const std::size_t slot = copied_from_ & (capacity - 1);
    const std::size_t first = std::min(count, capacity - slot);
    copy_shared(core_->stream.subspan(slot, first), records_.data());
    copy_shared(core_->stream.first(count - first), records_.data() + first);
    acquire_fence();
    if (load_relaxed(core_->shared->intent) - copied_from_ > capacity) {
        return false;
    }
    end_ = count;
    prefetch_next();
    return true;
}

/// Loads the beginning of the next copy while the caller works on this one.
void CoreCursor::prefetch_next() const {
    constexpr std::size_t ahead_records = 48;
    const std::uint64_t next = copied_from_ + end_;
    const std::size_t capacity = core_->stream.size();
    const std::size_t slot = next & (capacity - 1);
    const std::size_t known = static_cast<std::size_t>(tail_.position - next);
    for (std::size_t i = 0; i < std::min({ahead_records, known, capacity - slot}); ++i) {
        __builtin_prefetch(&core_->stream[slot + i]);
    }
}

/// The copy ends within this event, whose records the next copy has together, or it is damaged.
void CoreCursor::end_early(const feed::Event& event) {
    const std::size_t records = event.header.records;
    if (records == 0 || records > tail_.position - position() ||
        event.header.ts_receive_ns > actors::ts_receive_ns_max) {
        at_ = end_ = 0;
        fail_damaged();
    }
    end_ = at_;
}

}  // namespace pinstrike::reader
