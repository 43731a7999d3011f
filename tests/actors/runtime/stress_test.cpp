// Threads with the shortest possible waits, so that actors often fall asleep and are woken in each
// way. After a lost wake-up the test hangs, because nothing else wakes the actors in time.
#include "actors/runtime/executor_thread.h"
#include "actors/runtime/fan.h"
#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace pinstrike::actors::runtime {
namespace {

const ExecutorThreadOptions sleepy{.spins = 0};

/// Waits for an actor on another thread, without a timeout of its own.
template <class Done>
void wait_until(Done&& done) {
    while (!done()) {
        std::this_thread::yield();
    }
}

class CountingActor : public MailboxActor {
  public:
    explicit CountingActor(Bounds bounds) : items(this, bounds) {}

    Mailbox<Item> items;

    void on(Item& item) {
        in_order = in_order && item.number == next[item.from];
        next[item.from] = item.number + 1;
        count.add();
    }

    std::array<std::uint32_t, 4> next{};
    bool in_order = true;
    Counter count;
};

/// Counts how often it received each piece of work.
class CountedWork : public MailboxActor {
  public:
    CountedWork(Bounds bounds, std::size_t pieces) : items(this, bounds), times(pieces) {}

    Mailbox<Item> items;

    void on(Item& item) {
        ++times[item.number];
        count.add();
    }

    std::vector<int> times;
    Counter count;
};

/// Reports the processor of its thread.
class Placed : public MailboxActor {
  public:
    Mailbox<Item> items{this};

    void on(Item& /*item*/) {
        cpu_set_t set;
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof(set), &set);
        allowed.set(static_cast<std::uint64_t>(CPU_COUNT(&set)));
        cpu.set(static_cast<std::uint64_t>(sched_getcpu()));
        heard.add();
    }

    Counter allowed;
    Counter cpu;
    Counter heard;
};

TEST(RuntimeThreads, stay_on_their_processor_however_they_wait) {
    const int last = static_cast<int>(std::thread::hardware_concurrency()) - 1;
    for (const unsigned spins : {0U, 100U, ExecutorThreadOptions::never}) {
        SCOPED_TRACE(spins);
        Executor executor{asleep_at_once};
        auto& actor = executor.add<Placed>();
        auto to = actor.items.sender();
        const ExecutorThread thread{executor, {.cpu = last, .spins = spins}};
        for (std::uint64_t i = 1; i <= 20; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it may fall asleep
            ASSERT_EQ(to.send({}), Sent::sent);
            to.flush();
            wait_until([&] { return actor.heard.read() == i; });
        }
        EXPECT_EQ(actor.allowed.read(), 1U);
        EXPECT_EQ(actor.cpu.read(), static_cast<std::uint64_t>(last));
    }
}

TEST(RuntimeThreads, sleep_between_messages_unless_they_are_to_spin) {
    constexpr std::uint64_t messages = 100;
    const auto sleeps_with = [](unsigned spins) {
        Executor executor{asleep_at_once};
        auto& actor = executor.add<Placed>();
        auto to = actor.items.sender();
        const ExecutorThread thread{executor, {.spins = spins}};
        const std::uint64_t parked = executor.sleeps().read();
        for (std::uint64_t i = 1; i <= messages; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            EXPECT_EQ(to.send({}), Sent::sent);
            to.flush();
            wait_until([&] { return actor.heard.read() == i; });
        }
        return executor.sleeps().read() - parked;
    };
    EXPECT_GT(sleeps_with(0), messages / 2);
    EXPECT_GT(sleeps_with(100), messages / 2);
    EXPECT_EQ(sleeps_with(ExecutorThreadOptions::never), 0U);
}

TEST(RuntimeStress, threads_that_wait_for_room_lose_nothing) {
    constexpr std::uint32_t each = 50'000;
    Executor executor{asleep_at_once};
    auto& actor = executor.add<CountingActor>(Bounds{.most = 3, .when_full = WhenFull::wait});
    {
        const ExecutorThread thread{executor, sleepy};
        std::vector<std::thread> senders;
        for (std::uint32_t from = 0; from < 3; ++from) {
            senders.emplace_back([&actor, from] {
                auto to = actor.items.sender();
                for (std::uint32_t i = 0; i < each; ++i) {
                    ASSERT_EQ(to.send({from, i}), Sent::sent);
                }
            });
        }
        for (auto& sender : senders) {
            sender.join();
        }
        wait_until([&] { return actor.count.read() == std::uint64_t{3} * each; });
    }
    EXPECT_TRUE(actor.in_order);
    EXPECT_GT(executor.sleeps().read(), 0U);
}

