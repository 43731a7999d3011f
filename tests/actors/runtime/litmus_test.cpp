// Reorderings by the processor, which the weaver cannot show (tests/actors/litmus.h). The tests
// find each fence of the runtime that is missing.
#include "tests/actors/litmus.h"

#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace pinstrike::actors::runtime {
namespace {

using litmus::race;
using litmus::rounds;

/// For steps of a few instructions.
constexpr std::uint32_t closely = 256;

/// Several runs: on a busy machine the two threads of one run may never meet.
class Litmus : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Again, Litmus, testing::Range(0, litmus::finds_fences ? 4 : 1));

TEST_P(Litmus, a_thread_sends_while_the_actor_falls_asleep) {
    Executor executor{asleep_at_once};
    auto& keeper = executor.add<Keeper>();
    keeper.kept.reserve(rounds);
    auto to = keeper.items.sender();
    std::uint32_t lost = 0;
    std::uint32_t late = 0;
    race([&](std::uint32_t) { executor.step(0); },
         [&](std::uint32_t round) {
             EXPECT_EQ(to.send({0, round}), Sent::sent);
             to.flush();
         },
         [&](std::uint32_t round) {
             // If the message was handled at once, the actor falls asleep in the next round.
             if (keeper.kept.size() <= round) {
                 ++late;
                 lost += executor.has_work() ? 0 : 1;
                 executor.step(0);
             }
         });
    EXPECT_EQ(lost, 0U);
    if (late == 0) {
        GTEST_SKIP() << "the two never met: the machine was busy with other things";
    }
}

/// Has messages for all rounds, and passes one on in each step.
struct Relay {
    explicit Relay(Mailbox<Item>& to)
        : keeper(executor.add<Keeper>(Bounds{.most = rounds + 1})), out(to.sender(keeper)) {
        keeper.then = [this](Item& item) { EXPECT_EQ(out.send(item), Sent::sent); };
        auto feed = keeper.items.sender();
        for (std::uint32_t i = 0; i <= rounds; ++i) {
            EXPECT_EQ(feed.send({0, i}), Sent::sent);
        }
    }

    Executor executor{{.budget = 1, .linger = 0}};
    Keeper& keeper;
    Sender<Item> out;
};

TEST_P(Litmus, an_actor_sends_while_another_falls_asleep) {
    Executor there{asleep_at_once};
    auto& keeper = there.add<Keeper>();
    Relay relay{keeper.items};
    std::uint32_t lost = 0;
    race([&](std::uint32_t) { there.step(0); }, [&](std::uint32_t) { relay.executor.step(0); },
         [&](std::uint32_t round) {
             if (keeper.kept.size() <= round) {
                 lost += there.has_work() ? 0 : 1;
                 there.step(0);
             }
         });
    EXPECT_EQ(lost, 0U);
}

TEST_P(Litmus, room_is_made_while_the_sender_falls_asleep) {
    Executor there{asleep_at_once};
    auto& keeper = there.add<Keeper>(Bounds{.most = 1, .when_full = WhenFull::wait, .overflow = 0});
    Relay relay{keeper.items};
    relay.executor.step(0);
    std::uint32_t lost = 0;
    race([&](std::uint32_t) { relay.executor.step(0); }, [&](std::uint32_t) { there.step(0); },
         [&](std::uint32_t round) {
             // The keeper has received one message. The relay has sent the next one, or must have
             // work.
             EXPECT_EQ(keeper.kept.size(), round + 1);
             if (relay.keeper.kept.size() == round + 1) {
                 lost += relay.executor.has_work() ? 0 : 1;
                 relay.executor.step(0);
             }
         });
    EXPECT_EQ(lost, 0U);
}

/// Each round has new actors, because they end in it.
TEST_P(Litmus, an_actor_is_stopped_while_it_falls_asleep) {
    std::optional<Executor> executor;
    Keeper* keeper = nullptr;
    const auto prepare = [&] { keeper = &executor.emplace(asleep_at_once).add<Keeper>(); };
    prepare();
    std::uint32_t lost = 0;
    race([&](std::uint32_t) { executor->step(0); }, [&](std::uint32_t) { keeper->stop(); },
         [&](std::uint32_t) {
             lost += keeper->ended() || executor->has_work() ? 0 : 1;
             prepare();
         },
         closely);
    EXPECT_EQ(lost, 0U);
}

/// Several senders are made one after the other, so that one of them is made while the mailbox
/// closes.
TEST_P(Litmus, senders_come_while_the_actor_ends) {
    std::optional<Executor> executor;
    Keeper* keeper = nullptr;
    std::array<std::optional<Sender<Item>>, 8> senders;
    const auto prepare = [&] {
        senders = {};
        keeper = &executor.emplace(asleep_at_once).add<Keeper>();
    };
    prepare();
    std::ptrdiff_t lost = 0;
    race([&](std::uint32_t) { executor->stop_all(); },
         [&](std::uint32_t) {
             for (auto& sender : senders) {
                 sender.emplace(keeper->items.sender());
             }
         },
         [&](std::uint32_t) {
             lost += std::ranges::count_if(senders,
                                           [](const auto& sender) { return !sender->stopped(); });
             prepare();
         },
         closely);
    EXPECT_EQ(lost, 0);
}

/// An actor that has filled the mailbox of another, and is about to sleep until half of it is free.
struct Waiter {
    Waiter()
        : keeper(there.add<Keeper>(Bounds{.most = 1, .when_full = WhenFull::wait, .overflow = 0})),
          sending(here.add<Keeper>()),
          out(keeper.items.sender(sending)) {
        sending.then = [this](Item& item) { static_cast<void>(out.send(item)); };
        auto feed = sending.items.sender();
        EXPECT_EQ(feed.send({0, 0}), Sent::sent);
        EXPECT_EQ(feed.send({0, 1}), Sent::sent);
        feed.flush();
        here.step(0);
    }

    Executor there{asleep_at_once};
    Executor here{{.budget = 1, .linger = 0}};
    Keeper& keeper;
    Keeper& sending;
    Sender<Item> out;
};

TEST_P(Litmus, the_receiver_ends_while_the_sender_falls_asleep) {
    std::optional<Waiter> waiter{std::in_place};
    std::uint32_t lost = 0;
    race([&](std::uint32_t) { waiter->here.step(0); },
         [&](std::uint32_t) { waiter->there.stop_all(); },
         [&](std::uint32_t) {
             lost += waiter->here.has_work() ? 0 : 1;
             waiter.emplace();
         },
         closely);
    EXPECT_EQ(lost, 0U);
}

}  // namespace
}  // namespace pinstrike::actors::runtime
