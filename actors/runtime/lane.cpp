// path: cold
#include "actors/runtime/lane.h"

#include "actors/runtime/executor.h"

#include <immintrin.h>

namespace pinstrike::actors::runtime {

LaneBase::LaneBase(MailboxActor& to, MailboxActor* from, const Bounds& bounds,
                   std::size_t message_bytes)
    : from_(from), to_(to), from_thread_(from == nullptr) {
    constexpr std::size_t chunk_bytes = 16 * 1024;
    const bool by_memory = bounds.memory_bytes != 0;
    const std::uint64_t most =
        by_memory ? std::max<std::size_t>(bounds.memory_bytes / message_bytes, 1) : bounds.most;
    PINSTRIKE_CHECK(most != 0);
    // A bound by memory is meant to be large, so to wait until half of it is free would be a
    // mistake.
    PINSTRIKE_CHECK(!by_memory || bounds.when_full == WhenFull::refuse);
    const bool waits = bounds.when_full == WhenFull::wait;
    limit_ = most + (waits && from != nullptr ? bounds.overflow : 0);
    wait_at_ = waits ? most : never;
    resume_at_ = waits ? most / 2 : never;
    release_every_ = std::clamp<std::uint64_t>(most / 8, 1, 64);
    chunk_slots_ = std::clamp<std::size_t>(chunk_bytes / message_bytes, 8, 1024);
    if (!by_memory) {
        chunk_slots_ = std::clamp<std::size_t>(limit_ / 4, 8, chunk_slots_);
    }
    chunks_max_ = (limit_ + chunk_slots_ - 1) / chunk_slots_ + 1;
    preallocated_ = !by_memory;
}

void LaneBase::wait_for_room() noexcept {
    constexpr std::int64_t timeout_ns = 3'600'000'000'000;
    PINSTRIKE_CHECK(!inside_a_step());  // an actor must not block; it uses sender(MailboxActor&)
    for (unsigned spins = 0; spins < spins_before_park; ++spins) {
        if (closed() || look() < limit_) {
            return;
        }
        _mm_pause();
    }
    while (!has_much_room()) {
        parking_.park([this] { return has_much_room(); }, timeout_ns);
    }
}

void LaneBase::ring_sender() noexcept {
    if (from_thread_) {
        parking_.wake();
    } else if (wanted_.load(std::memory_order_relaxed) != 0) {  // L6
        RING_HOOK("lane:before_clear_wanted");
        wanted_.store(0, std::memory_order_relaxed);
        RING_HOOK("lane:before_ring_sender");
        from_->ring();
    }
}

/// Stamps the first message of the next publish, unless the receiver has not yet taken the last
/// stamped message.
void LaneBase::stamp() noexcept {
    const auto clock_ns = to_.executor_ == nullptr ? nullptr : to_.executor_->options_.clock_ns;
    until_stamp_ = ActorMeasurements::sample_every;
    if (clock_ns == nullptr) {
        return;
    }
    if (!unpublished()) {
        until_stamp_ = 1;
        return;
    }
    look();
    if (stamped_last_ != never && released_ <= stamped_last_) {
        return;
    }
    stamped_last_ = published_;
    stamp_.time_ns.store(clock_ns(), std::memory_order_relaxed);
    stamp_.count.store(claimed_ - published_, std::memory_order_relaxed);
    stamp_.message.store(published_, std::memory_order_relaxed);
}

void LaneBase::note_waiting() noexcept {
    stamped_ = never;
    to_.figures_->waiting_ns.record(
        to_.executor_->options_.clock_ns() - stamp_.time_ns.load(std::memory_order_relaxed),
        stamp_.count.load(std::memory_order_relaxed));
}

void LaneBase::close() noexcept {
    closed_.store(true, std::memory_order_release);
    fence_seq_cst();  // the same fence as after L3
    if (waits()) {
        ring_sender();
    }
}

void LaneBase::let_go(LaneBase* lane) noexcept {
    // acq_rel: all accesses of both holders happen before the last one destroys the lane.
    if (lane->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete lane;
    }
}

}  // namespace pinstrike::actors::runtime
