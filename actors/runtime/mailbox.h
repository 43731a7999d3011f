// path: mixed, cold: make_sender(), leave()
//
// Mailbox<T> is a member of an actor and calls the actor's `on(T&)`. Sender<T> is the handle with
// which one actor or thread sends to it. A Sender can be moved but not copied, because it is one
// end of one lane.
//
//     class Summer : public MailboxActor {
//       public:
//         Mailbox<Number> numbers{this, {.most = 100, .when_full = WhenFull::wait}};
//         void on(Number& number) { sum_ += number.value; }
//
// The message belongs to the handler until the handler returns, and may be moved from. Messages of
// one sender keep their order. Messages of different senders have no defined order. If the actor
// has `static bool wants(const T&)`, it only gets messages for which that returns true. Each sender
// calls it on its own thread before it takes a slot, so the result must depend on the message
// alone.
#pragma once

#include "actors/runtime/lane.h"
#include "actors/runtime/mailbox_actor.h"
#include "actors/runtime/wait_graph.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pinstrike::actors::runtime {

/// The part of a mailbox that its actor uses: a list of lanes.
class Inbox {
  public:
    virtual ~Inbox();

    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    /// Number of messages that were sent and that the actor did not take before it ended. Exact
    /// once the senders have ended too.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return waiting(); }

  protected:
    explicit Inbox(MailboxActor* owner);

    /// Adds a new lane. May be called by any thread.
    void join(LaneBase& lane) noexcept;
    void add_new_lanes() noexcept;
    void drop_old_lanes() noexcept;

    MailboxActor& owner_;
    LaneBase* lanes_ = nullptr;

  private:
    friend class MailboxActor;

    virtual void serve(std::size_t budget, std::size_t& handled) = 0;
    [[nodiscard]] bool has_mail() const noexcept;
    [[nodiscard]] std::uint64_t waiting() const noexcept;
    void close() noexcept;

    Inbox* next_ = nullptr;
    PushStack<LaneBase> new_lanes_;
    std::atomic<bool> closed_{false};  ///< fenced against join(): one of the two closes the lane
};

template <class T>
class Mailbox final : public Inbox {
  public:
    template <class A>
    explicit Mailbox(A* owner, Bounds bounds = {})
        : Inbox(owner), bounds_(bounds), serve_(&serve_lanes<A>) {
        if constexpr (requires(const T& message) { A::wants(message); }) {
            wants_ = [](const T& message) -> bool { return A::wants(message); };
        }
    }

    /// Makes a sender for a thread that is not an actor and that alone uses it. May be called by
    /// any thread.
    [[nodiscard]] Sender<T> sender() { return make_sender(nullptr, bounds_); }

    /// Makes a sender for an actor, which may use it only in its handlers. It must be destroyed
    /// before its actor. Throws std::invalid_argument if actors could then wait for each other in a
    /// cycle (wait_graph.h).
    [[nodiscard]] Sender<T> sender(MailboxActor& from) { return make_sender(&from, bounds_); }

  private:
    friend class MailboxActor;

    [[nodiscard]] Sender<T> make_sender(MailboxActor* from, const Bounds& bounds);

    void serve(std::size_t budget, std::size_t& handled) override {
        serve_(*this, budget, handled);
    }

    /// The loop that calls the actor's handler, compiled for its type, so an activation costs one
    /// indirect call.
    template <class A>
    static void serve_lanes(Mailbox& box, std::size_t budget, std::size_t& handled) {
        auto& actor = static_cast<A&>(box.owner_);
        box.add_new_lanes();
        bool any_over = false;
        for (LaneBase* lane = box.lanes_; lane != nullptr; lane = lane->below) {
            static_cast<Lane<T>*>(lane)->deliver(budget, handled, [&](T& message) {
                actor.on(message);
                return !box.owner_.halted_;
            });
            if (box.owner_.halted_) {
                box.begin_behind(lane);
                return;
            }
            any_over = any_over || lane->is_over();
        }
        if (any_over) {
            box.drop_old_lanes();
        }
    }

    void begin_behind(LaneBase* lane) noexcept;

    Bounds bounds_;
    void (*serve_)(Mailbox&, std::size_t, std::size_t&);
    bool (*wants_)(const T&) = nullptr;
};

template <class T>
class Sender {
  public:
    Sender() = default;

