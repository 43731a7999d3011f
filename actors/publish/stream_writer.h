// path: hot
//
// The writer of a core's stream: a ring of records with one writer and any number of readers in
// other processes. The writer never waits for a reader and reads nothing of it.
//
// Order: `intent` rises before records are overwritten; the release fence makes it visible before
// them. `tail` rises after they are complete, and `tail_version` with a release store after it. A
// reader loads `tail_version` (acquire) before and after `tail` and what belongs to it, copies
// records before that `tail`, and then loads `intent` behind an acquire fence. If `intent` is at
// most one ring ahead of a record, no byte of the copy was overwritten before it was copied.
#pragma once

#include "actors/publish/core_memory.h"
#include "actors/publish/pinstrike.h"
#include "actors/publish/stamp.h"
#include "config/check.h"
#include "config/hooks.h"
#include "feed/event/event.h"

#include <emmintrin.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pinstrike::actors {

class StreamWriter {
  public:
    StreamWriter() = default;

    explicit StreamWriter(const CoreMemory& memory)
        : core_(&memory.core()), records_(memory.span<feed::Event>(memory.core().stream)) {}

    /// Appends whole messages, no more records than the ring holds, and publishes the clock's
    /// stamp. Without a stream, or without records, only the stamp is published.
    void append(std::span<const feed::Event> records, const StampClock& clock) {
        if (!records_.empty() && !records.empty()) {
            copy(records);
        }
        publish(clock);
    }

  private:
    void copy(std::span<const feed::Event> records) {
        PINSTRIKE_CHECK(records.size() <= records_.size());
        const std::uint64_t end = tail_ + records.size();
        std::atomic_ref<std::uint64_t>{core_->intent}.store(end, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        RING_HOOK("stream:intent");
        const std::size_t at = tail_ & (records_.size() - 1);
        const std::size_t first = std::min(records.size(), records_.size() - at);
        write(records.first(first), &records_[at]);
        write(records.subspan(first), records_.data());
        tail_ = end;
        RING_HOOK("stream:copied");
    }

    /// Writes many records by non-temporal stores, so that the processor does not load the ring's
    /// old records into a cache before it overwrites them. The processor may reorder such stores
    /// with others: the first fence keeps them behind the store of `intent`, the second one before
    /// that of `tail`. A few records are written as usual, because a reader gets them sooner from a
    /// cache.
    static void write(std::span<const feed::Event> records, feed::Event* to) {
        constexpr std::size_t non_temporal_min = 16;
        if (records.size() < non_temporal_min) {
            std::memcpy(to, records.data(), records.size_bytes());
            return;
        }
        const auto* from = reinterpret_cast<const __m128i*>(records.data());  // tidy: own records
        auto* word = reinterpret_cast<__m128i*>(to);                          // tidy: own records
        _mm_sfence();
        for (std::size_t i = 0; i < records.size_bytes() / sizeof(__m128i); ++i) {
            _mm_stream_si128(word + i, _mm_load_si128(from + i));
        }
        _mm_sfence();
    }

    /// The position and the stamp belong together, so readers get them under one version: it is odd
    /// while they are written. The release fence makes the odd version visible before they change.
    /// Only this thread writes, so relaxed stores of the rest are enough.
    void publish(const StampClock& clock) {
        const std::atomic_ref<std::uint64_t> version{core_->tail_version};
        const std::uint64_t before = core_->tail_version;
        version.store(before + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        core_->base_ms = clock.base_ms();
        core_->tail_stamp = clock.stamp();
        core_->tail_ms = clock.ms();
        core_->tail_changes = clock.changes();
        RING_HOOK("stream:publishing");
        std::atomic_ref<std::uint64_t>{core_->tail}.store(tail_, std::memory_order_relaxed);
        version.store(before + 2, std::memory_order_release);
    }

    pinstrike_core* core_ = nullptr;
    std::span<feed::Event> records_;
    std::uint64_t tail_ = 0;  ///< records written so far
};

}  // namespace pinstrike::actors
