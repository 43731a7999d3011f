// path: mixed, cold: make_chunk(), link_new(), destruction
//
// A lane is a queue of messages from one sender to one mailbox. A mailbox is a list of lanes. Each
// lane has one writer and one reader, so no message costs a locked instruction (a queue that many
// senders share by compare-and-swap carries 19.5 M messages/s here, one lane 80 and more).
//
// What each side writes
//
//     tail_    sender      number of messages ever published
//     head_    receiver    number of messages ever taken and destroyed
//     wanted_  both        the sending actor waits for room: it sets this, the receiver clears it
//     closed_  receiver    the receiver takes no more messages
//     left_    sender      the sender sends no more messages
//     stamp_   sender      when one of the messages was published, for figures.h
//
// Why each memory order is enough
//
//   L1  release store of tail_, pairs with L2, the acquire load: messages are complete, and
//       chunks linked, before the receiver sees them in the count.
//   L3  release store of head_, pairs with L4, the acquire load: the receiver has read and
//       destroyed the message in a slot before the sender writes the slot again.
//   L5  after L1 and a full fence, the sender rings the receiver's bell (bell.h). The receiver
//       sleeps only if it sees no new tail_ after its own fence.
//   L6  after L3 and a full fence, the receiver checks whether the sender waits: for an actor it
//       reads wanted_ and then rings the actor's bell, for a thread it reads parking_. The
//       sender sets these, calls a fence, and loads head_ again before it waits. At least one
//       side sees the other's write, so no sender waits while there is room. wanted_ itself
//       needs no order: the receiver clears it before it rings, so if it clears a wish newer
//       than the one that it read, it rings the sender right after.
//   closed_ is stored before a full fence and the same check for a waiting sender, so no sender
//   waits for a receiver that has ended. left_ is stored with release after the last tail_ and
//   loaded with acquire before tail_, so a lane that was left and looks empty is empty.
//
//   stamp_ is relaxed: it is written before a tail_ that counts its message (L1, L2), and again
//   only after the receiver released that message (L3, L4), so the receiver reads a consistent
//   stamp.
//
// The slots are in chunks, which form a circular list. The sender fills one chunk after the other.
// If the next chunk is not free yet, it links in a new one while the bound allows it. So a lane
// bounded by memory grows up to its highest fill level and then reuses its chunks. A lane bounded
// by messages has all its chunks from the start.
//
// The receiver leaves a chunk when it takes the next message, not when the chunk is empty, because
// the sender may still be in the same chunk and may not have linked its successor yet. So a chunk
// is free once the receiver has taken a message from a later chunk. There is one chunk more than
// the bound needs. While there is room by count, fewer messages than the bound wait. Together with
// the chunk that the receiver has emptied but not left, they take at most as many chunks as the
// bound needs, so the additional chunk is free.
//
// `most` is the bound. An actor that waits when full may exceed it by `overflow` with the messages
// of one handler call, because a handler cannot be suspended in the middle.
#pragma once

#include "actors/runtime/mailbox_actor.h"
#include "actors/threads/when_full.h"
#include "config/cache_line.h"
#include "config/check.h"
#include "config/counter.h"
#include "config/hooks.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>  // tidy: allowed: into slots that are there
#include <type_traits>
#include <utility>

namespace pinstrike::actors::runtime {

/// The result of a send. Only `sent` messages are handled, or count as dropped.
enum class Sent : std::uint8_t {
    sent,
    full,      ///< no room; try later
    stopped,   ///< the receiver has ended
    unwanted,  ///< the receiver's filter does not want it
};

using actors::WhenFull;

/// The bounds of each sender of a mailbox.
struct Bounds {
    std::size_t most = 1024;  ///< messages that may wait
    WhenFull when_full = WhenFull::refuse;
    std::size_t overflow = 16;     ///< beyond `most`, for one handler call of an actor that waits
    std::size_t memory_bytes = 0;  ///< not 0: bounds instead of `most`; chunks on demand

    [[nodiscard]] static Bounds of_memory(std::size_t bytes) {
        return {.most = 0, .overflow = 0, .memory_bytes = bytes};
    }
};

/// The part of a lane that does not depend on the type of its messages.
class LaneBase {
  public:
    LaneBase(MailboxActor& to, MailboxActor* from, const Bounds& bounds, std::size_t message_bytes);
    virtual ~LaneBase() = default;
    LaneBase(const LaneBase&) = delete;
    LaneBase& operator=(const LaneBase&) = delete;

    // Called by the sender.

    /// Whether one more message may be claimed. Loads the receiver's index only if the known value
    /// is not enough.
    [[nodiscard]] bool has_room() noexcept {
        return claimed_ - released_ < limit_ || (look() < limit_);
    }

