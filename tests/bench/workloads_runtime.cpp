#include "actors/runtime/executor_thread.h"
#include "tests/bench/measure.h"
#include "tests/bench/workloads.h"

#include <sched.h>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace pinstrike::bench {
namespace {

using namespace actors::runtime;
using Clock = std::chrono::steady_clock;

constexpr unsigned spins = 20'000;

/// Messages that one call of the sender's handler sends to each actor. A mailbox may exceed its
/// bound by as many.
constexpr int rows = 16;

double seconds_since(Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

void stay_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

Bounds bounds_of(const Cell& cell) {
    return cell.bound != 0
               ? Bounds{.most = cell.bound, .when_full = WhenFull::wait, .overflow = rows}
               : Bounds::of_memory(2 * cell.each * sizeof(std::uint64_t));
}

template <class Work>
class Handler : public MailboxActor {
  public:
    Handler(const Cell& cell, std::latch& done)
        : numbers(this, bounds_of(cell)), last_(cell.each), done_(done) {}

    Mailbox<std::uint64_t> numbers;

    void on(std::uint64_t& number) {
        work_.run(number);
        if (number == last_) {
            done_.count_down();
        }
    }

    [[nodiscard]] const Work& work() const { return work_; }

  private:
    Work work_;
    std::uint64_t last_;
    std::latch& done_;
};

/// Sends to all actors in turn, `rows` messages to each in one step of its executor.
class Feeder : public MailboxActor {
  public:
    explicit Feeder(std::uint64_t each) : each_(each) {}

    std::vector<Sender<std::uint64_t>> to;
    Timer<int> again{this};

    void on_start() override { again.every(1); }

    void on(int&) {
        for (int row = 0; row < rows && sent_ < each_; ++row) {
            ++sent_;
            for (auto& sender : to) {
                must(sender.send(sent_) == Sent::sent, "a message was refused");
            }
        }
        if (sent_ == each_) {
            again.cancel();
        }
    }

    [[nodiscard]] bool done() const { return sent_ == each_; }

    [[nodiscard]] std::uint64_t refused() const {
        std::uint64_t refused = 0;
        for (const auto& sender : to) {
            refused += sender.refused();
        }
        return refused;
    }

  private:
    std::uint64_t each_;
    std::uint64_t sent_ = 0;
};

template <class Work>
Outcome from_a_thread(const Cell& cell) {
    std::latch done{1};
    Executor executor;
    auto& handler = executor.add<Handler<Work>>(cell, done);
    auto sender = handler.numbers.sender();
    stay_on(0);
    Clock::time_point begun;
    double seconds = 0;
    {
        const ExecutorThread thread{executor, {.cpu = 1, .spins = spins}};
        begun = Clock::now();
        for (std::uint64_t i = 1; i <= cell.each; ++i) {
            must(sender.send(i) == Sent::sent, "a message was refused");
        }
        sender.flush();
        done.wait();
        seconds = seconds_since(begun);
    }
    must_be_whole(handler.work(), cell);
    return {seconds, sender.refused()};
}

template <class Work>
Outcome from_an_actor(const Cell& cell) {
    std::latch done{static_cast<std::ptrdiff_t>(cell.actors)};
    Executor here;
    Executor there;
    auto& feeder = here.add<Feeder>(cell.each);
    std::vector<Handler<Work>*> handlers;
    for (std::size_t i = 0; i < cell.actors; ++i) {
        Executor& executor = i < cell.beside_sender ? here : there;
        handlers.push_back(&executor.add<Handler<Work>>(cell, done));
        feeder.to.push_back(handlers.back()->numbers.sender(feeder));
    }
    const auto begun = Clock::now();
    double seconds = 0;
    {
        const ExecutorThread other{there, {.cpu = 1, .spins = spins}};
        const ExecutorThread one{here, {.cpu = 0, .spins = spins}};
        done.wait();
        seconds = seconds_since(begun);
    }
    for (const auto* handler : handlers) {
        must_be_whole(handler->work(), cell);
    }
    return {seconds, feeder.refused()};
}

}  // namespace

template <class Work>
Outcome work_alone(const Cell& cell) {
    static_cast<void>(total_of<Work>(cell.each));
    std::vector<std::unique_ptr<Work>> works(cell.actors);
    for (auto& work : works) {
        work = std::make_unique<Work>();
    }
    const auto run = [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i) {
            for (std::uint64_t number = 1; number <= cell.each; ++number) {
                works[i]->run(number);
            }
        }
    };
    const std::size_t half = (cell.actors + 1) / 2;
    const auto begun = Clock::now();
    std::thread other;
    if (cell.actors != 1) {
        other = std::thread{[&] {
            stay_on(1);
            run(half, cell.actors);
        }};
    }
    stay_on(0);
    run(0, half);
    if (other.joinable()) {
        other.join();
    }
    const double seconds = seconds_since(begun);
    must_be_whole(*works.back(), cell);
    return {seconds, 0};
}

/// If mailboxes are bounded, they are emptied after each call of the sender, outside the measured
/// time. The sender then writes the same memory again and again, as it does if the actors keep up
/// with it.
Outcome sender_alone(const Cell& cell) {
    std::latch done{static_cast<std::ptrdiff_t>(cell.actors)};
    Executor here;
    Executor there;
    auto& feeder = here.add<Feeder>(cell.each);
    for (std::size_t i = 0; i < cell.actors; ++i) {
        auto& handler = there.add<Handler<Sum100>>(cell, done);
        feeder.to.push_back(handler.numbers.sender(feeder));
    }
    double seconds = 0;
    for (std::int64_t now_ns = 1; !feeder.done(); ++now_ns) {
        const auto begun = Clock::now();
        here.step(now_ns);
        seconds += seconds_since(begun);
        if (cell.bound != 0) {
            there.drain(now_ns);
        }
    }
    return {seconds, feeder.refused()};
}

template <class Work>
Outcome pinstrike_actors(const Cell& cell) {
    return cell.actors == 1 ? from_a_thread<Work>(cell) : from_an_actor<Work>(cell);
}

template Outcome work_alone<Sum100>(const Cell&);
template Outcome work_alone<Sum1000>(const Cell&);
template Outcome work_alone<Sha512>(const Cell&);
template Outcome pinstrike_actors<Sum100>(const Cell&);
template Outcome pinstrike_actors<Sum1000>(const Cell&);
template Outcome pinstrike_actors<Sha512>(const Cell&);

}  // namespace pinstrike::bench