/// Passes each item on.
class Passer : public MailboxActor {
  public:
    explicit Passer(Bounds bounds) : items(this, bounds) {}

    Mailbox<Item> items;

    void on(Item& item) {
        refused += out.send(item) == Sent::sent ? 0 : 1;
        count.add();
    }

    Sender<Item> out;
    std::uint64_t refused = 0;
    Counter count;
};

/// A chain of actors that alternates between two executors. Each mailbox holds two messages, so
/// actors are suspended and resumed at nearly each message.
TEST(RuntimeStress, a_chain_of_waiting_actors_passes_everything_on) {
    constexpr std::uint32_t count = 50'000;
    constexpr Bounds two{.most = 2, .when_full = WhenFull::wait, .overflow = 1};
    Executor here{asleep_at_once};
    Executor there{asleep_at_once};
    auto& a = here.add<Passer>(two);
    auto& b = there.add<Passer>(two);
    auto& c = here.add<Passer>(two);
    auto& last = there.add<CountingActor>(two);
    a.out = b.items.sender(a);
    b.out = c.items.sender(b);
    c.out = last.items.sender(c);
    {
        const ExecutorThread one{here, sleepy};
        const ExecutorThread other{there, sleepy};
        auto to = a.items.sender();
        for (std::uint32_t i = 0; i < count; ++i) {
            ASSERT_EQ(to.send({0, i}), Sent::sent);
        }
        to.flush();
        wait_until([&] { return last.count.read() == count; });
    }
    EXPECT_TRUE(last.in_order);
    EXPECT_EQ(a.refused + b.refused + c.refused, 0U);
}

/// Actors end while threads send to them: each message is refused, handled, or counted as dropped.
TEST(RuntimeStress, the_account_of_an_end_balances) {
    for (int round = 0; round < 300; ++round) {
        Executor executor{asleep_at_once};
        auto& actor = executor.add<CountingActor>(Bounds{.most = 5, .when_full = WhenFull::wait});
        std::atomic<std::uint64_t> sent{0};
        {
            const ExecutorThread thread{executor, sleepy};
            std::vector<std::thread> senders;
            for (std::uint32_t from = 0; from < 2; ++from) {
                senders.emplace_back([&actor, &sent, from] {
                    auto to = actor.items.sender();
                    std::uint32_t i = 0;
                    while (to.send({from, i}) == Sent::sent) {
                        ++i;
                    }
                    sent += i;
                });
            }
            wait_until([&] { return actor.count.read() > 20; });
            actor.stop();
            for (auto& sender : senders) {
                sender.join();
            }
        }
        EXPECT_TRUE(actor.ended() && actor.in_order);
        EXPECT_EQ(sent.load(), actor.count.read() + actor.items.dropped());
    }
}

class Ticking : public MailboxActor {
  public:
    Timer<int> tick{this};

    void on(int&) { ticks.add(); }

    void on_start() override { tick.every(100'000); }

    Counter ticks;
};

TEST(RuntimeStress, a_core_that_sleeps_wakes_for_its_timers) {
    Executor executor{asleep_at_once};
    auto& ticking = executor.add<Ticking>();
    {
        const ExecutorThread thread{executor, sleepy};
        // A thread that did not run for long has several ticks due, and does not sleep before them.
        wait_until([&] { return ticking.ticks.read() >= 20 && executor.sleeps().read() != 0; });
    }
}

TEST(RuntimeThreads, workers_on_two_cores_do_each_piece_of_work_once) {
    constexpr std::uint32_t messages = 60'000;
    Executor one{asleep_at_once};
    Executor two{asleep_at_once};
    constexpr Bounds waiting{.most = 8, .when_full = WhenFull::wait};
    const std::array<CountedWork*, 3> team{&one.add<CountedWork>(waiting, messages),
                                           &two.add<CountedWork>(waiting, messages),
                                           &two.add<CountedWork>(waiting, messages)};
    Workers<Item> workers;
    for (CountedWork* worker : team) {
        workers.add(worker->items.sender());
    }
    {
        const ExecutorThread first{one, sleepy};
        const ExecutorThread second{two, sleepy};
        for (std::uint32_t i = 0; i < messages; ++i) {
            ASSERT_EQ(workers.send({0, i}), Sent::sent);
        }
        workers.flush();
        wait_until([&] {
            return team[0]->count.read() + team[1]->count.read() + team[2]->count.read() ==
                   messages;
        });
    }
    for (std::uint32_t i = 0; i < messages; ++i) {
        ASSERT_EQ(team[0]->times[i] + team[1]->times[i] + team[2]->times[i], 1) << i;
    }
}

}  // namespace
}  // namespace pinstrike::actors::runtime
