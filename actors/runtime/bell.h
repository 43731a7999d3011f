// path: hot
//
// How an actor falls asleep and is woken, and how it gets back to its core.
//
// Roles: one sleeper (the thread of the actor's core) and any number of ringers: whoever published
// a message to the actor, made room that it waits for, or asked it to stop.
//
// The danger is the lost wake-up: the sleeper looks, finds nothing, and is about to sleep; the
// ringer brings something, finds nobody asleep, and goes. As in parking.h, each side writes one
// place and then reads the other's, with a full fence between:
//
//     sleeper  S1 armed_ = 1              fence B1   S2 look at everything again
//     ringer   R1 make the reason visible fence B2   R2 read armed_
//
// The fences stand in one total order: B1 first, and R2 sees S1; or B2 first, and S2 sees R1. If
// both notice, the exchange in take() lets one of them through: the winner alone puts the actor on
// the ready list, or keeps it running. So an actor is never twice on the list, and never on none
// while it has something to do.
//
//   B3  the exchange that takes is acquire, the store that arms release: what the sleeper did with
//       the actor's link of the ready list is done before the ringer writes it.
//
// The price for a ringer: a fence, and the load of a line that nobody writes while the actor has
// work. It is paid per publish, not per message.
#pragma once

#include "actors/threads/parking.h"
#include "config/hooks.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors::runtime {

class Bell {
  public:
    /// Sleeper: from here on it is rung. It looks at everything again before it sleeps.
    void arm() noexcept {
        RING_HOOK("bell:before_arm");
        armed_.store(1, std::memory_order_release);  // S1; B3
        RING_HOOK("bell:before_fence");
        fence_seq_cst();  // B1, pairs with B2
        RING_HOOK("bell:armed");
    }

    /// True for exactly one of those who try after an arm(). A ringer has fenced before (B2).
    [[nodiscard]] bool take() noexcept {
        RING_HOOK("bell:before_take");
        if (armed_.load(std::memory_order_relaxed) == 0) [[likely]] {  // R2
            return false;
        }
        RING_HOOK("bell:before_exchange");
        return armed_.exchange(0, std::memory_order_acquire) != 0;  // B3
    }

  private:
    alignas(128) std::atomic<std::uint32_t> armed_{0};
};

/// A stack that many push to and one empties at once. Nodes lead to each other by `below`. Taking
/// all leaves no pointer behind that could come to mean another node.
template <class Node>
class PushStack {
  public:
    void push(Node& node) noexcept {
        Node* top = top_.load(std::memory_order_relaxed);  // the exchange below validates it
        do {
            node.below = top;
            RING_HOOK("stack:before_exchange");
            // Release, pairs with the acquire in take_all: the taker sees node.below, and what the
            // pusher wrote into the node. Failure needs no order: the value is only tried again.
        } while (!top_.compare_exchange_weak(top, &node, std::memory_order_release,
                                             std::memory_order_relaxed));
        RING_HOOK("stack:pushed");
    }

    /// The oldest node, which leads to the next oldest, or nullptr.
    [[nodiscard]] Node* take_all() noexcept {
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

    /// Relaxed: who decides to sleep by it has fenced before; who does not looks again soon.
    [[nodiscard]] bool empty() const noexcept {
        return top_.load(std::memory_order_relaxed) == nullptr;
    }

  private:
    alignas(128) std::atomic<Node*> top_{nullptr};
};

}  // namespace pinstrike::actors::runtime
