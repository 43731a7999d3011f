// path: hot
//
// How an actor goes to sleep, is woken, and returns to its executor.
//
// Roles: there is one sleeper, the thread of the actor's executor, and any number of ringers. A
// ringer has published a message to the actor, freed slots that the actor waits for, or requested
// that the actor stop.
//
// The danger is the lost wake-up. The sleeper checks for work, finds none and is about to sleep,
// while the ringer brings work, finds nobody asleep and continues. As in parking.h, each side first
// writes and then reads what the other side writes, with a full fence in between:
//
//     sleeper  S1 armed_ = 1               fence B1   S2 check for work again
//     ringer   R1 make the work visible    fence B2   R2 read armed_
//
// The fences have one total order: either B1 is first and R2 sees S1, or B2 is first and S2 sees
// R1. If both sides notice, the exchange in disarm() succeeds for only one of them, and that side
// alone puts the actor on the ready list or keeps it running. So an actor is never on the list
// twice, and is always on it or running while it has work.
//
//   B3  the exchange in disarm() is acquire, the store in arm() release: the sleeper's use of the
//       actor's link in the ready list happens before the ringer writes that link.
//
// A ringer pays for a fence, and for the load of a cache line that no thread writes while the actor
// has work. It pays once per publish, not per message.
#pragma once

#include "actors/threads/parking.h"
#include "config/cache_line.h"
#include "config/hooks.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors::runtime {

class Bell {
  public:
    /// Called by the sleeper, which must check for work again before it sleeps. From now on ringers
    /// wake the actor.
    void arm() noexcept {
        RING_HOOK("bell:before_arm");
        armed_.store(1, std::memory_order_release);  // S1; B3
        RING_HOOK("bell:before_fence");
        fence_seq_cst();  // B1, pairs with B2
        RING_HOOK("bell:armed");
    }

    /// True for exactly one caller after each arm(). A ringer must call a fence before (B2).
    [[nodiscard]] bool disarm() noexcept {
        RING_HOOK("bell:before_disarm");
        if (armed_.load(std::memory_order_relaxed) == 0) [[likely]] {  // R2
            return false;
        }
        RING_HOOK("bell:before_exchange");
        return armed_.exchange(0, std::memory_order_acquire) != 0;  // B3
    }

  private:
    alignas(apart_bytes) std::atomic<std::uint32_t> armed_{0};
};

/// A stack to which many threads push and which one thread empties at once. Nodes are linked by
/// `below`. The taker removes all nodes at once, so no pointer in the stack can refer to a reused
/// node (no ABA problem).
template <class Node>
class PushStack {
  public:
    void push(Node& node) noexcept {
        Node* top = top_.load(std::memory_order_relaxed);  // the exchange below validates it
        do {
            node.below = top;
            RING_HOOK("stack:before_exchange");
            // Release, pairs with the acquire in pop_all: the taker sees node.below and what the
            // pusher wrote into the node. A failure needs no order, because the loop only uses the
            // value for the next attempt.
        } while (!top_.compare_exchange_weak(top, &node, std::memory_order_release,
                                             std::memory_order_relaxed));
        RING_HOOK("stack:pushed");
    }

    /// Removes all nodes. Returns the oldest, which is linked to the next oldest; nullptr: none.
    [[nodiscard]] Node* pop_all() noexcept {
        if (empty()) {
            return nullptr;
        }
        Node* newest = top_.exchange(nullptr, std::memory_order_acquire);  // pairs with push
        Node* oldest = nullptr;
        while (newest != nullptr) {
            Node* below = newest->below;
            newest->below = oldest;
            oldest = newest;
            newest = below;
        }
        return oldest;
    }

    /// Relaxed order is enough: a caller that sleeps if it is empty has called a fence before, and
    /// any other caller checks again soon.
    [[nodiscard]] bool empty() const noexcept {
        return top_.load(std::memory_order_relaxed) == nullptr;
    }

  private:
    alignas(apart_bytes) std::atomic<Node*> top_{nullptr};
};

}  // namespace pinstrike::actors::runtime