    /// Loads the receiver's index. Returns the number of messages claimed and not yet taken.
    std::uint64_t look() noexcept {
        RING_HOOK("lane:before_load_head");
        released_ = head_.load(std::memory_order_acquire);  // L4, pairs with L3
        return claimed_ - released_;
    }

    /// Whether a sender that waited may continue: at least half of the bound is free.
    [[nodiscard]] bool has_much_room() noexcept { return closed() || look() <= resume_at_; }

    [[nodiscard]] bool closed() const noexcept {
        return closed_.load(std::memory_order_acquire);  // acquire only for reads of figures
    }

    [[nodiscard]] bool unpublished() const noexcept { return claimed_ != published_; }

    /// Makes claimed messages visible to the receiver. The caller then calls a fence and rings.
    void publish() noexcept {
        if (--until_stamp_ == 0) [[unlikely]] {
            stamp();
        }
        RING_HOOK("lane:before_store_tail");
        published_ = claimed_;
        tail_.store(claimed_, std::memory_order_release);  // L1, pairs with L2
        RING_HOOK("lane:published");
    }

    void publish_and_ring() noexcept {
        if (unpublished()) {
            publish();
            fence_seq_cst();  // B2 of bell.h
            ring_receiver();
        }
    }

    void ring_receiver() noexcept {
        if (!closed()) {
            to_.ring();
        }
    }

    /// For a thread that is not an actor: blocks until much room is free or the receiver has ended.
    void wait_for_room() noexcept;

    /// For an actor: from now on the receiver rings it when much room is free.
    void want_room() noexcept { wanted_.store(1, std::memory_order_relaxed); }  // L6

    // Called by the receiver.

    /// Whether there are messages. A receiver about to sleep calls it after a fence (L5).
    [[nodiscard]] bool has_mail() const noexcept {
        RING_HOOK("lane:before_has_mail");
        return tail_.load(std::memory_order_acquire) != taken_;
    }

    /// Whether the lane will never have messages again. Loads left_ first (see above).
    [[nodiscard]] bool is_over() const noexcept {
        return left_.load(std::memory_order_acquire) && !has_mail();
    }

    void close() noexcept;

    // Figures. They are exact once both sides have ended or are this thread.

    [[nodiscard]] std::uint64_t waiting() const noexcept {
        return tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] const Counter& refused() const noexcept { return refused_; }

    /// Releases a lane. The sender and the mailbox each hold it, and the last of them destroys it.
    static void let_go(LaneBase* lane) noexcept;

    LaneBase* below = nullptr;  ///< link in the mailbox's new lanes (PushStack), then in its list

  protected:
    friend class MailboxActor;
    template <class T>
    friend class Sender;

    static constexpr std::uint64_t publish_every = 64;  ///< a power of two
#ifdef PINSTRIKE_HOOKS
    static constexpr unsigned spins_before_park = 0;
#else
    static constexpr unsigned spins_before_park = 2000;
#endif

    [[nodiscard]] bool waits() const noexcept { return resume_at_ != never; }

    [[nodiscard]] bool is_too_full() noexcept {
        return claimed_ - released_ >= wait_at_ && look() >= wait_at_;
    }

    void release() noexcept {
        RING_HOOK("lane:before_store_head");
        given_back_ = taken_;
        head_.store(taken_, std::memory_order_release);  // L3, pairs with L4
        RING_HOOK("lane:released");
        // resume_at_ is below `never` only if senders wait. seen_ is at most the true tail, so when
        // the receiver releases the last messages that a waiting sender published, the condition
        // holds.
        if (waits() && seen_ - taken_ <= resume_at_) {
            fence_seq_cst();  // B2 of bell.h, for L6
            ring_sender();
        }
    }

    void ring_sender() noexcept;

    /// Loads tail_, and the stamp beside it.
    void look_for_mail() noexcept {
        RING_HOOK("lane:before_load_tail");
        seen_ = tail_.load(std::memory_order_acquire);  // L2, pairs with L1
        stamped_ = stamp_.message.load(std::memory_order_relaxed);
    }

    /// The number of the next `left` messages before the one with a stamp; `left` if none has one.
    /// A stamped message that seen_ does not count yet is found by a later load, before it is
    /// taken.
    [[nodiscard]] std::size_t before_stamp(std::size_t left) const noexcept {
        const std::uint64_t before = stamped_ - taken_;  // huge if the message was passed
        return before < left && stamped_ != never ? static_cast<std::size_t>(before) : left;
    }

