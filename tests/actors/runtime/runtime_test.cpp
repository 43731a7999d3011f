// The guarantees of the runtime, in one thread: the test steps the executors.
#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>

namespace pinstrike::actors::runtime {
namespace {

constexpr Bounds waiting_four{.most = 4, .when_full = WhenFull::wait, .overflow = 2};

TEST(Mailbox, comes_in_order_and_after_on_start) {
    Executor executor{asleep_at_once};
    auto& keeper = executor.add<Keeper>();
    auto to = keeper.items.sender();
    for (std::uint32_t i = 0; i < 200; ++i) {
        ASSERT_EQ(to.send({0, i}), Sent::sent);
    }
    EXPECT_FALSE(keeper.started);
    to.flush();
    executor.drain(0);
    EXPECT_TRUE(keeper.started);
    ASSERT_EQ(keeper.kept.size(), 200U);
    for (std::uint32_t i = 0; i < 200; ++i) {
        EXPECT_EQ(keeper.kept[i].number, i);
    }
    EXPECT_EQ(executor.handled().read(), 200U);
    EXPECT_FALSE(executor.has_work()) << "it sleeps";
}

TEST(Mailbox, refuses_exactly_beyond_its_bound) {
    for (const std::size_t most : {1U, 2U, 7U, 100U, 1000U}) {
        Executor executor{asleep_at_once};
        auto& keeper = executor.add<Keeper>(Bounds{.most = most});
        auto to = keeper.items.sender();
        for (int round = 0; round < 5; ++round) {
            for (std::size_t i = 0; i < most; ++i) {
                ASSERT_EQ(to.send({}), Sent::sent) << most;
            }
            EXPECT_EQ(to.send({}), Sent::full) << most;
            executor.drain(0);
        }
        EXPECT_EQ(keeper.kept.size(), 5 * most);
        EXPECT_EQ(to.refused(), 5U);
    }
}

TEST(Mailbox, bounds_each_sender_by_itself) {
    Executor executor{asleep_at_once};
    auto& keeper = executor.add<Keeper>(Bounds{.most = 1});
    auto one = keeper.items.sender();
    auto other = keeper.items.sender();
    EXPECT_EQ(one.send({}), Sent::sent);
    EXPECT_EQ(one.send({}), Sent::full);
    EXPECT_EQ(other.send({}), Sent::sent);
}

TEST(Mailbox, grows_to_its_memory_and_then_refuses) {
    Executor executor{asleep_at_once};
    constexpr std::size_t room = 10'000;
    auto& keeper = executor.add<Keeper>(Bounds::of_memory(room * sizeof(Item)));
    auto to = keeper.items.sender();
    for (std::uint32_t round = 0; round < 3; ++round) {
        for (std::uint32_t i = 0; i < room; ++i) {
            ASSERT_EQ(to.send({round, i}), Sent::sent);
        }
        EXPECT_EQ(to.send({}), Sent::full);
        executor.drain(0);
        ASSERT_EQ(keeper.kept.size(), (round + 1) * room);
        EXPECT_EQ(keeper.kept.back().number, room - 1);
    }
    EXPECT_EQ(to.refused(), 3U);
}

/// Keeps the addresses of its messages.
class PlaceKeeper : public MailboxActor {
  public:
    Mailbox<Item> items{this, Bounds::of_memory(1 << 24)};

    void on(Item& item) { places.insert(&item); }

    std::set<const Item*> places;
};

TEST(Mailbox, recycles_its_chunks) {
    Executor executor{asleep_at_once};
    auto& keeper = executor.add<PlaceKeeper>();
    auto to = keeper.items.sender();
    std::size_t places = 0;
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 3000; ++i) {
            ASSERT_EQ(to.send({}), Sent::sent);
        }
        to.flush();
        executor.drain(0);
        places = round == 10 ? keeper.places.size() : places;
    }
    EXPECT_EQ(keeper.places.size(), places) << "it has seen this depth: no further chunk";
    EXPECT_LT(places, 6000U);
}

/// The receiver has emptied a chunk and waits at its end. Meanwhile the sender reuses and fills
/// that chunk, and must link a new one to it.
TEST(Mailbox, keeps_order_where_the_receiver_stands_at_the_end_of_a_chunk) {
    constexpr std::uint32_t chunk = 1024;
    for (std::uint32_t chunks = 1; chunks <= 5; ++chunks) {
        Executor executor{{.budget = chunk, .linger = 0}};
        auto& keeper = executor.add<Keeper>(Bounds::of_memory(1 << 20));
        auto to = keeper.items.sender();
        std::uint32_t sent = 0;
        const auto send = [&](std::uint32_t count) {
            for (std::uint32_t i = 0; i < count; ++i) {
                ASSERT_EQ(to.send({0, sent++}), Sent::sent);
            }
            to.flush();
        };
        send(chunks * chunk);
        executor.step(0);
        send(2 * chunk);
        executor.drain(0);
        ASSERT_EQ(keeper.kept.size(), sent);
        for (std::uint32_t i = 0; i < sent; ++i) {
            ASSERT_EQ(keeper.kept[i].number, i) << "with " << chunks << " chunks";
        }
    }
}

