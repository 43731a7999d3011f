// path: hot
//
// A ring joins two threads, in one direction. One thread has its Producer, the other its Consumer.
// Records are copied by value, and both sides work in batches. No call waits: claim() on a full
// ring returns nullptr, and peek() on an empty ring returns an empty span. The caller decides what
// to do then.
//
// What each side writes
//
//     tail   written by the producer, read by the consumer: number of records ever published
//     head   written by the consumer, read by the producer: number of records ever released
//     origin written by the producer, read by the consumer: number of the record in slot 0
//     slots  record i is in slot (i - origin) mod capacity. The producer owns it from the moment
//            head > i - capacity, the consumer from the moment tail > i.
//
// Both indices only grow (2^64 records take longer than the life of the hardware), so full and
// empty differ without a spare slot: the ring is empty if tail == head and full if tail - head ==
// capacity. Each index has a pair of cache lines of its own, because the adjacent-line prefetcher
// fetches pairs. Each side keeps its own index and the last value it saw of the other side's index
// in its handle. While these values suffice, no cache line moves between the cores.
//
// A ring is much larger than a cache, so that it can hold the messages for a consumer that stands
// still. If the producer always cycled through the whole ring, each slot would be a cache miss. So
// the producer returns to slot 0 when it has used `warm_slots` slots and finds the ring empty.
// While the consumer keeps up, both sides work in the same few slots.
//
// Why each memory order is enough
//
//   P1  release store of tail, pairs with C1, the acquire load of tail: the producer's writes to
//       the slots happen before the consumer sees tail move past them.
//   C2  release store of head, pairs with P2, the acquire load of head: the consumer's reads of
//       the slots, and of memory that they point to, happen before the producer sees the slots
//       as free and writes them again. The loads must not sink below the store (release), and
//       the writes must not rise above the load (acquire).
//   P3  relaxed store of origin, only while the ring is empty according to P2. The records
//       before origin were released, and P1 publishes those after it later. So C3, the relaxed
//       load after C1, finds the origin of all records that C1 showed. C3 may also find an origin
//       that was stored after the tail that C1 loaded. The ring was empty then, so C1 showed no
//       records that are not released yet, and there is nothing to peek.
//   A side needs no order to load its own index, which is a plain member. Nothing needs seq_cst,
//   because no decision depends on one thread's stores to two places that the other thread reads
//   in the opposite order. Parking makes such a decision and has its own fence (parking.h).
//
// A stale value is safe: with an old head the ring looks fuller to the producer, and with an old
// tail it looks emptier to the consumer. Each side loads the index again before it reports full or
// empty.
//
// The slots are mapped twice in a row (mirrored_memory.h), so any claim and any peek is one
// contiguous span. For the processor the two addresses of a slot are the same memory. For the
// compiler the atomics between a write and its read are a sufficient barrier, also if one thread
// has both halves (simulation).
//
// claim() returns slots that only the producer sees. publish() makes all claimed slots visible at
// once, so a message of several records, or all messages of a burst, become visible together.
#pragma once

#include "actors/threads/mirrored_memory.h"
#include "config/cache_line.h"
#include "config/check.h"
#include "config/counter.h"
#include "config/hooks.h"
#include "config/prefetch_ahead.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace pinstrike::actors {

/// The state that both halves share, in the control page of the ring's memory.
struct RingControl {
    alignas(apart_bytes) std::atomic<std::uint64_t> tail{0};
    std::atomic<std::uint64_t> origin{0};  ///< beside tail: same writer, same reader
    alignas(apart_bytes) std::atomic<std::uint64_t> head{0};
    alignas(apart_bytes) Counter high_water;  ///< most records found waiting; the consumer writes
};