    void stamp() noexcept;
    void note_waiting() noexcept;

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    // The sender's members, and those that it reads for each message, are on one cache line (Lane
    // has one more), so that the lines of a hundred lanes that one sender uses in turn stay in its
    // L1 cache.
    alignas(apart_bytes) std::uint64_t claimed_ = 0;
    std::uint64_t released_ = 0;     ///< head_ as last loaded
    std::uint64_t limit_ = 0;        ///< constant; of claims: the bound plus the overflow
    std::uint64_t wait_at_ = never;  ///< constant; a sending actor with so many waits; or never
    MailboxActor* from_;             ///< constant; null: the sender is a thread, see from_thread_
    std::uint64_t published_ = 0;
    LaneBase* next_touched_ = nullptr;  ///< in the sending actor's list
    std::uint32_t until_stamp_ = 1;     ///< publishes until the next stamp
    bool touched_ = false;
    std::atomic<bool> closed_{false};  ///< written once, by the receiver
    // Used less often.
    std::size_t chunks_count_ = 0;        ///< chunks in the circular list
    std::uint64_t stamped_last_ = never;  ///< the message with the last stamp
    Counter refused_;

    struct Stamp {
        std::atomic<std::uint64_t> message{never};  ///< number of messages before it
        std::atomic<std::uint64_t> count{0};        ///< messages published together with it
        std::atomic<std::int64_t> time_ns{0};
    };

    alignas(apart_bytes) std::atomic<std::uint64_t> tail_{0};
    std::atomic<bool> left_{false};
    Stamp stamp_;
    alignas(apart_bytes) std::atomic<std::uint64_t> head_{0};

    // Used by the receiver.
    alignas(apart_bytes) std::uint64_t taken_ = 0;
    std::uint64_t seen_ = 0;           ///< tail_ as last loaded
    std::uint64_t stamped_ = never;    ///< stamp_.message as last loaded; never: noted, or none
    std::uint64_t given_back_ = 0;     ///< head_ as stored
    std::uint64_t release_every_ = 1;  ///< constant

    // Read by both sides: constant, or rarely written.
    alignas(apart_bytes) MailboxActor& to_;
    std::uint64_t resume_at_ = never;  ///< a sender that waited continues at so few messages
    bool from_thread_;                 ///< the sender is not an actor
    std::size_t chunk_slots_ = 0;
    std::size_t chunks_max_ = 0;
    bool preallocated_ = false;
    std::atomic<std::uint32_t> wanted_{0};
    std::atomic<unsigned> holders_{2};
    Parking parking_;  ///< for a sender that is not an actor
};

/// Adds a lane to the list of those that are published when the activation ends. Only here does an
/// actor learn that it must wait.
inline void MailboxActor::touch(LaneBase& lane) noexcept {
    if (!lane.touched_) {
        lane.touched_ = true;
        lane.next_touched_ = touched_;
        touched_ = &lane;
    }
    if (lane.is_too_full()) [[unlikely]] {
        halted_ = true;
    }
}

template <class T>
class Lane final : public LaneBase {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "messages are moved into slots that are already claimed");

  public:
    Lane(MailboxActor& to, MailboxActor* from, const Bounds& bounds, bool (*filter)(const T&))
        : LaneBase(to, from, bounds, sizeof(T)), wants_(filter) {
        write_ = read_ = make_chunk();
        PINSTRIKE_CHECK(write_ != nullptr);  // at set-up, where a lack of memory is fatal
        write_->next = write_;
        while (preallocated_ && chunks_count_ < chunks_max_) {
            PINSTRIKE_CHECK(link_new());
        }
        begin_writing();
        begin_reading();
    }

    ~Lane() override;

    /// The receiver's filter, which the sender calls before it takes a slot.
    [[nodiscard]] bool wants(const T& message) const noexcept {
        return wants_ == nullptr || wants_(message);
    }

    /// Moves a message into a slot; there must be room by count. False only if a new chunk was
    /// needed and there is no memory.
    [[nodiscard]] bool put(T&& message) noexcept {
        if (write_at_ == write_end_ && !write_next_chunk()) [[unlikely]] {
            return false;
        }
        ::new (static_cast<void*>(write_at_)) T(std::move(message));
        ++write_at_;
        ++claimed_;
        return true;
    }

    /// Passes at most `budget` messages to `handle` while it returns true. Adds their number to
    /// `handled`, including a message whose handler throws.
    template <class Handle>
    void deliver(std::size_t budget, std::size_t& handled, Handle&& handle) {
        if (seen_ - taken_ < budget) {
            look_for_mail();
        }
        const auto known = static_cast<std::size_t>(seen_ - taken_);
        const GiveBack give_back{*this, handled, taken_};
        for (std::size_t left = std::min(budget, known); left != 0;) {
            const std::size_t unstamped = before_stamp(left);
            for (std::size_t i = unstamped; i != 0; --i) {
                if (read_at_ == read_end_) [[unlikely]] {
                    read_next_chunk();
                }
                const Slot slot{*this, *read_at_};
                if (!handle(*read_at_)) {
                    return;
                }
            }
            left -= unstamped;
            if (left != 0) {
                note_waiting();
            }
        }
    }

