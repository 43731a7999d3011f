// path: cold
#include "actors/publish/reader/core_cursor.h"

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/shared_words.h"
#include "config/hooks.h"

#include <algorithm>

namespace pinstrike::reader {
namespace {

/// Records of one copy. More than the 255 of the longest event, so each copy has a whole event.
constexpr std::size_t copy_records = 512;

/// Later times are not those of a receipt (the year 2116), and could overflow the clock of stamps.
constexpr std::int64_t time_ns_max = std::int64_t{1} << 62;
constexpr std::uint64_t time_ms_max = time_ns_max / 2'000'000;

[[noreturn]] void fail_damaged() {
    throw Error("the stream of the published memory is damaged");
}

}  // namespace

void CoreCursor::start(const Tail& tail) {
    if (tail.base_ms > time_ms_max || tail.ms > time_ms_max) {
        fail_damaged();
    }
    tail_ = tail;
    position_ = tail.position;
    clock_.start(tail.base_ms, tail.stamp, tail.ms);
    records_.clear();
    at_ = 0;
}

CoreCursor::State CoreCursor::next() {
    if (at_ >= records_.size()) {
        const State state = load();
        if (state != State::event) {
            return state;
        }
    }
    const std::int64_t ts_ns = records_[at_].header.ts_receive_ns;
    if (ts_ns > time_ns_max) {
        fail_damaged();
    }
    clock_.next(ts_ns);
    return State::event;
}

/// At a published position the stamp that follows from the events must be the published one.
CoreCursor::State CoreCursor::load() {
    RING_HOOK("reader:load");
    if (position_ == tail_.position) {
        if (clock_.stamp() != tail_.stamp) {
            return State::diverged;
        }
        Patience patience;
        Tail tail;
        if (!read_tail(*core_, patience, tail)) {
            return State::nothing;
        }
        tail_ = tail;
        if (tail.position == position_) {
            return tail.stamp == clock_.stamp() ? State::nothing : State::diverged;
        }
    }
    const std::size_t capacity = core_->stream.size();
    const std::uint64_t available = tail_.position - position_;
    if (static_cast<std::int64_t>(available) < 0) {
        fail_damaged();
    }
    if (available > capacity) {
        return State::overrun;
    }
    const std::size_t count = std::min<std::size_t>(available, copy_records);
    records_.clear();
    at_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
        records_.push_back(copy_shared(core_->stream[(position_ + i) & (capacity - 1)]));
    }
    acquire_fence();
    if (load_relaxed(core_->shared->intent) - position_ > capacity) {
        records_.clear();
        return State::overrun;
    }
    keep_whole_events(available);
    return State::event;
}

void CoreCursor::keep_whole_events(std::size_t available) {
    std::size_t whole = 0;
    while (whole < records_.size()) {
        const std::size_t records = records_[whole].header.records;
        if (records == 0 || records > available - whole) {
            records_.clear();
            fail_damaged();
        }
        if (records > records_.size() - whole) {
            break;
        }
        whole += records;
    }
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(whole), records_.end());
    position_ += whole;
}

}  // namespace pinstrike::reader
