// All orders of the steps of a few threads in which no thread is interrupted more than
// preemptions_max times: an actor falls asleep while another sends to it, fills a mailbox while the
// receiver frees it, or ends during these. These actors do not poll (linger 0), and the futex never
// times out, so after one lost wake-up the weaver reports the fiber that is stuck.
#include "tests/actors/weave.h"

#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace pinstrike::actors {

namespace {

/// The futex words on which fibers sleep.
std::set<const void*>& sleepers() {
    static std::set<const void*> words;
    return words;
}

}  // namespace

// Replaces parking.cpp, which is not linked here: a futex as the kernel documents it.
void KernelFutex::wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t) noexcept {
    if (word.load() == expected) {
        sleepers().insert(&word);
        weave::Weaver::block_until([&word] { return !sleepers().contains(&word); });
    }
}

void KernelFutex::wake(std::atomic<std::uint32_t>& word) noexcept {
    sleepers().erase(&word);
}

namespace runtime {
namespace {

using weave::Weaver;

/// Without a bound there would be too many orders.
constexpr std::size_t preemptions_max = 3;

void no_stuck(const std::string& trace) {
    ADD_FAILURE() << "stuck after: " << trace;
}

/// The loop of an executor's thread that never spins, until `done`.
template <class Done>
void run(Executor& executor, Done&& done) {
    while (!done()) {
        executor.step(0);
        if (!executor.has_work() && !done()) {
            executor.park(0, done);
        }
    }
}

struct OneKeeper {
    explicit OneKeeper(Bounds bounds = {}) : keeper(executor.add<Keeper>(bounds)) {
        sleepers().clear();
    }

    Executor executor{asleep_at_once};
    Keeper& keeper;
    std::vector<Sender<Item>> senders;

    void expect_in_order(std::size_t count, const std::string& trace) const {
        ASSERT_EQ(keeper.kept.size(), count) << trace;
        std::map<std::uint32_t, std::uint32_t> next;
        for (const Item& item : keeper.kept) {
            ASSERT_EQ(item.number, next[item.from]++) << trace;
        }
    }
};

TEST(WeaveBell, no_message_is_slept_over) {
    Weaver weaver;
    std::unique_ptr<OneKeeper> scene;
    std::size_t slept = 0;
    const std::size_t orders = weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<OneKeeper>();
            scene->senders.push_back(scene->keeper.items.sender());
            scene->executor.drain(0);  // the actor sleeps
            return {[&] { run(scene->executor, [&] { return scene->keeper.kept.size() == 2; }); },
                    [&] {
                        for (std::uint32_t i = 0; i < 2; ++i) {
                            EXPECT_EQ(scene->senders[0].send({0, i}), Sent::sent);
                            scene->senders[0].flush();
                        }
                    }};
        },
        [&] {
            slept += scene->executor.sleeps().read() != 0 ? 1 : 0;
            scene->expect_in_order(2, weaver.trace());
        },
        no_stuck, preemptions_max);
    EXPECT_GT(orders, 100U);
    EXPECT_GT(slept, 0U) << "no order had the executor asleep: the test walks too little";
}

/// Two senders ring at once, one of them through a new lane. The actor must be added to the ready
/// list only once: twice would make the list a cycle, which the order of messages or a stuck
/// executor shows.
TEST(WeaveBell, two_senders_bring_it_to_the_ready_list_once) {
    Weaver weaver;
    std::unique_ptr<OneKeeper> scene;
    std::unique_ptr<Keeper*> other;
    const std::size_t orders = weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<OneKeeper>();
            auto& neighbour = scene->executor.add<Keeper>();
            other = std::make_unique<Keeper*>(&neighbour);
            scene->senders.push_back(scene->keeper.items.sender());
            scene->senders.push_back(neighbour.items.sender());
            scene->executor.drain(0);
            return {[&] {
                        run(scene->executor, [&] {
                            return scene->keeper.kept.size() == 2 && (*other)->kept.size() == 1;
                        });
                    },
                    [&] {
                        EXPECT_EQ(scene->senders[0].send({0, 0}), Sent::sent);
                        scene->senders[0].flush();
                        EXPECT_EQ(scene->senders[1].send({0, 0}), Sent::sent);
                        scene->senders[1].flush();
                    },
                    [&] {
                        auto late = scene->keeper.items.sender();
                        EXPECT_EQ(late.send({1, 0}), Sent::sent);
                        late.flush();
                    }};
        },
        [&] { scene->expect_in_order(2, weaver.trace()); }, no_stuck, 2);
    EXPECT_GT(orders, 100U);
}