class Owner : public MailboxActor {
  public:
    Mailbox<std::unique_ptr<int>> gifts{this, {.most = 100}};

    void on(std::unique_ptr<int>& gift) { kept.push_back(std::move(gift)); }

    std::vector<std::unique_ptr<int>> kept;
};

TEST(Mailbox, moves_messages_that_own_something) {
    Executor executor{asleep_at_once};
    auto& owner = executor.add<Owner>();
    auto to = owner.gifts.sender();
    EXPECT_EQ(to.send(std::make_unique<int>(1)), Sent::sent);
    executor.drain(0);
    to.flush();
    executor.drain(0);
    ASSERT_EQ(owner.kept.size(), 1U);
    EXPECT_EQ(*owner.kept[0], 1);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(to.send(std::make_unique<int>(i)), Sent::sent);  // stays; freed with its lane
    }
    auto refused = std::make_unique<int>(3);
    EXPECT_EQ(to.send(std::move(refused)), Sent::full);
    EXPECT_EQ(*refused, 3) << "what is not sent is still the sender's";
}

TEST(Mailbox, takes_senders_that_come_and_go) {
    Executor executor{asleep_at_once};
    auto& keeper = executor.add<Keeper>();
    executor.drain(0);
    for (std::uint32_t i = 0; i < 50; ++i) {
        auto to = keeper.items.sender();
        EXPECT_EQ(to.send({i, 0}), Sent::sent);
        if (i % 3 == 0) {
            executor.drain(0);
        }
    }
    executor.drain(0);
    EXPECT_EQ(keeper.kept.size(), 50U) << "what was sent before the sender went is reported";
}

TEST(Mailbox, no_lane_starves_behind_another) {
    Executor executor{asleep_at_once};
    auto& target = executor.add<Keeper>(Bounds{.most = 1, .when_full = WhenFull::wait});
    auto& relay = executor.add<Keeper>();
    auto out = target.items.sender(relay);
    relay.then = [&](Item& item) { EXPECT_EQ(out.send(item), Sent::sent); };
    auto one = relay.items.sender();
    auto other = relay.items.sender();
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_EQ(one.send({1, i}), Sent::sent);
        EXPECT_EQ(other.send({2, i}), Sent::sent);
    }
    one.flush();
    other.flush();
    for (int i = 0; i < 12; ++i) {
        executor.step(0);
    }
    std::size_t of_other = 0;
    for (const Item& item : relay.kept) {
        of_other += item.from == 2 ? 1 : 0;
    }
    EXPECT_LT(relay.kept.size(), 20U) << "the test waits too long to see anything";
    EXPECT_NEAR(static_cast<double>(of_other), static_cast<double>(relay.kept.size()) / 2, 1.0);
}

class Picky : public Keeper {
  public:
    Mailbox<int> numbers{this, {.most = 2}};

    static bool wants(const int& number) { return number % 2 == 0; }

    using Keeper::on;

    void on(int& number) { even.push_back(number); }

    std::vector<int> even;
};

TEST(Filter, unwanted_messages_take_no_room) {
    Executor executor{asleep_at_once};
    auto& picky = executor.add<Picky>();
    auto to = picky.numbers.sender();
    EXPECT_EQ(to.send(1), Sent::unwanted);
    EXPECT_EQ(to.send(2), Sent::sent);
    EXPECT_EQ(to.send(3), Sent::unwanted);
    EXPECT_EQ(to.send(4), Sent::sent);
    EXPECT_EQ(to.send(6), Sent::full);
    executor.drain(0);
    EXPECT_EQ(picky.even, (std::vector<int>{2, 4}));
}

TEST(BackPressure, a_sender_is_not_called_until_half_the_room_is_back) {
    Executor here{asleep_at_once};
    Executor there{asleep_at_once};
    auto& target = there.add<Keeper>(waiting_four);
    auto& relay = here.add<Keeper>();
    auto& bystander = here.add<Keeper>();
    auto out = target.items.sender(relay);
    relay.then = [&](Item& item) { EXPECT_EQ(out.send(item), Sent::sent); };
    auto to_relay = relay.items.sender();
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_EQ(to_relay.send({0, i}), Sent::sent);
    }
    to_relay.flush();
    here.drain(0);
    EXPECT_EQ(relay.kept.size(), 4U) << "suspended where the target is full";
    auto to_bystander = bystander.items.sender();
    EXPECT_EQ(to_bystander.send({}), Sent::sent);
    to_bystander.flush();
    to_relay.flush();
    here.drain(0);
    EXPECT_EQ(bystander.kept.size(), 1U) << "others of the executor go on";
    EXPECT_FALSE(here.has_work()) << "and the executor may sleep";
    there.drain(0);
    EXPECT_TRUE(here.has_work()) << "room wakes the one who waits for it";
    while (here.has_work() || there.has_work()) {
        here.drain(0);
        there.drain(0);
    }
    EXPECT_EQ(target.kept.size(), 10U);
    EXPECT_EQ(out.refused(), 0U);
}

