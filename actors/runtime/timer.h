// path: hot
//
// A message that an actor sends to itself later: once, or again and again, on the time that is
// given to the core's step. A Timer<T> is a member of the actor and calls its `on(T&)` with a copy.
//
// Periods keep to their grid: a step that comes late tells one message for all that it missed. An
// actor that waits for room is told when it goes on, then too only once.
#pragma once

#include "actors/runtime/actor.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pinstrike::actors::runtime {

class TimerBase {
  public:
    TimerBase(const TimerBase&) = delete;
    TimerBase& operator=(const TimerBase&) = delete;

    /// Once, so long after the time of this step. What was set before is forgotten.
    void after(std::int64_t delay_ns) noexcept { set(delay_ns, 0); }

    /// Each `period_ns`, for the first time in `period_ns`.
    void every(std::int64_t period_ns) noexcept { set(period_ns, period_ns); }

    /// Nothing more is told, not even what is due already.
    void cancel() noexcept;

  protected:
    explicit TimerBase(Actor* owner) : owner_(*owner) { ++owner_.timers_count_; }

    virtual ~TimerBase() { cancel(); }

  private:
    friend class Actor;
    friend class Core;
    static constexpr std::size_t nowhere = ~std::size_t{0};

    virtual void tell() = 0;
    void set(std::int64_t delay_ns, std::int64_t period_ns) noexcept;
    void fire(std::int64_t now_ns) noexcept;

    Actor& owner_;
    std::int64_t due_ns_ = 0;
    std::int64_t period_ns_ = 0;
    std::size_t place_ = nowhere;  ///< in the core's heap
    TimerBase* next_due_ = nullptr;
    bool in_due_ = false;  ///< in its actor's list
    bool told_ = true;     ///< false: to be told from there
};

template <class T>
class Timer final : public TimerBase {
  public:
    template <class A>
    explicit Timer(A* owner, T message = {})
        : TimerBase(owner),
          message_(std::move(message)),
          tell_([](Actor& actor, T& copy) { static_cast<A&>(actor).on(copy); }),
          actor_(*owner) {}

  private:
    void tell() override {
        T copy = message_;
        tell_(actor_, copy);
    }

    T message_;
    void (*tell_)(Actor&, T&);
    Actor& actor_;
};

}  // namespace pinstrike::actors::runtime
