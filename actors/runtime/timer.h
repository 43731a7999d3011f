// path: hot
//
// A message that an actor sends to itself later, once or periodically, by the time passed to the
// executor's steps. A Timer<T> is a member of the actor and calls the actor's `on(T&)` with a copy
// of the message.
//
// Periods keep to their grid: a step that comes late calls the handler once for all periods that it
// missed. If the actor waits for room, the call comes when it continues, also only once.
#pragma once

#include "actors/runtime/mailbox_actor.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pinstrike::actors::runtime {

class TimerBase {
  public:
    virtual ~TimerBase() { cancel(); }

    TimerBase(const TimerBase&) = delete;
    TimerBase& operator=(const TimerBase&) = delete;

    /// Fires once, `delay_ns` after the time of this step. Cancels an earlier setting.
    void after(std::int64_t delay_ns) noexcept { set(delay_ns, 0); }

    /// Fires every `period_ns`, for the first time after `period_ns`.
    void every(std::int64_t period_ns) noexcept { set(period_ns, period_ns); }

    /// Cancels all calls of the handler, also one that is already due.
    void cancel() noexcept;

  protected:
    explicit TimerBase(MailboxActor* owner) : owner_(*owner) { ++owner_.timers_count_; }

  private:
    friend class MailboxActor;
    friend class Executor;
    static constexpr std::size_t nowhere = ~std::size_t{0};

    virtual void notify() = 0;
    void set(std::int64_t delay_ns, std::int64_t period_ns) noexcept;
    void fire(std::int64_t now_ns) noexcept;

    MailboxActor& owner_;
    std::int64_t due_ns_ = 0;
    std::int64_t period_ns_ = 0;
    std::size_t place_ = nowhere;  ///< index in the executor's heap
    TimerBase* next_due_ = nullptr;
    bool in_due_ = false;  ///< it is in its actor's list of due timers
    bool handled_ = true;  ///< false: the handler must be called for it
};

template <class T>
class Timer final : public TimerBase {
  public:
    template <class A>
    explicit Timer(A* owner, T message = {})
        : TimerBase(owner),
          message_(std::move(message)),
          tell_([](MailboxActor& actor, T& copy) { static_cast<A&>(actor).on(copy); }),
          actor_(*owner) {}

  private:
    void notify() override {
        T copy = message_;
        tell_(actor_, copy);
    }

    T message_;
    void (*tell_)(MailboxActor&, T&);
    MailboxActor& actor_;
};

}  // namespace pinstrike::actors::runtime