/// A thread that waits for a full mailbox parks.
TEST(WeaveRoom, a_thread_that_waits_is_woken) {
    Weaver weaver;
    std::unique_ptr<OneKeeper> scene;
    const std::size_t orders = weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<OneKeeper>(Bounds{.most = 1, .when_full = WhenFull::wait});
            scene->senders.push_back(scene->keeper.items.sender());
            scene->executor.drain(0);
            return {[&] { run(scene->executor, [&] { return scene->keeper.kept.size() == 3; }); },
                    [&] {
                        for (std::uint32_t i = 0; i < 3; ++i) {
                            EXPECT_EQ(scene->senders[0].send({0, i}), Sent::sent);
                        }
                        scene->senders[0].flush();
                    }};
        },
        [&] { scene->expect_in_order(3, weaver.trace()); }, no_stuck, preemptions_max);
    EXPECT_GT(orders, 100U);
}

/// An actor that waits for a full mailbox is suspended, its executor sleeps, and the receiver's
/// executor wakes both.
struct TwoCores : OneKeeper {
    TwoCores()
        : OneKeeper({.most = 1, .when_full = WhenFull::wait, .overflow = 0}),
          relay(here.add<Keeper>()) {
        senders.push_back(keeper.items.sender(relay));
        relay.then = [this](Item& item) { answers.push_back(senders[0].send(item)); };
        auto feed = relay.items.sender();
        for (std::uint32_t i = 0; i < 3; ++i) {
            EXPECT_EQ(feed.send({0, i}), Sent::sent);
        }
        feed.flush();
        executor.drain(0);
    }

    ~TwoCores() { senders.clear(); }  // before the actor that owns them

    Executor here{asleep_at_once};
    Keeper& relay;
    std::vector<Sent> answers;
};

TEST(WeaveRoom, an_actor_that_waits_is_called_again) {
    Weaver weaver;
    std::unique_ptr<TwoCores> scene;
    std::size_t slept = 0;
    const std::size_t orders = weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<TwoCores>();
            return {[&] { run(scene->here, [&] { return scene->relay.kept.size() == 3; }); },
                    [&] { run(scene->executor, [&] { return scene->keeper.kept.size() == 3; }); }};
        },
        [&] {
            slept += scene->here.sleeps().read() != 0 ? 1 : 0;
            scene->expect_in_order(3, weaver.trace());
        },
        no_stuck, preemptions_max);
    EXPECT_GT(orders, 100U);
    EXPECT_GT(slept, 0U);
}

/// The receiver ends while the sender is about to wait for it.
TEST(WeaveEnding, nobody_waits_for_an_actor_that_is_gone) {
    Weaver weaver;
    std::unique_ptr<TwoCores> scene;
    std::size_t refused = 0;
    weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<TwoCores>();
            scene->keeper.stop();
            return {[&] { run(scene->here, [&] { return scene->relay.kept.size() == 3; }); },
                    [&] { run(scene->executor, [&] { return scene->keeper.ended(); }); }};
        },
        [&] {
            std::size_t sent = 0;
            for (const Sent answer : scene->answers) {
                sent += answer == Sent::sent ? 1 : 0;
            }
            refused += 3 - sent;
            ASSERT_EQ(scene->answers.size(), 3U) << weaver.trace();
            ASSERT_EQ(sent, scene->keeper.kept.size() + scene->keeper.items.dropped())
                << weaver.trace();
        },
        no_stuck, preemptions_max);
    EXPECT_GT(refused, 0U);
}