    Sender(Sender&& other) noexcept : lane_(std::exchange(other.lane_, nullptr)) {}

    Sender& operator=(Sender&& other) noexcept {
        Sender old{std::move(*this)};
        lane_ = std::exchange(other.lane_, nullptr);
        return *this;
    }

    ~Sender() {
        if (lane_ != nullptr) {
            leave();
        }
    }

    /// Sends a message. Never blocks an actor. Blocks a thread if the mailbox is full and waits
    /// when full. A message that is not sent is not moved from.
    [[nodiscard]] Sent send(T&& message) noexcept {
        Lane<T>& lane = *lane_;
        if (!lane.wants(message)) {
            return Sent::unwanted;
        }
        if (!lane.has_room() && !make_room()) [[unlikely]] {
            lane.refused_.add();
            return lane.closed() ? Sent::stopped : Sent::full;
        }
        if (lane.closed() || !lane.put(std::move(message))) [[unlikely]] {
            lane.refused_.add();
            return lane.closed() ? Sent::stopped : Sent::full;
        }
        if (lane.from_ != nullptr) {
            lane.from_->touch(lane);
        }
        if ((lane.claimed_ & (LaneBase::publish_every - 1)) == 0) {
            lane.publish_and_ring();
        }
        return Sent::sent;
    }

    /// Sends a copy of the message.
    [[nodiscard]] Sent send(const T& message) noexcept
        requires std::is_nothrow_copy_constructible_v<T>
    {
        return send(T{message});
    }

    /// Like send(), but never blocks a thread either.
    [[nodiscard]] Sent try_send(T&& message) noexcept {
        Lane<T>& lane = *lane_;
        if (!lane.closed() && !lane.has_room()) {
            lane.publish_and_ring();
            lane.refused_.add();
            return Sent::full;
        }
        return send(std::move(message));
    }

    /// Publishes what was sent. An actor's senders do so when the activation ends.
    void flush() noexcept { lane_->publish_and_ring(); }

    /// Number of messages sent and not yet taken. Loads the receiver's index.
    [[nodiscard]] std::uint64_t in_flight() noexcept { return lane_->look(); }

    /// Whether the receiver has ended.
    [[nodiscard]] bool stopped() const noexcept { return lane_->closed(); }

    /// Whether the receiver's filter wants the message.
    [[nodiscard]] bool wants(const T& message) const noexcept { return lane_->wants(message); }

    /// Number of messages whose result was `full` or `stopped`.
    [[nodiscard]] std::uint64_t refused() const noexcept { return lane_->refused_.read(); }

  private:
    friend class Mailbox<T>;

    explicit Sender(Lane<T>& lane) : lane_(&lane) {}

    /// Publishes, so that the receiver can free slots. Then waits if this is a thread and the
    /// mailbox waits when full.
    bool make_room() noexcept {
        lane_->publish_and_ring();
        if (lane_->from_ == nullptr && lane_->waits()) {
            lane_->wait_for_room();
        }
        return lane_->has_room();
    }

    void leave() noexcept;

    Lane<T>* lane_ = nullptr;
};

// --- cold ---

template <class T>
Sender<T> Mailbox<T>::make_sender(MailboxActor* from, const Bounds& bounds) {
    if (from != nullptr && bounds.when_full == WhenFull::wait) {
        add_wait(*from, owner_);
    }
    auto* lane = new Lane<T>(owner_, from, bounds, wants_);
    join(*lane);
    return Sender<T>{*lane};
}

/// Moves the lanes after this one to the front for the next activation, so that no lane starves.
template <class T>
void Mailbox<T>::begin_behind(LaneBase* lane) noexcept {
    if (lane->below == nullptr) {
        return;
    }
    LaneBase* last = lane;
    while (last->below != nullptr) {
        last = last->below;
    }
    last->below = lanes_;
    lanes_ = std::exchange(lane->below, nullptr);
}

template <class T>
void Sender<T>::leave() noexcept {
    if (lane_->from_ != nullptr) {
        lane_->from_->untouch(*lane_);
    }
    lane_->publish_and_ring();
    lane_->wanted_.store(0, std::memory_order_relaxed);  // so the receiver no longer rings it
    lane_->left_.store(true, std::memory_order_release);
    LaneBase::let_go(lane_);
}

}  // namespace pinstrike::actors::runtime
