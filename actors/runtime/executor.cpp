// path: mixed, cold: adopt(), drain(), stop_all()
#include "actors/runtime/executor.h"

#include "config/check.h"

namespace pinstrike::actors::runtime {

namespace {

thread_local const Executor* stepping = nullptr;

}  // namespace

bool inside_a_step() noexcept {
#ifdef PINSTRIKE_HOOKS
    if (weave_point != nullptr) {
        return false;  // all threads of a weave test run on one thread
    }
#endif
    return stepping != nullptr;
}

std::size_t Executor::step(std::int64_t now_ns) {
    const Executor* outer = std::exchange(stepping, this);
    now_ns_ = now_ns;
    admit_ready();
    run_timers();
    std::size_t handled = 0;
    MailboxActor* const last =
        run_last_;  // actors that are queued meanwhile wait for the next step
    for (bool more = run_first_ != nullptr; more;) {
        MailboxActor& actor = *run_first_;
        run_first_ = actor.next_run_;
        if (run_first_ == nullptr) {
            run_last_ = nullptr;
        }
        more = &actor != last;
        const std::size_t before = handled;
        activate(actor, handled);
        reschedule(actor, handled != before);
    }
    handled_.add(handled);
    stepping = outer;
    return handled;
}

/// Activates an actor. If actors are measured, times one in sample_every of the activations that
/// found a message.
void Executor::activate(MailboxActor& actor, std::size_t& handled) noexcept {
    ActorMeasurements* figures = actor.figures_.get();
    if (figures == nullptr) {
        actor.activate(options_.budget, handled);
        return;
    }
    const std::size_t before = handled;
    const bool sampled = actor.until_sample_ == 0;
    const std::int64_t begun_ns = sampled ? options_.clock_ns() : 0;
    actor.activate(options_.budget, handled);
    const std::size_t count = handled - before;
    if (count == 0) {
        return;
    }
    figures->handled.add(count);
    if (!sampled) {
        --actor.until_sample_;
        return;
    }
    const std::int64_t took_ns = options_.clock_ns() - begun_ns;
    figures->service_ns.record(took_ns / static_cast<std::int64_t>(count), count);
    figures->backlog.set(actor.backlog());
    actor.until_sample_ = ActorMeasurements::sample_every - 1;
}

/// After an activation: puts the actor into the queue again, to sleep, or ends it.
void Executor::reschedule(MailboxActor& actor, bool did_something) noexcept {
    if (actor.finishing_) [[unlikely]] {
        actor.end();
        return;
    }
    actor.dry_ = did_something ? 0 : actor.dry_ + 1;
    if (actor.dry_ <= options_.linger) {
        queue(actor);
        return;
    }
    actor.dry_ = 0;
    if (actor.figures_ != nullptr) {
        actor.figures_->backlog.set(actor.backlog());
    }
    actor.want_room();
    actor.bell_.arm();
    // If there is work after all, the side that disarms the bell puts the actor into the queue.
    if (actor.could_run() && actor.bell_.disarm()) {
        queue(actor);
    }
}

void Executor::queue(MailboxActor& actor) noexcept {
    actor.next_run_ = nullptr;
    (run_last_ == nullptr ? run_first_ : run_last_->next_run_) = &actor;
    run_last_ = &actor;
}

void Executor::admit_ready() noexcept {
    MailboxActor* actor = ready_.pop_all();
    while (actor != nullptr) {
        MailboxActor* next = actor->below;
        queue(*actor);
        actor = next;
    }
}

void Executor::make_ready(MailboxActor& actor) noexcept {
    ready_.push(actor);
    parking_.wake();
}

void Executor::run_timers() noexcept {
    while (!timers_.empty() && timers_[0]->due_ns_ <= now_ns_) {
        TimerBase& timer = *timers_[0];
        timer.fire(now_ns_);
        // An actor that is not asleep is in the queue or on the ready list.
        if (timer.owner_.bell_.disarm()) {
            queue(timer.owner_);
        }
    }
}

/// Puts the timer into its actor's list of due timers. Sets a periodic timer to its next time, and
/// removes another one from the heap.
void TimerBase::fire(std::int64_t now_ns) noexcept {
    Executor& executor = *owner_.executor_;
    executor.remove(*this);
    if (owner_.ended()) {
        return;
    }
    if (period_ns_ != 0) {
        due_ns_ += ((now_ns - due_ns_) / period_ns_ + 1) * period_ns_;
        executor.insert(*this);
    }
    handled_ = false;
    if (!in_due_) {
        in_due_ = true;
        next_due_ = nullptr;
        (owner_.due_ == nullptr ? owner_.due_ : owner_.due_last_->next_due_) = this;
        owner_.due_last_ = this;
    }
}

void TimerBase::set(std::int64_t delay_ns, std::int64_t period_ns) noexcept {
    PINSTRIKE_CHECK(owner_.executor_ != nullptr);  // set timers in on_start, not in a constructor
    PINSTRIKE_CHECK(delay_ns >= 0 && period_ns >= 0);
    cancel();
    due_ns_ = owner_.executor_->now_ns_ + delay_ns;
    period_ns_ = period_ns;
    owner_.executor_->insert(*this);
}

void TimerBase::cancel() noexcept {
    handled_ = true;
    if (place_ != nowhere) {
        owner_.executor_->remove(*this);
    }
}

void Executor::insert(TimerBase& timer) noexcept {
    PINSTRIKE_CHECK(timers_.size() < timers_.capacity());
    timer.place_ = timers_.size();
    timers_.push_back(&timer);  // tidy: allowed: adopt() has reserved room for all
    sift(timer.place_);
}

void Executor::remove(TimerBase& timer) noexcept {
    const std::size_t place = std::exchange(timer.place_, TimerBase::nowhere);
    TimerBase* last = timers_.back();
    timers_.pop_back();
    if (last != &timer) {
        timers_[place] = last;
        last->place_ = place;
        sift(place);
    }
}

/// Moves the timer at `place` up or down to its position in the heap.
void Executor::sift(std::size_t place) noexcept {
    const auto earlier = [this](std::size_t a, std::size_t b) {
        return timers_[a]->due_ns_ < timers_[b]->due_ns_;
    };
    const auto swap = [this](std::size_t a, std::size_t b) {
        std::swap(timers_[a], timers_[b]);
        std::swap(timers_[a]->place_, timers_[b]->place_);
    };
    while (place != 0 && earlier(place, (place - 1) / 2)) {
        swap(place, (place - 1) / 2);
        place = (place - 1) / 2;
    }
    for (;;) {
        std::size_t least = place;
        for (const std::size_t child : {2 * place + 1, 2 * place + 2}) {
            least = child < timers_.size() && earlier(child, least) ? child : least;
        }
        if (least == place) {
            return;
        }
        swap(place, least);
        place = least;
    }
}

// --- cold ---

void Executor::adopt(std::unique_ptr<MailboxActor> actor) {
    actor->executor_ = this;
    if (options_.clock_ns != nullptr) {
        actor->figures_ = std::make_unique<ActorMeasurements>();
    }
    timers_known_ += actor->timers_count_;
    timers_.reserve(timers_known_);
    queue(*actor);
    actors_.push_back(std::move(actor));
}

std::size_t Executor::drain(std::int64_t now_ns) {
    std::size_t handled = 0;
    do {
        handled += step(now_ns);
    } while (has_work());
    return handled;
}

void Executor::stop_all() noexcept {
    const Executor* outer = std::exchange(stepping, this);
    for (const auto& actor : actors_) {
        if (!actor->ended()) {
            actor->end();
        }
    }
    admit_ready();
    run_first_ = run_last_ = nullptr;
    stepping = outer;
}

}  // namespace pinstrike::actors::runtime
