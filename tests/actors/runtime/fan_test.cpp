// One message to all subscribers, and work that one of several workers gets.
#include "actors/runtime/fan.h"

#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace pinstrike::actors::runtime {
namespace {

/// Subscribes to every third number, beginning at `residue`.
template <std::uint32_t residue>
class Third : public MailboxActor {
  public:
    Mailbox<Item> items{this};

    static bool wants(const Item& item) { return item.number % 3 == residue; }

    void on(Item& item) { kept.push_back(item); }

    std::vector<Item> kept;
};

std::vector<std::uint32_t> numbers(const std::vector<Item>& items) {
    std::vector<std::uint32_t> numbers;
    for (const Item& item : items) {
        numbers.push_back(item.number);
    }
    return numbers;
}

TEST(FanOut, sends_to_every_subscriber_and_names_those_out_of_reach) {
    Executor executor{asleep_at_once};
    auto& one = executor.add<Keeper>(Bounds{.most = 2});
    auto& two = executor.add<Keeper>(Bounds{.most = 1});
    auto& gone = executor.add<Keeper>();
    FanOut<Item> fan;
    fan.subscribe(one.items.sender());
    fan.subscribe(two.items.sender());
    fan.subscribe(gone.items.sender());
    gone.stop();
    executor.drain(0);
    EXPECT_EQ(fan.send({}).sent, 2U);
    const SentToAll second = fan.send({});
    EXPECT_EQ(second.sent, 1U);
    EXPECT_EQ(second.full, 1U);
    EXPECT_EQ(second.stopped, 1U);
    fan.flush();
    executor.drain(0);
    EXPECT_EQ(one.kept.size(), 2U);
    EXPECT_EQ(two.kept.size(), 1U);
}

TEST(Workers, each_message_goes_to_the_least_loaded_one) {
    Executor fast{asleep_at_once};
    Executor slow{asleep_at_once};
    auto& quick = fast.add<Keeper>(Bounds{.most = 8});
    auto& lame = slow.add<Keeper>(Bounds{.most = 8});
    Workers<Item> workers;
    workers.add(quick.items.sender());
    workers.add(lame.items.sender());
    for (std::uint32_t i = 0; i < 20; ++i) {
        EXPECT_EQ(workers.send({0, i}), Sent::sent);
        workers.flush();
        fast.drain(0);
    }
    EXPECT_GE(quick.kept.size(), 18U);
    lame.stop();
    slow.drain(0);
    EXPECT_EQ(quick.kept.size() + lame.items.dropped(), 20U) << "each to exactly one";
    EXPECT_EQ(workers.send({}), Sent::sent) << "one that has ended is passed over";
    quick.stop();
    fast.drain(0);
    EXPECT_EQ(workers.send({}), Sent::stopped);
}

TEST(FanOut, a_filter_takes_no_room_and_is_distinguished_from_a_full_mailbox) {
    Executor executor{asleep_at_once};
    auto& picky = executor.add<Third<0>>();
    auto& all = executor.add<Keeper>(Bounds{.most = 4});
    FanOut<Item> fan;
    fan.subscribe(picky.items.sender());
    fan.subscribe(all.items.sender());
    SentToAll sums;
    for (std::uint32_t i = 0; i < 6; ++i) {
        const SentToAll result = fan.send({0, i});
        EXPECT_EQ(result.sent + result.full + result.stopped + result.unwanted, 2U);
        sums.sent += result.sent;
        sums.full += result.full;
        sums.unwanted += result.unwanted;
    }
    EXPECT_EQ(sums.unwanted, 4U);
    EXPECT_EQ(sums.full, 2U);
    EXPECT_EQ(sums.sent, 6U);
    fan.flush();
    executor.drain(0);
    EXPECT_EQ(numbers(picky.kept), (std::vector<std::uint32_t>{0, 3}));
    EXPECT_EQ(numbers(all.kept), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(FanOut, an_actor_that_sends_to_a_slow_subscriber_waits_and_nobody_misses_anything) {
    Executor here{asleep_at_once};
    Executor there{asleep_at_once};
    Executor elsewhere{asleep_at_once};
    auto& slow = there.add<Keeper>(Bounds{.most = 4, .when_full = WhenFull::wait, .overflow = 2});
    auto& quick = elsewhere.add<Keeper>();
    auto& teller = here.add<Keeper>();
    FanOut<Item> fan;
    fan.subscribe(slow.items.sender(teller));
    fan.subscribe(quick.items.sender(teller));
    teller.then = [&](Item& item) { EXPECT_EQ(fan.send(item).sent, 2U); };
    auto to_teller = teller.items.sender();
    for (std::uint32_t i = 0; i < 20; ++i) {
        EXPECT_EQ(to_teller.send({0, i}), Sent::sent);
    }
    to_teller.flush();
    here.drain(0);
    elsewhere.drain(0);
    EXPECT_EQ(teller.kept.size(), 4U) << "suspended where the slow one is full";
    EXPECT_EQ(quick.kept.size(), 4U) << "what was sent before is not held back";
    while (here.has_work() || there.has_work() || elsewhere.has_work()) {
        there.drain(0);
        here.drain(0);
        elsewhere.drain(0);
    }
    for (const Keeper* subscriber : {&slow, &quick}) {
        ASSERT_EQ(subscriber->kept.size(), 20U);
        for (std::uint32_t i = 0; i < 20; ++i) {
            EXPECT_EQ(subscriber->kept[i].number, i);
        }
    }
}

TEST(Workers, of_equals_each_has_its_turn) {
    Executor executor{asleep_at_once};
    Workers<Item> workers;
    std::array<Keeper*, 3> team{};
    for (Keeper*& worker : team) {
        worker = &executor.add<Keeper>(Bounds{.most = 8});
        workers.add(worker->items.sender());
    }
    for (std::uint32_t i = 0; i < 24; ++i) {
        ASSERT_EQ(workers.send({0, i}), Sent::sent);
    }
    EXPECT_EQ(workers.send({}), Sent::full) << "nobody has room";
    workers.flush();
    executor.drain(0);
    std::set<std::uint32_t> done;
    for (const Keeper* worker : team) {
        EXPECT_EQ(worker->kept.size(), 8U);
        const auto of_one = numbers(worker->kept);
        EXPECT_TRUE(std::is_sorted(of_one.begin(), of_one.end()));
        done.insert(of_one.begin(), of_one.end());
    }
    EXPECT_EQ(done.size(), 24U) << "each to exactly one";
    EXPECT_EQ(workers.send({}), Sent::sent) << "and have room again";
}

TEST(Workers, a_message_goes_to_one_that_wants_it_however_loaded) {
    Executor executor{asleep_at_once};
    auto& zero = executor.add<Third<0>>();
    auto& one = executor.add<Third<1>>();
    Workers<Item> workers;
    workers.add(zero.items.sender());
    workers.add(one.items.sender());
    for (std::uint32_t i = 0; i < 30; ++i) {
        EXPECT_EQ(workers.send({0, i}), i % 3 == 2 ? Sent::unwanted : Sent::sent) << i;
    }
    workers.flush();
    executor.drain(0);
    EXPECT_EQ(zero.kept.size(), 10U);
    EXPECT_EQ(one.kept.size(), 10U);
    zero.stop();
    executor.drain(0);
    EXPECT_EQ(workers.send({0, 0}), Sent::unwanted) << "who would want it has ended";
    one.stop();
    executor.drain(0);
    EXPECT_EQ(workers.send({0, 0}), Sent::stopped);
}

TEST(Workers, without_any_nobody_is_sent_to) {
    Workers<Item> workers;
    EXPECT_EQ(workers.send({}), Sent::stopped);
    workers.flush();
}

TEST(Workers, an_actor_waits_for_the_least_loaded_one) {
    Executor here{asleep_at_once};
    Executor there{asleep_at_once};
    constexpr Bounds waiting{.most = 4, .when_full = WhenFull::wait, .overflow = 2};
    auto& foreman = here.add<Keeper>();
    Workers<Item> workers;
    std::array<Keeper*, 2> team{};
    for (Keeper*& worker : team) {
        worker = &there.add<Keeper>(waiting);
        workers.add(worker->items.sender(foreman));
    }
    foreman.then = [&](Item& item) { EXPECT_EQ(workers.send(Item{item}), Sent::sent); };
    auto to_foreman = foreman.items.sender();
    for (std::uint32_t i = 0; i < 40; ++i) {
        EXPECT_EQ(to_foreman.send({0, i}), Sent::sent);
    }
    to_foreman.flush();
    here.drain(0);
    EXPECT_LE(foreman.kept.size(), 8U) << "no more than both have room for";
    EXPECT_GE(foreman.kept.size(), 7U);
    EXPECT_FALSE(here.has_work());
    while (here.has_work() || there.has_work()) {
        there.drain(0);
        here.drain(0);
    }
    std::set<std::uint32_t> done;
    for (const Keeper* worker : team) {
        const auto of_one = numbers(worker->kept);
        done.insert(of_one.begin(), of_one.end());
    }
    EXPECT_EQ(team[0]->kept.size() + team[1]->kept.size(), 40U);
    EXPECT_EQ(done.size(), 40U);
}

}  // namespace
}  // namespace pinstrike::actors::runtime