/// stop() and a message come from two threads, and a new sender is made at the end.
TEST(WeaveEnding, stop_is_not_slept_over_and_a_new_sender_is_refused) {
    Weaver weaver;
    std::unique_ptr<OneKeeper> scene;
    Sent last = Sent::sent;
    std::size_t refused = 0;
    weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<OneKeeper>(Bounds{.most = 1, .when_full = WhenFull::wait});
            scene->executor.drain(0);
            return {[&] { run(scene->executor, [&] { return scene->keeper.ended(); }); },
                    [&] { scene->keeper.stop(); },
                    [&] {
                        auto late = scene->keeper.items.sender();
                        EXPECT_EQ(late.send({0, 0}) == Sent::full, false);
                        last = late.send({0, 1});
                        if (last == Sent::sent) {
                            late.flush();
                        }
                        refused += last == Sent::stopped ? 1 : 0;
                    }};
        },
        [&] { ASSERT_TRUE(scene->keeper.ended()) << weaver.trace(); }, no_stuck, 2);
    EXPECT_GT(refused, 0U);
}

/// Each store from which a later load must not be reordered (bell.h, mailbox.cpp).
TEST(WeaveFence, an_actor_that_falls_asleep) {
    OneKeeper scene;
    EXPECT_PRED3(weave::is_fenced, weave::points_of([&] { scene.executor.drain(0); }),
                 "bell:before_fence", "bell:armed");
}

TEST(WeaveFence, a_thread_that_sends) {
    OneKeeper scene;
    auto sender = scene.keeper.items.sender();
    EXPECT_EQ(sender.send({0, 0}), Sent::sent);
    EXPECT_PRED3(weave::is_fenced, weave::points_of([&] { sender.flush(); }), "lane:published",
                 "bell:before_disarm");
}

TEST(WeaveFence, an_actor_that_sends_and_one_that_makes_room) {
    TwoCores scene;
    EXPECT_PRED3(weave::is_fenced, weave::points_of([&] { scene.here.step(0); }), "lane:published",
                 "bell:before_disarm");
    scene.here.drain(0);  // the relay waits for the full mailbox
    EXPECT_PRED3(weave::is_fenced, weave::points_of([&] { scene.executor.step(0); }),
                 "lane:released", "lane:before_clear_wanted");
}

TEST(WeaveFence, an_actor_that_is_stopped) {
    OneKeeper scene;
    EXPECT_PRED3(weave::is_fenced, weave::points_of([&] { scene.keeper.stop(); }),
                 "actor:stop_asked", "bell:before_disarm");
}

TEST(WeaveFence, a_mailbox_that_closes_and_a_sender_that_joins) {
    OneKeeper scene;
    std::optional<Sender<Item>> sender;
    EXPECT_PRED3(weave::is_fenced,
                 weave::points_of([&] { sender.emplace(scene.keeper.items.sender()); }),
                 "stack:pushed", "inbox:joined");
    EXPECT_PRED3(weave::is_fenced, weave::points_of([&] { scene.executor.stop_all(); }),
                 "inbox:closed", "inbox:before_add");
}

/// A sender joins, sends and rings after the actor has served its mailbox and before it sleeps.
TEST(WeaveBell, a_new_lane_wakes_the_actor) {
    Weaver weaver;
    std::unique_ptr<OneKeeper> scene;
    weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<OneKeeper>();
            return {[&] { run(scene->executor, [&] { return scene->keeper.kept.size() == 1; }); },
                    [&] {
                        scene->senders.push_back(scene->keeper.items.sender());
                        EXPECT_EQ(scene->senders[0].send({0, 0}), Sent::sent);
                        scene->senders[0].flush();
                    }};
        },
        [&] { scene->expect_in_order(1, weaver.trace()); }, no_stuck, preemptions_max);
}

}  // namespace
}  // namespace runtime
}  // namespace pinstrike::actors