static_assert(sizeof(RingControl) <= MirroredMemory::control_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The half that writes. It can be moved but not copied, because only one thread may use it.
template <class T>
class Producer {
  public:
    Producer(MirroredMemory memory, RingControl* control, std::size_t capacity,
             std::size_t warm_slots)
        : memory_(std::move(memory)),
          slots_(static_cast<T*>(memory_.data())),
          control_(control),
          capacity_(capacity),
          warm_slots_(warm_slots),
          sure_(capacity),
          next_return_(warm_slots) {}

    Producer(Producer&&) noexcept = default;
    Producer& operator=(Producer&&) noexcept = default;

    /// Returns the next `count` slots, which are contiguous, for the caller to fill; nullptr if
    /// fewer than `spare` slots would stay free. Claims accumulate until publish().
    [[nodiscard]] T* claim(std::size_t count, std::size_t spare = 0) noexcept {
        owner_.check();
        if (!has_room(count + spare)) {
            return nullptr;
        }
        T* slots = next_slot();
        claimed_ += count;
        for (std::size_t i = 0; i < count; ++i) {
            prefetch_ahead(slots + i);
        }
        return slots;
    }

    /// Returns the next slots without claiming them; nullptr if claims of `count` in all would
    /// leave fewer than `spare` slots free. The caller fills some of the slots and then claims them
    /// with commit(). While it fills them, it prefetches later slots one by one
    /// (config/prefetch_ahead.h).
    [[nodiscard]] T* next_slots(std::size_t count, std::size_t spare = 0) noexcept {
        owner_.check();
        return has_room(count + spare) ? next_slot() : nullptr;
    }

    /// Claims the first `count` slots of the last next_slots().
    void commit(std::size_t count) noexcept {
        owner_.check();
        PINSTRIKE_CHECK(claimed_ + count - released_ <= capacity_);
        claimed_ += count;
    }

    /// Claims the slots from the last next_slots() up to `end`.
    void commit_to(const T* end) noexcept { commit(static_cast<std::size_t>(end - next_slot())); }

    /// Whether `count` slots are free. Loads the consumer's index only if the known value is not
    /// enough.
    [[nodiscard]] bool has_room(std::size_t count) noexcept {
        return claimed_ + count <= sure_ || has_room_now(count);
    }

    /// Makes all claimed slots, which must be filled, visible to the consumer. False: there were
    /// none.
    bool publish() noexcept {
        owner_.check();
        if (claimed_ == published_) {
            return false;
        }
        RING_HOOK("publish:before_store_tail");
        published_ = claimed_;
        control_->tail.store(claimed_, std::memory_order_release);  // P1, pairs with C1
        RING_HOOK("publish:after_store_tail");
        if (published_ >= next_return_) [[unlikely]] {
            sure_ = published_;  // so that the next claim checks whether the ring is empty
        }
        return true;
    }

    /// Copies and publishes all of `records`, or none.
    [[nodiscard]] bool try_push(std::span<const T> records) noexcept {
        T* slots = claim(records.size());
        if (slots == nullptr) {
            return false;
        }
        std::memcpy(slots, records.data(), records.size_bytes());
        publish();
        return true;
    }

    /// Whether the consumer released everything that was published. Exact on the producer's thread.
    [[nodiscard]] bool drained() const noexcept {
        return control_->head.load(std::memory_order_acquire) == published_;  // P2
    }

    /// Whether the consumer released everything that the producer has published. Any thread may
    /// call this; it holds as long as the producer publishes nothing more. The head is loaded after
    /// the tail, and never passes it, so equal values were equal at the second load.
    [[nodiscard]] bool is_empty() const noexcept {
        const std::uint64_t tail = control_->tail.load(std::memory_order_acquire);
        return control_->head.load(std::memory_order_acquire) == tail;  // P2, pairs with C2
    }

    /// Number of records ever claimed.
    [[nodiscard]] std::uint64_t claimed() const noexcept { return claimed_; }

    /// Number of records that the consumer ever released. It reads no memory any more that they
    /// point to. Loads the consumer's index.
    [[nodiscard]] std::uint64_t released() noexcept {
        owner_.check();
        released_ = control_->head.load(std::memory_order_acquire);  // P2, pairs with C2
        return released_;
    }

    /// Lets another thread use this half from now on. That thread must have joined this one.
    void release_ownership() noexcept { owner_.forget(); }

    /// Number of records ever published, for statistics only. May be called by any thread.
    [[nodiscard]] std::uint64_t published() const noexcept {
        return control_->tail.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// Most records found waiting since the start or the last clear. May be called by any thread.
    [[nodiscard]] const Counter& high_water() const noexcept { return control_->high_water; }

    /// May be called by any thread. A maximum that the consumer finds at the same time may be lost.
    void clear_high_water() const noexcept { control_->high_water.set(0); }

  private:
    [[nodiscard]] T* next_slot() const noexcept {
        return slots_ + ((claimed_ - origin_) & (capacity_ - 1));
    }

    [[nodiscard]] bool has_room_now(std::size_t count) noexcept {
        RING_HOOK("claim:before_load_head");
        released_ = control_->head.load(std::memory_order_acquire);  // P2, pairs with C2
        RING_HOOK("claim:after_load_head");
        if (claimed_ >= next_return_) {
            return_if_empty();
        }
        sure_ = released_ + capacity_;
        return claimed_ + count <= sure_;
    }

    /// If the consumer is behind, the producer checks again after an eighth of `warm_slots`.
    void return_if_empty() noexcept {
        if (released_ != claimed_) {
            next_return_ = claimed_ + warm_slots_ / 8;
            return;
        }
        origin_ = claimed_;
        control_->origin.store(origin_, std::memory_order_relaxed);  // P3
        RING_HOOK("claim:after_store_origin");
        next_return_ = claimed_ + warm_slots_;
    }

    MirroredMemory memory_;
    T* slots_;
    RingControl* control_;
    std::size_t capacity_;
    std::size_t warm_slots_;       ///< slots to use before a return to slot 0
    std::uint64_t claimed_ = 0;    ///< the tail after the next publish()
    std::uint64_t published_ = 0;  ///< the tail as stored
    std::uint64_t released_ = 0;   ///< the head as last loaded
    std::uint64_t origin_ = 0;     ///< as stored
    std::uint64_t sure_;           ///< claims up to here need no load of head
    std::uint64_t next_return_;    ///< from here on, an empty ring restarts at slot 0
    [[no_unique_address]] ThreadOwner owner_;
};

/// The half that reads. It can be moved but not copied, because only one thread may use it.
template <class T>
class Consumer {
  public:
    Consumer(MirroredMemory memory, RingControl* control, std::size_t capacity)
        : memory_(std::move(memory)),
          slots_(static_cast<const T*>(memory_.data())),
          control_(control),
          capacity_(capacity) {}

    Consumer(Consumer&&) noexcept = default;
    Consumer& operator=(Consumer&&) noexcept = default;

    /// Returns the oldest records, at most `max`, as one span that is valid until release(). Loads
    /// the producer's index only if fewer than `max` records are known.
    [[nodiscard]] std::span<const T> peek(std::size_t max) noexcept {
        owner_.check();
        if (published_ - head_ < max) {
            RING_HOOK("peek:before_load_tail");
            published_ = control_->tail.load(std::memory_order_acquire);  // C1, pairs with P1
            RING_HOOK("peek:after_load_tail");
            origin_ = control_->origin.load(std::memory_order_relaxed);  // C3, see P3
            note_waiting(published_ - head_);
        }
        const auto known = static_cast<std::size_t>(published_ - head_);
        return {slots_ + ((head_ - origin_) & (capacity_ - 1)), std::min(max, known)};
    }

    /// Returns the slots of the oldest `count` records, which were peeked, to the producer.
    void release(std::size_t count) noexcept {
        owner_.check();
        if (count != 0) {
            RING_HOOK("release:before_store_head");
            head_ += count;
            control_->head.store(head_, std::memory_order_release);  // C2, pairs with P2
            RING_HOOK("release:after_store_head");
        }
    }

    /// Whether there is nothing to peek. Always loads the producer's index.
    [[nodiscard]] bool empty() const noexcept {
        return control_->tail.load(std::memory_order_acquire) == head_;  // C1, pairs with P1
    }

    /// Lets another thread use this half from now on. That thread must have joined this one.
    void release_ownership() noexcept { owner_.forget(); }

  private:
    void note_waiting(std::uint64_t records) noexcept { control_->high_water.raise_to(records); }

    MirroredMemory memory_;
    const T* slots_;
    RingControl* control_;
    std::size_t capacity_;
    std::uint64_t head_ = 0;       ///< the head as stored
    std::uint64_t published_ = 0;  ///< the tail as last loaded
    std::uint64_t origin_ = 0;     ///< as last loaded
    [[no_unique_address]] ThreadOwner owner_;
};

template <class T>
struct Ring {
    static_assert(std::is_trivially_copyable_v<T>, "records are copied as bytes");

    struct Halves {
        Producer<T> producer;
        Consumer<T> consumer;
    };

    /// Number of slots in 4 MiB, which stay in the shared cache but not in one core's own cache.
    /// With 256 KiB each slot had to be fetched from the consumer's own cache, which took longer
    /// than a fetch from memory (README.md).
    static constexpr std::size_t warm_slots_default = (std::size_t{4} << 20) / sizeof(T);

    /// Makes a ring of `slots` records; see slots_for(). `slots` must be a power of two, and `slots
    /// * sizeof(T)` a multiple of the page size because the memory is mapped twice. Both are
    /// checked. After `warm_slots` records the producer returns to slot 0 as soon as it finds the
    /// ring empty. Cold.
    [[nodiscard]] static Halves make(std::size_t slots,
                                     std::size_t warm_slots = warm_slots_default) {
        PINSTRIKE_CHECK(std::has_single_bit(slots));
        MirroredMemory memory{slots * sizeof(T)};
        auto* control = ::new (memory.control()) RingControl;
        MirroredMemory other = memory;
        constexpr std::size_t never = std::size_t{1} << 63;
        return {
            Producer<T>{std::move(memory), control, slots, warm_slots < slots ? warm_slots : never},
            Consumer<T>{std::move(other), control, slots}};
    }

    /// The smallest capacity for make() that holds `wanted` records.
    [[nodiscard]] static std::size_t slots_for(std::size_t wanted) {
        std::size_t slots = std::bit_ceil(std::max<std::size_t>(wanted, 1));
        while (slots * sizeof(T) % MirroredMemory::page_bytes() != 0) {
            slots *= 2;
        }
        return slots;
    }
};

}  // namespace pinstrike::actors