TEST(BackPressure, overflow_of_one_call_is_bounded) {
    Executor executor{asleep_at_once};
    auto& target = executor.add<Keeper>(waiting_four);
    auto& relay = executor.add<Keeper>();
    auto out = target.items.sender(relay);
    std::vector<Sent> answers;
    relay.then = [&](Item& item) {
        for (int i = 0; i < 8; ++i) {
            answers.push_back(out.send(item));
        }
    };
    auto to_relay = relay.items.sender();
    EXPECT_EQ(to_relay.send({}), Sent::sent);
    to_relay.flush();
    executor.drain(0);
    ASSERT_EQ(answers.size(), 8U);
    EXPECT_EQ(answers[5], Sent::sent) << "four, and two of overflow";
    EXPECT_EQ(answers[6], Sent::full);
    EXPECT_EQ(target.kept.size(), 6U);
}

TEST(BackPressure, a_circle_of_waiting_actors_is_refused) {
    Executor executor{asleep_at_once};
    auto& a = executor.add<Keeper>(waiting_four);
    auto& b = executor.add<Keeper>(waiting_four);
    auto& c = executor.add<Keeper>(waiting_four);
    auto& loose = executor.add<Keeper>();
    auto ab = b.items.sender(a);
    auto bc = c.items.sender(b);
    EXPECT_THROW(static_cast<void>(a.items.sender(a)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(a.items.sender(b)), std::invalid_argument);
    try {
        static_cast<void>(a.items.sender(c));
        ADD_FAILURE() << "a circle of three";
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string{error.what()},
                  "keeper waits for keeper waits for keeper waits for keeper: one of these "
                  "mailboxes must refuse when full");
    }
    auto back = loose.items.sender(c);
    auto forth = a.items.sender(loose);  // refusing mailboxes may close any cycle
}

TEST(BackPressure, one_who_waits_for_an_actor_that_ends_goes_on) {
    Executor here{asleep_at_once};
    Executor there{asleep_at_once};
    auto& target = there.add<Keeper>(waiting_four);
    auto& relay = here.add<Keeper>();
    auto out = target.items.sender(relay);
    std::vector<Sent> answers;
    relay.then = [&](Item& item) { answers.push_back(out.send(item)); };
    auto to_relay = relay.items.sender();
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(to_relay.send({}), Sent::sent);
    }
    to_relay.flush();
    here.drain(0);
    EXPECT_EQ(answers.size(), 4U);
    target.stop();
    there.drain(0);
    here.drain(0);
    ASSERT_EQ(answers.size(), 6U);
    EXPECT_EQ(answers[4], Sent::stopped);
    EXPECT_EQ(target.items.dropped(), 4U);
}

TEST(BackPressureDeathTest, a_step_does_not_wait_as_threads_do) {
    Executor executor{asleep_at_once};
    auto& target = executor.add<Keeper>(Bounds{.most = 1, .when_full = WhenFull::wait});
    auto& wrong = executor.add<Keeper>();
    auto out = target.items.sender();  // of a thread, not of the actor
    wrong.then = [&](Item& item) {
        EXPECT_EQ(out.send(item), Sent::sent);
        EXPECT_EQ(out.send(item), Sent::sent);
    };
    auto to = wrong.items.sender();
    EXPECT_EQ(to.send({}), Sent::sent);
    to.flush();
    EXPECT_DEATH(executor.step(0), "inside_a_step");
}

TEST(Ending, finish_ends_behind_the_handler) {
    Executor executor{asleep_at_once};
    auto& keeper = executor.add<Keeper>();
    auto to = keeper.items.sender();
    keeper.then = [&](Item& item) {
        if (item.number == 1) {
            keeper.finish();
        }
    };
    for (std::uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(to.send({0, i}), Sent::sent);
    }
    to.flush();
    executor.drain(0);
    EXPECT_EQ(keeper.kept.size(), 2U);
    EXPECT_TRUE(keeper.ended() && keeper.stopped && !keeper.failed());
    EXPECT_EQ(keeper.items.dropped(), 3U);
    EXPECT_EQ(to.send({}), Sent::stopped);
    EXPECT_EQ(to.refused(), 1U);
    EXPECT_EQ(keeper.items.sender().send({}), Sent::stopped) << "a new sender hears it, too";
    keeper.stop();
    executor.drain(0);
    EXPECT_FALSE(executor.has_work());
}

