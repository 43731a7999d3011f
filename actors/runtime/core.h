// path: hot
//
// A Core runs actors: those that have something to do stand in a queue, and a step calls each of
// them once, with at most so many messages of each sender. One thread calls step(); which thread,
// and whether it spins or sleeps, is decided elsewhere (core_thread.h). Time is given, so that a
// test may step several cores in any order, in one thread, at any time it likes.
//
// An actor that has found nothing for `linger` steps in a row falls asleep: it leaves the queue,
// and whoever sends to it puts it on the ready list (bell.h). Meanwhile it costs the core nothing.
// Until then it is polled, which is cheaper for both sides than to ring at each message.
//
// The core itself sleeps in park(), when nothing is in the queue nor on the ready list; who puts an
// actor on the list wakes it (parking.h).
//
// A core outlives the threads that send to its actors. Cores whose actors send to each other are
// destroyed when no thread steps any of them.
#pragma once

#include "actors/runtime/actor.h"
#include "actors/runtime/mailbox.h"
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

struct CoreOptions {
    std::size_t budget = 256;  ///< messages of each sender that an actor takes in a step
    unsigned linger = 100;     ///< steps in which an actor finds nothing before it sleeps
    /// One clock for all cores that send to each other (steady_ns of core_thread.h); null: actors
    /// are not measured. Measured ones take 9 KiB more each.
    std::int64_t (*clock_ns)() = nullptr;
};

/// Is this thread inside the step of some core?
[[nodiscard]] bool inside_a_step() noexcept;

class Core {
  public:
    explicit Core(CoreOptions options = {});
    ~Core();
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    /// Before the core is stepped, or from one of its handlers. The actor lives as long as the
    /// core.
    template <class A, class... Args>
    A& add(Args&&... args);

    /// Calls each actor that has something to do. Messages and timers handled.
    std::size_t step(std::int64_t now_ns);

    /// Steps at one time until no actor has anything to do; those that wait for others' room sleep.
    std::size_t drain(std::int64_t now_ns);

    /// Is an actor in the queue, or on its way there? Timers are not asked.
    [[nodiscard]] bool has_work() const noexcept {
        return run_first_ != nullptr || !ready_.empty();
    }

    /// When the first timer is due; far away if there is none.
    [[nodiscard]] std::int64_t next_timer_ns() const noexcept {
        return timers_.empty() ? std::numeric_limits<std::int64_t>::max() : timers_[0]->due_ns_;
    }

    /// The thread that steps sleeps: until an actor has something to do, a timer is due, or
    /// somebody calls wake(). `or_else` is asked before, too.
    template <class OrElse>
    void park(std::int64_t now_ns, OrElse&& or_else) noexcept {
        if (const std::int64_t left_ns = next_timer_ns() - now_ns; left_ns > 0) {
            parking_.park([&] { return has_work() || or_else(); }, std::min(left_ns, park_most_ns));
        }
    }

    /// Any thread, after it has made visible what the core's thread is to see.
    void wake() noexcept { parking_.wake(); }

    /// Ends all actors, in the order in which they were added. No thread steps the core.
    void stop_all() noexcept;

    // Figures.
    [[nodiscard]] const Counter& handled() const noexcept { return handled_; }

    [[nodiscard]] const Counter& sleeps() const noexcept { return parking_.sleeps(); }

    [[nodiscard]] std::int64_t now_ns() const noexcept { return now_ns_; }

  private:
    friend class Actor;
    friend class LaneBase;
    friend class TimerBase;

    static constexpr std::int64_t park_most_ns = 3'600'000'000'000;

    void adopt(std::unique_ptr<Actor> actor);
    void make_ready(Actor& actor) noexcept;
    void admit_ready() noexcept;
    void activate(Actor& actor, std::size_t& handled) noexcept;
    void settle(Actor& actor, bool did_something) noexcept;
    void queue(Actor& actor) noexcept;
    void run_timers() noexcept;
    void insert(TimerBase& timer) noexcept;
    void remove(TimerBase& timer) noexcept;
    void sift(std::size_t place) noexcept;

    CoreOptions options_;
    PushStack<Actor> ready_;  ///< any thread
    Parking parking_;
    Counter handled_;
    // From here on the core's thread alone.
    Actor* run_first_ = nullptr;
    Actor* run_last_ = nullptr;
    std::int64_t now_ns_ = 0;
    std::size_t timers_known_ = 0;
    std::vector<TimerBase*> timers_;  ///< a heap, earliest first; has room for all
    std::vector<std::unique_ptr<Actor>> actors_;
};

inline std::int64_t Actor::now_ns() const noexcept {
    return core_->now_ns_;
}

// --- cold ---

template <class A, class... Args>
A& Core::add(Args&&... args) {
    auto made = std::make_unique<A>(std::forward<Args>(args)...);
    A& actor = *made;
    adopt(std::move(made));
    return actor;
}

}  // namespace pinstrike::actors::runtime
