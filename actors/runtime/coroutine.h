// path: hot
//
// An actor that is written as one function (a coroutine). The function awaits messages in a loop,
// and the actor's state is in its local variables.
//
//     class Summer : public Script<Number> {
//         Coroutine body() override {
//             for (;;) { sum += (co_await next()).value; }
//         }
//     };
//
// A message belongs to the coroutine until it awaits the next one. The actor ends when the
// coroutine returns, and fails if it throws. g++ 12 mistranslates an await in the condition of a
// loop, so an await must be a statement of its own. Compared with a handler it costs one indirect
// jump per message, and one allocation at the start.
#pragma once

#include "actors/runtime/mailbox.h"
#include "actors/runtime/mailbox_actor.h"

#include <coroutine>
#include <exception>
#include <utility>

namespace pinstrike::actors::runtime {

/// The return type of the coroutine: it owns the coroutine's frame.
class Coroutine {
  public:
    struct promise_type {
        Coroutine get_return_object() { return Coroutine{Handle::from_promise(*this)}; }

        std::suspend_always initial_suspend() noexcept { return {}; }

        std::suspend_always final_suspend() noexcept { return {}; }

        void return_void() noexcept {}

        void unhandled_exception() { std::rethrow_exception(std::current_exception()); }
    };

    using Handle = std::coroutine_handle<promise_type>;

    Coroutine() = default;

    Coroutine(Coroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

    Coroutine& operator=(Coroutine&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    ~Coroutine() {
        if (handle_) {
            handle_.destroy();
        }
    }

    void resume() const { handle_.resume(); }

    [[nodiscard]] bool done() const noexcept { return handle_.done(); }

  private:
    explicit Coroutine(Handle handle) : handle_(handle) {}

    Handle handle_;
};

template <class T>
class Script : public MailboxActor {
  public:
    explicit Script(Bounds bounds = {}) : inbox(this, bounds) {}

    Mailbox<T> inbox;

    void on(T& message) {
        message_ = &message;
        go_on();
    }

  protected:
    /// Neither an aggregate nor copyable, because g++ 12 loses awaiters that are.
    class Next {
      public:
        explicit Next(Script& script) : script_(&script) {}

        Next(const Next&) = delete;
        Next& operator=(const Next&) = delete;

        [[nodiscard]] bool await_ready() const noexcept { return false; }

        void await_suspend(std::coroutine_handle<>) const noexcept {}

        [[nodiscard]] T& await_resume() const noexcept { return *script_->message_; }

      private:
        Script* script_;
    };

    /// Awaits the next message.
    [[nodiscard]] Next next() noexcept { return Next{*this}; }

    virtual Coroutine body() = 0;

  private:
    void on_start() final {
        body_ = body();
        go_on();
    }

    void go_on() {
        body_.resume();
        if (body_.done()) {
            finish();
        }
    }

    T* message_ = nullptr;
    Coroutine body_;
};

}  // namespace pinstrike::actors::runtime