TEST(Ending, a_stopped_actor_that_waits_for_room_ends) {
    Executor executor{asleep_at_once};
    Executor never_stepped{asleep_at_once};
    auto& target = never_stepped.add<Keeper>(Bounds{.most = 1, .when_full = WhenFull::wait});
    auto& relay = executor.add<Keeper>();
    auto out = target.items.sender(relay);
    relay.then = [&](Item& item) { EXPECT_EQ(out.send(item), Sent::sent); };
    auto to = relay.items.sender();
    EXPECT_EQ(to.send({}), Sent::sent);
    to.flush();
    executor.drain(0);
    relay.stop();
    executor.drain(0);
    EXPECT_TRUE(relay.ended());
}

TEST(Ending, stop_all_ends_each_and_calls_on_stop_once_started) {
    Executor executor{asleep_at_once};
    auto& one = executor.add<Keeper>();
    executor.drain(0);
    auto& never_started = executor.add<Keeper>();
    executor.stop_all();
    EXPECT_TRUE(one.ended() && one.stopped);
    EXPECT_TRUE(never_started.ended() && !never_started.stopped);
    EXPECT_FALSE(executor.has_work());
}

struct Tick {};

class Clockwork : public Keeper {
  public:
    using Keeper::Keeper;
    using Keeper::on;

    void on(Tick&) { ticks_at.push_back(now_ns()); }

    Timer<Tick> tick{this};
    Timer<Item> later{this, Item{7, 7}};
    std::vector<std::int64_t> ticks_at;
};

TEST(Timer, reports_once_and_again_on_the_time_of_the_step) {
    Executor executor{asleep_at_once};
    auto& clock = executor.add<Clockwork>();
    executor.drain(100);
    clock.tick.every(10);
    clock.later.after(25);
    EXPECT_EQ(executor.next_timer_ns(), 110);
    for (std::int64_t now = 100; now <= 140; ++now) {
        executor.drain(now);
    }
    EXPECT_EQ(clock.ticks_at, (std::vector<std::int64_t>{110, 120, 130, 140}));
    ASSERT_EQ(clock.kept.size(), 1U);
    EXPECT_EQ(clock.kept[0].from, 7U);
    clock.ticks_at.clear();
    executor.drain(175);
    executor.drain(180);
    EXPECT_EQ(clock.ticks_at, (std::vector<std::int64_t>{175, 180})) << "on the grid, missed: once";
    clock.tick.cancel();
    executor.drain(1000);
    EXPECT_EQ(clock.ticks_at.size(), 2U);
}

TEST(Timer, waits_with_its_actor_for_room) {
    Executor executor{asleep_at_once};
    Executor there{asleep_at_once};
    auto& target = there.add<Keeper>(Bounds{.most = 1, .when_full = WhenFull::wait});
    auto& clock = executor.add<Clockwork>();
    auto out = target.items.sender(clock);
    clock.then = [&](Item& item) { EXPECT_EQ(out.send(item), Sent::sent); };
    executor.drain(0);
    clock.tick.every(10);
    auto to = clock.items.sender();
    EXPECT_EQ(to.send({}), Sent::sent);
    to.flush();
    executor.drain(1);
    executor.drain(35);
    EXPECT_TRUE(clock.ticks_at.empty());
    there.drain(0);
    executor.drain(36);
    EXPECT_EQ(clock.ticks_at.size(), 1U) << "once for all that it missed";
}

TEST(Timer, many_come_in_their_order) {
    Executor executor{asleep_at_once};
    std::vector<Clockwork*> clocks;
    for (std::int64_t i = 0; i < 100; ++i) {
        clocks.push_back(&executor.add<Clockwork>());
    }
    executor.drain(0);
    for (std::int64_t i = 0; i < 100; ++i) {
        clocks[static_cast<std::size_t>(i)]->tick.after(1 + i * 37 % 101);
    }
    for (std::size_t i = 0; i < 100; i += 3) {
        clocks[i]->tick.cancel();
    }
    for (std::int64_t now = 1; now <= 102; ++now) {
        executor.drain(now);
    }
    for (std::int64_t i = 0; i < 100; ++i) {
        const auto& reported = clocks[static_cast<std::size_t>(i)]->ticks_at;
        if (i % 3 == 0) {
            EXPECT_TRUE(reported.empty());
        } else {
            EXPECT_EQ(reported, std::vector<std::int64_t>{1 + i * 37 % 101});
        }
    }
}

}  // namespace
}  // namespace pinstrike::actors::runtime