  private:
    /// A header, followed by the slots.
    struct Chunk {
        Chunk* next = nullptr;
        std::uint64_t filled_to = 0;  ///< the sender's: claimed_ when it left; 0: new

        static constexpr std::size_t slots_at =
            (sizeof(Chunk*) + sizeof(std::uint64_t) + alignof(T) - 1) / alignof(T) * alignof(T);

        [[nodiscard]] T* slots() noexcept {
            auto* const bytes =
                reinterpret_cast<std::byte*>(this);         // tidy: slots follow the header
            return reinterpret_cast<T*>(bytes + slots_at);  // tidy: slots follow the header
        }
    };

    static constexpr std::align_val_t chunk_align{
        std::max<std::size_t>({alignof(T), alignof(Chunk), cache_line_bytes})};

    /// Destroys the message when its handler has returned or thrown.
    struct Slot {
        Lane& lane;
        T& message;

        Slot(Lane& its_lane, T& its_message) noexcept : lane(its_lane), message(its_message) {}

        Slot(const Slot&) = delete;
        Slot& operator=(const Slot&) = delete;

        ~Slot() {
            message.~T();
            ++lane.read_at_;
            if (++lane.taken_ - lane.given_back_ >= lane.release_every_) {
                lane.release();
            }
        }
    };

    struct GiveBack {
        Lane& lane;
        std::size_t& handled;
        std::uint64_t before;

        GiveBack(Lane& its_lane, std::size_t& count, std::uint64_t taken) noexcept
            : lane(its_lane), handled(count), before(taken) {}

        GiveBack(const GiveBack&) = delete;
        GiveBack& operator=(const GiveBack&) = delete;

        ~GiveBack() {
            handled += static_cast<std::size_t>(lane.taken_ - before);
            if (lane.taken_ != lane.given_back_) {
                lane.release();
            }
        }
    };

    /// Whether the receiver has taken a message after this chunk. To have taken the chunk's last
    /// message is not enough, because then the receiver may still be at the end of the chunk, and
    /// would follow a link that is set later.
    [[nodiscard]] bool is_free(const Chunk& chunk) const noexcept {
        return chunk.filled_to == 0 || chunk.filled_to < released_;
    }

    void begin_writing() noexcept {
        write_at_ = write_->slots();
        write_end_ = write_at_ + chunk_slots_;
    }

    void begin_reading() noexcept {
        read_at_ = read_->slots();
        read_end_ = read_at_ + chunk_slots_;
    }

    void read_next_chunk() noexcept {
        read_ = read_->next;
        begin_reading();
    }

    [[nodiscard]] Chunk* make_chunk() noexcept;
    bool link_new() noexcept;
    bool write_next_chunk() noexcept;

    // Used by the sender.
    alignas(apart_bytes) T* write_at_ = nullptr;
    T* write_end_ = nullptr;  ///< end of the chunk
    Chunk* write_ = nullptr;
    bool (*wants_)(const T&);  ///< constant
    // Used by the receiver.
    alignas(apart_bytes) T* read_at_ = nullptr;
    T* read_end_ = nullptr;
    Chunk* read_ = nullptr;
};

template <class T>
bool Lane<T>::write_next_chunk() noexcept {
    write_->filled_to = claimed_;
    Chunk* next = write_->next;
    if (chunks_count_ < chunks_max_ && !is_free(*next)) {
        look();
        if (!is_free(*next) && !link_new()) {
            return false;
        }
    }
    // If the circular list has its maximum length, room by count means that the next chunk is free.
    write_ = write_->next;
    PINSTRIKE_CHECK(is_free(*write_));
    begin_writing();
    return true;
}

// --- cold ---

template <class T>
typename Lane<T>::Chunk* Lane<T>::make_chunk() noexcept {
    void* memory =
        ::operator new(Chunk::slots_at + chunk_slots_ * sizeof(T), chunk_align, std::nothrow);
    if (memory == nullptr) {
        return nullptr;
    }
    ++chunks_count_;
    return ::new (memory) Chunk;
}

/// Links a new chunk after the one that the sender leaves. The receiver follows the link only for
/// messages that are published later, so L1 makes the link visible to it.
template <class T>
bool Lane<T>::link_new() noexcept {
    Chunk* chunk = make_chunk();
    if (chunk == nullptr) {
        return false;
    }
    chunk->next = write_->next;
    write_->next = chunk;
    return true;
}

template <class T>
Lane<T>::~Lane() {
    for (; taken_ != claimed_; ++taken_) {
        if (read_at_ == read_end_) {
            read_next_chunk();
        }
        read_at_->~T();
        ++read_at_;
    }
    Chunk* chunk = write_;
    for (std::size_t i = 0; i < chunks_count_; ++i) {
        Chunk* next = chunk->next;
        ::operator delete(chunk, chunk_align);
        chunk = next;
    }
}

}  // namespace pinstrike::actors::runtime
