// path: hot
//
// An Actor: state that one thread touches, and what it is told through its mailboxes (mailbox.h).
// It lives on one Core (core.h), whose thread alone calls its handlers; so a handler takes no lock.
//
// A handler never blocks. What it sends is claimed at once and published when the activation ends,
// or 64 messages later. Where a mailbox that waits when full has no room left, the *sending actor*
// stops being called (its own mailboxes are left alone) until half the room is back; the others of
// its core go on. Why that cannot deadlock: wait_graph.h.
//
// A handler that throws ends its actor, and so does finish(), or stop() from any thread. Then its
// mailboxes refuse (Sent::stopped), what was left in them is counted as dropped, and who monitors
// it is told. The object itself lives as long as its core.
#pragma once

#include "actors/runtime/bell.h"
#include "actors/runtime/figures.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace pinstrike::actors::runtime {

class Actor;
class Core;
class Inbox;
class LaneBase;
class TimerBase;
template <class T>
class Mailbox;
template <class T>
class Sender;

/// What those who monitor an actor are told when it has ended.
struct Down {
    const Actor* which = nullptr;  ///< to compare with; it may live on another core
    bool failed = false;           ///< a handler threw
    std::array<char, 111> text{};  ///< what it threw, cut to fit; ends with 0

    [[nodiscard]] std::string_view reason() const { return text.data(); }
};

class Actor {
  public:
    Actor();
    virtual ~Actor();
    Actor(const Actor&) = delete;
    Actor& operator=(const Actor&) = delete;

    [[nodiscard]] virtual std::string_view name() const { return "actor"; }

    /// Before the first message, on the core's thread.
    virtual void on_start() {}

    /// After the last message, unless a handler threw.
    virtual void on_stop() {}

    /// Ends the actor behind the call that is running. Any thread.
    void stop() noexcept;

    /// `downs` is told once when this actor ends; at once if it has ended. Any thread.
    void monitor(Mailbox<Down>& downs);

    /// Any thread; acquire, so who sees it sees the actor's last state.
    [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    /// It has ended because a handler threw.
    [[nodiscard]] bool failed() const noexcept { return ended() && down_.failed; }

    /// Null where its core does not measure. Any thread.
    [[nodiscard]] const ActorFigures* figures() const noexcept { return figures_.get(); }

    Actor* below = nullptr;  ///< on the ready list (PushStack)

  protected:
    /// Ends this actor behind the handler that calls.
    void finish() noexcept {
        finishing_ = true;
        halted_ = true;
    }

    /// The time that was given to the core's step.
    [[nodiscard]] std::int64_t now_ns() const noexcept;

    [[nodiscard]] Core& core() const noexcept { return *core_; }

  private:
    friend class Core;
    friend class Inbox;
    friend class LaneBase;
    friend class TimerBase;
    template <class T>
    friend class Mailbox;
    template <class T>
    friend class Sender;

    struct Monitors;  ///< and a lock; cold

    /// What a ringer calls after its fence: back to the core, if asleep.
    void ring() noexcept {
        if (bell_.take()) {
            make_ready();
        }
    }

    void make_ready() noexcept;
    void activate(std::size_t budget, std::size_t& handled) noexcept;
    void work(std::size_t budget, std::size_t& handled);
    void fail(const char* what) noexcept;
    void end() noexcept;
    void tell_monitors() noexcept;
    [[nodiscard]] bool could_run() noexcept;
    [[nodiscard]] std::uint64_t backlog() noexcept;
    [[nodiscard]] bool waits_for_room() noexcept;
    void want_room() noexcept;
    void touch(LaneBase& lane) noexcept;
    void untouch(LaneBase& lane) noexcept;
    void flush() noexcept;

    Bell bell_;
    std::atomic<bool> stop_asked_{false};  ///< relaxed: Bell's fences order it against sleep
    std::atomic<bool> ended_{false};       ///< release: see ended()

    // From here on the core's thread alone.
    bool halted_ = false;     ///< no further message in this activation
    bool finishing_ = false;  ///< ends behind this activation
    bool started_ = false;
    unsigned dry_ = 0;  ///< activations in a row that found nothing
    std::uint32_t until_sample_ = 0;
    Core* core_ = nullptr;         ///< set once, before anybody can ring
    Actor* next_run_ = nullptr;    ///< in the core's queue
    Inbox* inboxes_ = nullptr;     ///< all mailboxes
    LaneBase* touched_ = nullptr;  ///< lanes with something unpublished, or too full
    TimerBase* due_ = nullptr;     ///< timers that are to be told, oldest first
    TimerBase* due_last_ = nullptr;
    std::size_t timers_count_ = 0;
    Down down_;
    std::unique_ptr<Monitors> monitors_;
    std::unique_ptr<ActorFigures> figures_;  ///< set once, before anybody can send
};

}  // namespace pinstrike::actors::runtime
