// path: hot
//
// A lane leads messages from one sender to one mailbox. A mailbox is a list of lanes; since each
// has one writer and one reader, no message costs a locked instruction (a queue that many senders
// share by compare-and-swap carries 19.5 M messages/s here, one lane 80 and more).
//
// Who writes what
//
//     tail_    sender      count of messages published, ever
//     head_    receiver    count of messages taken and destroyed, ever
//     wanted_  both        the sending actor waits for room: set by it, cleared by the receiver
//     closed_  receiver    nothing is taken any more
//     left_    sender      nothing comes any more
//     stamp_   sender      when one of the messages was published, for figures.h
//
// Why each order is enough
//
//   L1  release store of tail_, pairs with L2, the acquire load: messages are whole, and chunks
//       linked, before the receiver sees them counted.
//   L3  release store of head_, pairs with L4, the acquire load: the receiver has read and
//   destroyed
//       what was in a slot before the sender writes it again.
//   L5  after L1 and a full fence, the sender rings the receiver's bell (bell.h): it sleeps only if
//       it has seen no tail move, behind its own fence.
//   L6  after L3 and a full fence, the receiver looks whether the sender waits: for an actor at
//       wanted_ and then its bell, for a thread at parking_. The sender sets these, fences, and
//       looks at head_ again before it waits. Either side sees the other: none waits for room that
//       is there. wanted_ itself needs no order: the receiver clears it before it rings, so a wish
//       that was cleared unseen is one that has just been rung for.
//   closed_ is stored before a full fence and the same look at who waits, so none waits for a
//       receiver that is gone. left_ is stored with release behind the last tail_, and loaded with
//       acquire before it, so a lane that was left and looks empty is empty.
//
//   stamp_ is relaxed: it is written before a tail_ that counts its message (L1, L2), and again
//       only once that message was given back (L3, L4), so the receiver reads it whole.
//
// Slots lie in chunks that form a circle. The sender fills one after the other; where the next is
// not free yet it links a new one in, as long as it may. So a lane that is bounded by memory grows
// as far as it was ever full, and then recycles; one bounded by messages has all its chunks from
// the start.
//
// The receiver leaves a chunk when it takes the next message, not when it has emptied it: where the
// sender stands in the same chunk, what follows is not known yet. So a chunk is free once a message
// behind it was taken. There is one chunk more than the bound needs. Where there is room by count,
// fewer messages wait than the bound; with the chunk that the receiver has emptied and not left,
// they take no more chunks than the bound needs, and that one more is free.
//
// `most` is the bound. An actor that waits when full may exceed it by `overflow`, with what one
// call of a handler sends: it cannot be stopped in the middle of it.
#pragma once

#include "actors/runtime/actor.h"
#include "config/check.h"
#include "config/counter.h"
#include "config/hooks.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>  // tidy: allowed: into slots that are there
#include <type_traits>
#include <utility>

namespace pinstrike::actors::runtime {

/// What becomes of a message. Only `sent` ones are handled, or counted as dropped.
enum class Sent : std::uint8_t {
    sent,
    full,      ///< no room; try later
    stopped,   ///< the receiver has ended
    unwanted,  ///< the receiver's filter does not want it
};

enum class WhenFull : std::uint8_t { refuse, wait };

/// Of each sender of a mailbox.
struct Bounds {
    std::size_t most = 1024;  ///< messages that may wait
    WhenFull when_full = WhenFull::refuse;
    std::size_t overflow = 16;     ///< beyond `most`, from one call of a waiting actor's handler
    std::size_t memory_bytes = 0;  ///< not 0: this bounds, not `most`; chunks are made as needed

    [[nodiscard]] static Bounds of_memory(std::size_t bytes) {
        return {.most = 0, .overflow = 0, .memory_bytes = bytes};
    }
};

/// What a lane is without its messages' type.
class LaneBase {
  public:
    LaneBase(Actor& to, Actor* from, const Bounds& bounds, std::size_t message_bytes);
    virtual ~LaneBase() = default;
    LaneBase(const LaneBase&) = delete;
    LaneBase& operator=(const LaneBase&) = delete;

    // The sender's side.

    /// May so many more be claimed? Looks at the receiver's index only if what is known will not
    /// do.
    [[nodiscard]] bool has_room() noexcept {
        return claimed_ - released_ < limit_ || (look() < limit_);
    }

