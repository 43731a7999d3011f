// path: hot
//
// A MailboxActor is state that one thread uses, and mailboxes through which it gets messages
// (mailbox.h). It belongs to one Executor (executor.h). Only that executor's thread calls its
// handlers, so a handler needs no lock.
//
// A handler never blocks. A message that it sends takes its slot at once, and is published when the
// activation ends or when 64 messages have accumulated. If a mailbox that waits when full has no
// room left, the *sending actor* is not called again (whatever is in its own mailboxes) until half
// of the mailbox's bound is free. The other actors of its executor continue. wait_graph.h says why
// that cannot deadlock.
//
// An actor ends when its handler throws, when it calls finish(), or when any thread calls stop().
// Then its mailboxes refuse messages (Sent::stopped), the messages left in them count as dropped,
// and its monitors get a Down. The object itself lives as long as its executor.
#pragma once

#include "actors/runtime/bell.h"
#include "actors/runtime/figures.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace pinstrike::actors::runtime {

class MailboxActor;
class Executor;
class Inbox;
class LaneBase;
class TimerBase;
template <class T>
class Mailbox;
template <class T>
class Sender;

/// The message that monitors of an actor get when the actor has ended.
struct Down {
    const MailboxActor* which = nullptr;  ///< only for comparison; it may be on another executor
    bool failed = false;                  ///< a handler threw
    std::array<char, 111> text{};         ///< what it threw, truncated; ends with 0

    [[nodiscard]] std::string_view reason() const { return text.data(); }
};

class MailboxActor {
  public:
    MailboxActor();
    virtual ~MailboxActor();
    MailboxActor(const MailboxActor&) = delete;
    MailboxActor& operator=(const MailboxActor&) = delete;

    [[nodiscard]] virtual std::string_view name() const { return "actor"; }

    /// Called on the executor's thread, before the first message.
    virtual void on_start() {}

    /// Called after the last message, unless a handler threw.
    virtual void on_stop() {}

    /// Ends the actor after the handler that is running. May be called by any thread.
    void stop() noexcept;

    /// Sends one message to `downs` when this actor ends, or at once if it has ended. May be called
    /// by any thread.
    void monitor(Mailbox<Down>& downs);

    /// Whether the actor has ended. May be called by any thread. The load is an acquire, so a
    /// caller that gets true sees the actor's last state.
    [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    /// Whether the actor ended because a handler threw.
    [[nodiscard]] bool failed() const noexcept { return ended() && down_.failed; }

    /// The actor's figures; nullptr: its executor does not measure. May be called by any thread.
    [[nodiscard]] const ActorMeasurements* figures() const noexcept { return figures_.get(); }

    MailboxActor* below = nullptr;  ///< on the ready list (PushStack)

  protected:
    /// Ends this actor after the handler that calls this.
    void finish() noexcept {
        finishing_ = true;
        halted_ = true;
    }

    /// The time of the executor's current step, as passed to step().
    [[nodiscard]] std::int64_t now_ns() const noexcept;

    [[nodiscard]] Executor& executor() const noexcept { return *executor_; }

  private:
    friend class Executor;
    friend class Inbox;
    friend class LaneBase;
    friend class TimerBase;
    template <class T>
    friend class Mailbox;
    template <class T>
    friend class Sender;

    struct Monitors;  ///< the senders to monitors, and a lock; cold

    /// Called by a ringer after its fence. Returns the actor to its executor if the actor is
    /// asleep.
    void ring() noexcept {
        if (bell_.disarm()) {
            make_ready();
        }
    }

    void make_ready() noexcept;
    void activate(std::size_t budget, std::size_t& handled) noexcept;
    void work(std::size_t budget, std::size_t& handled);
    void fail(const char* what) noexcept;
    void end() noexcept;
    void notify_monitors() noexcept;
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

    // Used only by the executor's thread from here on.
    bool halted_ = false;     ///< no further messages in this activation
    bool finishing_ = false;  ///< ends after this activation
    bool started_ = false;
    unsigned dry_ = 0;  ///< consecutive activations without messages
    std::uint32_t until_sample_ = 0;
    Executor* executor_ = nullptr;      ///< set once, before a sender can ring
    MailboxActor* next_run_ = nullptr;  ///< in the executor's queue
    Inbox* inboxes_ = nullptr;          ///< all mailboxes
    LaneBase* touched_ = nullptr;       ///< lanes with unpublished messages, or too full
    TimerBase* due_ = nullptr;          ///< timers to report, oldest first
    TimerBase* due_last_ = nullptr;
    std::size_t timers_count_ = 0;
    Down down_;
    std::unique_ptr<Monitors> monitors_;
    std::unique_ptr<ActorMeasurements> figures_;  ///< set once, before a sender exists
};

}  // namespace pinstrike::actors::runtime
