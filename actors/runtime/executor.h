// path: mixed, cold: add()
//
// An Executor runs actors. Actors with work are in a queue, and each step calls every one of them
// once, with a limited number of messages per sender. One thread calls step(). executor_thread.h
// decides which thread that is, and whether it spins or sleeps. The caller passes the time, so a
// test can step several executors in any order, on one thread, at any time.
//
// An actor that finds no message in `linger` consecutive steps goes to sleep: it leaves the queue
// and costs the executor nothing. A sender then puts it on the ready list (bell.h). Before that the
// executor polls it, which costs both sides less than a wake-up per message.
//
// The executor itself sleeps in park() while the queue and the ready list are empty. A thread that
// puts an actor on the list wakes the executor (parking.h).
//
// An executor must outlive the threads that send to its actors. If actors of several executors send
// to each other, these executors may only be destroyed while no thread steps any of them.
#pragma once

#include "actors/runtime/mailbox.h"
#include "actors/runtime/mailbox_actor.h"
#include "actors/runtime/timer.h"
#include "actors/threads/parking.h"
#include "config/counter.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace pinstrike::actors::runtime {

struct ExecutorOptions {
    std::size_t budget = 256;  ///< messages per sender that an actor takes in a step
    unsigned linger = 100;     ///< steps without messages before an actor sleeps
    /// The clock, the same for all executors that send to each other (steady_ns of
    /// executor_thread.h); null: actors are not measured. A measured actor takes 9 KiB more.
    std::int64_t (*clock_ns)() = nullptr;
};

/// Whether this thread is in the step of an executor.
[[nodiscard]] bool inside_a_step() noexcept;

class Executor {
  public:
    explicit Executor(ExecutorOptions options = {}) : options_(options) {}

    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Adds an actor, which lives as long as the executor. Called before the executor is stepped,
    /// or in one of its handlers.
    template <class A, class... Args>
    A& add(Args&&... args);

    /// Calls each actor with work once. Returns the number of messages and timers handled.
    std::size_t step(std::int64_t now_ns);

    /// Steps at one time until no actor has work. Actors that wait for room in mailboxes of other
    /// actors go to sleep.
    std::size_t drain(std::int64_t now_ns);

    /// Whether an actor is in the queue or on the ready list. Does not consider timers.
    [[nodiscard]] bool has_work() const noexcept {
        return run_first_ != nullptr || !ready_.empty();
    }

    /// The time at which the first timer is due; the maximum if there is none.
    [[nodiscard]] std::int64_t next_timer_ns() const noexcept {
        return timers_.empty() ? std::numeric_limits<std::int64_t>::max() : timers_[0]->due_ns_;
    }

    /// Called by the thread that steps. Sleeps until an actor has work, a timer is due, or a thread
    /// calls wake(). Does not sleep if `or_else()` returns true.
    template <class OrElse>
    void park(std::int64_t now_ns, OrElse&& or_else) noexcept {
        if (const std::int64_t left_ns = next_timer_ns() - now_ns; left_ns > 0) {
            parking_.park([&] { return has_work() || or_else(); }, std::min(left_ns, park_most_ns));
        }
    }

    /// Wakes the executor's thread. May be called by any thread, after what the executor's thread
    /// must see is visible.
    void wake() noexcept { parking_.wake(); }

    /// Ends all actors, in the order in which they were added. No thread may step the executor.
    void stop_all() noexcept;

    // Figures.
    [[nodiscard]] const Counter& handled() const noexcept { return handled_; }

    [[nodiscard]] const Counter& sleeps() const noexcept { return parking_.sleeps(); }

    [[nodiscard]] std::int64_t now_ns() const noexcept { return now_ns_; }

  private:
    friend class MailboxActor;
    friend class LaneBase;
    friend class TimerBase;

    static constexpr std::int64_t park_most_ns = 3'600'000'000'000;

    void adopt(std::unique_ptr<MailboxActor> actor);
    void make_ready(MailboxActor& actor) noexcept;
    void admit_ready() noexcept;
    void activate(MailboxActor& actor, std::size_t& handled) noexcept;
    void reschedule(MailboxActor& actor, bool did_something) noexcept;
    void queue(MailboxActor& actor) noexcept;
    void run_timers() noexcept;
    void insert(TimerBase& timer) noexcept;
    void remove(TimerBase& timer) noexcept;
    void sift(std::size_t place) noexcept;

    ExecutorOptions options_;
    PushStack<MailboxActor> ready_;  ///< pushed by any thread
    Parking parking_;
    Counter handled_;
    // Used only by the executor's thread from here on.
    MailboxActor* run_first_ = nullptr;
    MailboxActor* run_last_ = nullptr;
    std::int64_t now_ns_ = 0;
    std::size_t timers_known_ = 0;
    std::vector<TimerBase*> timers_;  ///< a heap, earliest first; reserved for all timers
    std::vector<std::unique_ptr<MailboxActor>> actors_;
};

inline std::int64_t MailboxActor::now_ns() const noexcept {
    return executor_->now_ns_;
}

// --- cold ---

template <class A, class... Args>
A& Executor::add(Args&&... args) {
    auto made = std::make_unique<A>(std::forward<Args>(args)...);
    A& actor = *made;
    adopt(std::move(made));
    return actor;
}

}  // namespace pinstrike::actors::runtime
