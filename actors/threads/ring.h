// path: hot
//
// A ring joins two threads, in one direction: one thread holds its Producer, the other its
// Consumer. Records are copied by value; both sides work in batches; nothing ever waits: a full
// ring answers nullptr, an empty one an empty span, and who calls decides what that means.
//
// Who writes what
//
//     tail   written by the producer, read by the consumer   count of records published, ever
//     head   written by the consumer, read by the producer   count of records released, ever
//     origin written by the producer, read by the consumer   the record that lies in slot 0
//     slots  record i is slot i - origin mod capacity: the producer's from the moment
//            head > i - capacity, the consumer's from the moment tail > i
//
// Both indices only grow (2^64 records outlive the hardware), so full and empty differ without a
// spare slot: empty is tail == head, full is tail - head == capacity. Each index has a pair of
// cache lines of its own (the adjacent-line prefetcher fetches pairs), and each side keeps its own
// index and the last value it saw of the other's in its handle: while the remembered value
// answers the question, no line moves between the cores.
//
// A ring is deep for when its consumer stands still, and far larger than a cache. Were it walked
// from end to end at all times, each slot would come from memory. So the producer goes back to
// slot 0 where it has gone on for some while and finds the ring empty: while the consumer keeps
// up, both work in the same few slots.
//
// Why each order is enough
//
//   P1  release store of tail, pairs with C1, the acquire load of tail: what the producer wrote
//       into the slots happens before the consumer sees the index move over them.
//   C2  release store of head, pairs with P2, the acquire load of head: what the consumer read
//       from the slots, and from what they pointed to, is read before the producer sees them free
//       and writes them again. The loads must not sink below the store (release), the writes not
//       rise above the load (acquire).
//   P3  relaxed store of origin, only while the ring is empty as P2 has seen it: the records before
//       it were released, those behind it are published later, by P1. So C3, the relaxed load
//       behind C1, finds the origin of whatever C1 showed it; a later one would be no greater than
//       head, with nothing behind it yet.
//   A side's load of its own index needs no order: it is a plain member. Nothing needs seq_cst:
//   no decision depends on the order of one thread's stores to two places read in opposite order
//   by the other. The one that does, parking, brings its own fence (parking.h).
//
// A stale view is safe: an old head only makes the ring look fuller to the producer, an old tail
// emptier to the consumer, and each looks again before it says so.
//
// The slots are mapped twice back to back (mirrored_memory.h), so any claim and any peek is one
// contiguous span. The two addresses of a slot are one piece of memory to the processor; to the
// compiler the atomics between a write and its read are barrier enough, also where one thread
// holds both halves (simulation).
//
// Claims before a publish: claim() hands out slots that only the producer sees; publish() shows
// all of them at once. So a message of several records, or all messages of a burst, appear
// together or not at all.
#pragma once

#include "actors/threads/mirrored_memory.h"
#include "config/check.h"
#include "config/counter.h"
#include "config/hooks.h"

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

/// What both halves share; lies in the control area of the ring's memory.
struct RingControl {
    static constexpr std::size_t apart_bytes = 128;

    alignas(apart_bytes) std::atomic<std::uint64_t> tail{0};
    std::atomic<std::uint64_t> origin{0};  ///< beside tail: the same side writes, the same reads
    alignas(apart_bytes) std::atomic<std::uint64_t> head{0};
    alignas(apart_bytes) Counter high_water;  ///< most records found waiting; the consumer writes
};