    /// Claimed and not yet taken, as last seen; looks again.
    std::uint64_t look() noexcept {
        RING_HOOK("lane:before_load_head");
        released_ = head_.load(std::memory_order_acquire);  // L4, pairs with L3
        return claimed_ - released_;
    }

    /// Enough room to go on, for a sender that has waited: half of the bound.
    [[nodiscard]] bool has_much_room() noexcept { return closed() || look() <= resume_at_; }

    [[nodiscard]] bool closed() const noexcept {
        return closed_.load(std::memory_order_acquire);  // nothing is read by it but figures
    }

    [[nodiscard]] bool unpublished() const noexcept { return claimed_ != published_; }

    /// Shows the receiver what was claimed; who calls fences and rings.
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

    /// A thread that is no actor: really waits, until there is much room or the receiver is gone.
    void wait_for_room() noexcept;

    /// An actor: from now on the receiver rings it when there is much room.
    void want_room() noexcept { wanted_.store(1, std::memory_order_relaxed); }  // L6

    // The receiver's side.

    /// Behind a fence this is what a sleeper trusts (L5).
    [[nodiscard]] bool has_mail() const noexcept {
        RING_HOOK("lane:before_has_mail");
        return tail_.load(std::memory_order_acquire) != taken_;
    }

    /// Will never have mail again. left_ first (see above).
    [[nodiscard]] bool is_over() const noexcept {
        return left_.load(std::memory_order_acquire) && !has_mail();
    }

    void close() noexcept;

    // Figures; exact once both sides have ended or are this thread.

    [[nodiscard]] std::uint64_t waiting() const noexcept {
        return tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] const Counter& refused() const noexcept { return refused_; }

    /// The sender and the mailbox each hold a lane; the last one destroys it.
    static void let_go(LaneBase* lane) noexcept;

    LaneBase* below = nullptr;  ///< among the mailbox's new lanes (PushStack), then in its list

  protected:
    friend class Actor;
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
        // resume_at_ is 0 or more only if senders wait. What was seen is no more than is there, so
        // at the last release of what a waiting sender has published this is true.
        if (waits() && seen_ - taken_ <= resume_at_) {
            fence_seq_cst();  // B2 of bell.h, for L6
            ring_sender();
        }
    }

    void ring_sender() noexcept;

    /// Looks at tail_, and at the stamp beside it.
    void look_for_mail() noexcept {
        RING_HOOK("lane:before_load_tail");
        seen_ = tail_.load(std::memory_order_acquire);  // L2, pairs with L1
        stamped_ = stamp_.message.load(std::memory_order_relaxed);
    }

    /// Of the next `left` messages, those before the one that bears a stamp; all, if none does.
    /// What is stamped but not counted in seen_ is looked at again before it is taken.
    [[nodiscard]] std::size_t before_stamp(std::size_t left) const noexcept {
        const std::uint64_t before = stamped_ - taken_;  // huge where it has been passed
        return before < left && stamped_ != never ? static_cast<std::size_t>(before) : left;
    }

    void stamp() noexcept;
    void note_waiting() noexcept;

    static constexpr std::uint64_t never = ~std::uint64_t{0};

    // The sender's, and what it asks with each message, on one line (Lane has one more): so who
    // serves a hundred lanes in turn has them all in its first cache.
    alignas(128) std::uint64_t claimed_ = 0;
    std::uint64_t released_ = 0;     ///< head_ as last seen
    std::uint64_t limit_ = 0;        ///< constant, of claims: the bound, and the overflow
    std::uint64_t wait_at_ = never;  ///< constant: a sending actor with so many stops; or never
    Actor* from_;                    ///< constant; null: from_thread_
    std::uint64_t published_ = 0;
    LaneBase* next_touched_ = nullptr;  ///< in the sending actor's list
    std::uint32_t until_stamp_ = 1;     ///< publishes
    bool touched_ = false;
    std::atomic<bool> closed_{false};  ///< the receiver's, written once
    // Less often.
    std::size_t chunks_count_ = 0;        ///< in the circle
    std::uint64_t stamped_last_ = never;  ///< message
    Counter refused_;

    struct Stamp {
        std::atomic<std::uint64_t> message{never};  ///< count of those before it
        std::atomic<std::uint64_t> count{0};        ///< messages that were published with it
        std::atomic<std::int64_t> time_ns{0};
    };

    alignas(128) std::atomic<std::uint64_t> tail_{0};
    std::atomic<bool> left_{false};
    Stamp stamp_;
    alignas(128) std::atomic<std::uint64_t> head_{0};

    // The receiver's.
    alignas(128) std::uint64_t taken_ = 0;
    std::uint64_t seen_ = 0;           ///< tail_ as last seen
    std::uint64_t stamped_ = never;    ///< stamp_.message as last seen; never: noted, or none
    std::uint64_t given_back_ = 0;     ///< head_ as stored
    std::uint64_t release_every_ = 1;  ///< constant

    // What both sides read: constant, or rarely written.
    alignas(128) Actor& to_;
    std::uint64_t resume_at_ = never;  ///< a sender that waited goes on with no more than this
    bool from_thread_;                 ///< not from an actor
    std::size_t chunk_slots_ = 0;
    std::size_t chunks_max_ = 0;
    bool preallocated_ = false;
    std::atomic<std::uint32_t> wanted_{0};
    std::atomic<unsigned> holders_{2};
    Parking parking_;  ///< of a sender that is no actor
};

/// Into the list of what is published when the activation ends. Here alone an actor learns that it
/// has to wait.
inline void Actor::touch(LaneBase& lane) noexcept {
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
    Lane(Actor& to, Actor* from, const Bounds& bounds, bool (*filter)(const T&))
        : LaneBase(to, from, bounds, sizeof(T)), wants_(filter) {
        write_ = read_ = make_chunk();
        PINSTRIKE_CHECK(write_ != nullptr);  // at set-up: a host without memory is no host
        write_->next = write_;
        while (preallocated_ && chunks_count_ < chunks_max_) {
            PINSTRIKE_CHECK(link_new());
        }
        begin_writing();
        begin_reading();
    }

    ~Lane() override;

    /// The sender's filter, asked before a slot is taken.
    [[nodiscard]] bool wants(const T& message) const noexcept {
        return wants_ == nullptr || wants_(message);
    }

    /// There is room by count; false only if a new chunk was needed and there is no memory.
    [[nodiscard]] bool put(T&& message) noexcept {
        if (write_at_ == write_end_ && !write_next_chunk()) [[unlikely]] {
            return false;
        }
        ::new (static_cast<void*>(write_at_)) T(std::move(message));
        ++write_at_;
        ++claimed_;
        return true;
    }

    /// Hands at most `budget` messages to `handle`, as long as it answers true; `handled` counts
    /// on, also for the one whose handler throws.
    template <class Handle>
    void take(std::size_t budget, std::size_t& handled, Handle&& handle) {
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
    /// A header, then the slots.
    struct Chunk {
        Chunk* next = nullptr;
        std::uint64_t filled_to = 0;  ///< claimed when the sender left it; 0: new. The sender's

        static constexpr std::size_t slots_at =
            (sizeof(Chunk*) + sizeof(std::uint64_t) + alignof(T) - 1) / alignof(T) * alignof(T);

        [[nodiscard]] T* slots() noexcept {
            auto* bytes = static_cast<std::byte*>(static_cast<void*>(this));
            return static_cast<T*>(static_cast<void*>(bytes + slots_at));
        }
    };

    static constexpr std::align_val_t chunk_align{
        std::max<std::size_t>({alignof(T), alignof(Chunk), 64})};

    /// A message is over when its handler has returned or thrown.
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

    /// The receiver has taken a message that lies behind it. Not just its last one: then it may
    /// stand at its end, and would follow a link that is made there later.
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

    // The sender's.
    alignas(128) T* write_at_ = nullptr;
    T* write_end_ = nullptr;  ///< of the chunk
    Chunk* write_ = nullptr;
    bool (*wants_)(const T&);  ///< constant
    // The receiver's.
    alignas(128) T* read_at_ = nullptr;
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
    // Where the circle is as long as it may be, room by count means that the next one is free.
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

/// Behind the chunk that the sender leaves. The receiver goes there only for messages that are
/// published later, so L1 shows it the link.
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