static_assert(sizeof(RingControl) + RingControl::apart_bytes <= MirroredMemory::control_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The half that writes. Moves, never copies: one thread has it.
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

    /// The next `count` slots, side by side and the caller's to fill, or nullptr if they would
    /// leave fewer than `spare` slots free. Claims add up until publish().
    [[nodiscard]] T* claim(std::size_t count, std::size_t spare = 0) noexcept {
        owner_.check();
        if (!has_room(count + spare)) {
            return nullptr;
        }
        T* slots = next_slot();
        claimed_ += count;
        fetch_ahead(slots, count);
        return slots;
    }

    /// The slots that the next claims will give, if claims of `count` in all would leave `spare`
    /// free; else nullptr. Who fills some of them takes as many afterwards, and asks ahead for
    /// others as it goes (feed/event/event.h, ask_ahead): one by one they come while it works.
    [[nodiscard]] T* offer(std::size_t count, std::size_t spare = 0) noexcept {
        owner_.check();
        return has_room(count + spare) ? next_slot() : nullptr;
    }

    /// The first `count` slots of the last offer are claimed.
    void take(std::size_t count) noexcept {
        owner_.check();
        PINSTRIKE_CHECK(claimed_ + count - released_ <= capacity_);
        claimed_ += count;
    }

    /// Are so many slots free? Looks at the consumer's index only if what is known will not do.
    [[nodiscard]] bool has_room(std::size_t count) noexcept {
        return claimed_ + count <= sure_ || has_room_now(count);
    }

    /// Shows the consumer everything claimed so far; the slots must be filled.
    void publish() noexcept {
        owner_.check();
        if (claimed_ != published_) {
            RING_HOOK("publish:before_store_tail");
            published_ = claimed_;
            control_->tail.store(claimed_, std::memory_order_release);  // P1, pairs with C1
            RING_HOOK("publish:after_store_tail");
            if (published_ >= next_return_) [[unlikely]] {
                sure_ = published_;  // so the next claim looks whether the ring is empty
            }
        }
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

    /// True while something is claimed that the consumer has not been shown.
    [[nodiscard]] bool unpublished() const noexcept { return claimed_ != published_; }

    /// Has the consumer released everything that was published? Exact for the producer.
    [[nodiscard]] bool drained() const noexcept {
        return control_->head.load(std::memory_order_acquire) == published_;  // P2
    }

    /// Records claimed, ever.
    [[nodiscard]] std::uint64_t claimed() const noexcept { return claimed_; }

    /// Records that the consumer has given back, ever: it reads nothing any more that they led to.
    /// Looks at the consumer's index.
    [[nodiscard]] std::uint64_t released() noexcept {
        owner_.check();
        released_ = control_->head.load(std::memory_order_acquire);  // P2, pairs with C2
        return released_;
    }

    /// The next thread that uses this half has it, once it has joined this one.
    void hand_on() noexcept { owner_.forget(); }

    /// Records published, ever. Any thread; it is a figure and no more.
    [[nodiscard]] std::uint64_t published() const noexcept {
        return control_->tail.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// Most records found waiting, ever or since it was cleared. Any thread.
    [[nodiscard]] const Counter& high_water() const noexcept { return control_->high_water; }

    /// Any thread, though the consumer writes it: a maximum that it has just found may be lost.
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

    /// A consumer that is behind is looked at again after an eighth of the way.
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

    /// Asks for slots that are claimed some time later: they were last in the consumer's cache, and
    /// stores to lines on their way fill the store buffer. What it asks for beyond the mapping, or
    /// before the consumer has read it, is of no use and of no harm.
    static void fetch_ahead(const T* slots, std::size_t count) noexcept {
        constexpr std::size_t slots_ahead = 64;  // 32 to 128 measure alike
        for (std::size_t i = 0; i < count; ++i) {
            __builtin_prefetch(slots + slots_ahead + i, 1);
        }
    }

    MirroredMemory memory_;
    T* slots_;
    RingControl* control_;
    std::size_t capacity_;
    std::size_t warm_slots_;       ///< after so many it goes back to slot 0, if it can
    std::uint64_t claimed_ = 0;    ///< claims so far: the tail-to-be
    std::uint64_t published_ = 0;  ///< the tail as stored
    std::uint64_t released_ = 0;   ///< the head as last seen
    std::uint64_t origin_ = 0;     ///< as stored
    std::uint64_t sure_;           ///< up to here there is room without a look
    std::uint64_t next_return_;    ///< once so much is published, an empty ring begins anew
    [[no_unique_address]] ThreadOwner owner_;
};

/// The half that reads. Moves, never copies: one thread has it.
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

    /// The oldest records, at most `max`, side by side; they stay until release(). Looks at the
    /// producer's index only if fewer than `max` are known.
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

    /// Gives the oldest `count` records, peeked before, back to the producer.
    void release(std::size_t count) noexcept {
        owner_.check();
        if (count != 0) {
            RING_HOOK("release:before_store_head");
            head_ += count;
            control_->head.store(head_, std::memory_order_release);  // C2, pairs with P2
            RING_HOOK("release:after_store_head");
        }
    }

    /// Is there nothing to peek? Always looks.
    [[nodiscard]] bool empty() const noexcept {
        return control_->tail.load(std::memory_order_acquire) == head_;  // C1, pairs with P1
    }

    /// The next thread that uses this half has it, once it has joined this one.
    void hand_on() noexcept { owner_.forget(); }

  private:
    void note_waiting(std::uint64_t records) noexcept { control_->high_water.raise_to(records); }

    MirroredMemory memory_;
    const T* slots_;
    RingControl* control_;
    std::size_t capacity_;
    std::uint64_t head_ = 0;       ///< the head as stored
    std::uint64_t published_ = 0;  ///< the tail as last seen
    std::uint64_t origin_ = 0;     ///< as last seen
    [[no_unique_address]] ThreadOwner owner_;
};

template <class T>
struct Ring {
    static_assert(std::is_trivially_copyable_v<T>, "records are copied as bytes");

    struct Halves {
        Producer<T> producer;
        Consumer<T> consumer;
    };

    /// Stays in the cache that cores share, but not in one's own: with 256 KiB each slot had to be
    /// fetched out of the consumer's, which took longer than from memory (README.md).
    static constexpr std::size_t warm_slots_default = (std::size_t{4} << 20) / sizeof(T);

    /// A ring of `slots` records. `slots` is a power of two, and since the memory is mapped twice
    /// `slots * sizeof(T)` is a multiple of the page: both are checked. After `warm_slots` records
    /// the producer begins anew at the first slot, as soon as it finds the ring empty. Cold; see
    /// slots_for().
    [[nodiscard]] static Halves make(std::size_t slots,
                                     std::size_t warm_slots = warm_slots_default) {
        PINSTRIKE_CHECK(std::has_single_bit(slots));
        MirroredMemory memory{slots * sizeof(T)};
        auto* control = ::new (memory.control()) RingControl;
        MirroredMemory other = memory.share();
        constexpr std::size_t never = std::size_t{1} << 63;
        return {
            Producer<T>{std::move(memory), control, slots, warm_slots < slots ? warm_slots : never},
            Consumer<T>{std::move(other), control, slots}};
    }

    /// The least capacity that make() takes and that holds `wanted` records.
    [[nodiscard]] static std::size_t slots_for(std::size_t wanted) {
        std::size_t slots = std::bit_ceil(std::max<std::size_t>(wanted, 1));
        while (slots * sizeof(T) % MirroredMemory::page_bytes() != 0) {
            slots *= 2;
        }
        return slots;
    }
};

}  // namespace pinstrike::actors
