// path: cold
//
// Actors that throw, and the reports that their monitors get.
#include "actors/runtime/executor.h"
#include "actors/runtime/timer.h"
#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace pinstrike::actors::runtime {
namespace {

TEST(Monitor, gets_what_a_handler_threw) {
    Executor here{asleep_at_once};
    Executor there{asleep_at_once};
    auto& mourner = here.add<Mourner>();
    auto& keeper = there.add<Keeper>();
    auto& target = there.add<Keeper>();
    auto out = target.items.sender(keeper);
    keeper.monitor(mourner.downs);
    keeper.then = [&](Item& item) {
        EXPECT_EQ(out.send(item), Sent::sent);
        if (item.number == 2) {
            throw std::runtime_error{"a book without a last page"};
        }
    };
    auto to = keeper.items.sender();
    for (std::uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(to.send({0, i}), Sent::sent);
    }
    to.flush();
    there.drain(0);
    here.drain(0);
    ASSERT_EQ(mourner.heard.size(), 1U);
    EXPECT_EQ(mourner.heard[0].which, &keeper);
    EXPECT_TRUE(mourner.heard[0].failed && keeper.failed());
    EXPECT_EQ(mourner.heard[0].reason(), "a book without a last page");
    EXPECT_FALSE(keeper.stopped) << "no on_stop behind a throw";
    EXPECT_EQ(keeper.items.dropped(), 2U);
    EXPECT_EQ(target.kept.size(), 3U) << "what was answered `sent` before the throw is sent";
    EXPECT_EQ(to.send({}), Sent::stopped);
}

TEST(Monitor, is_notified_of_a_plain_end_and_of_one_that_is_over) {
    Executor executor{asleep_at_once};
    auto& mourner = executor.add<Mourner>();
    auto& late = executor.add<Mourner>();
    auto& keeper = executor.add<Keeper>();
    keeper.monitor(mourner.downs);
    keeper.stop();
    executor.drain(0);
    keeper.monitor(late.downs);
    executor.drain(0);
    ASSERT_EQ(mourner.heard.size(), 1U);
    EXPECT_FALSE(mourner.heard[0].failed);
    EXPECT_EQ(mourner.heard[0].reason(), "");
    EXPECT_EQ(late.heard.size(), 1U);
}

TEST(Monitor, cuts_a_long_reason) {
    Executor executor{asleep_at_once};
    auto& mourner = executor.add<Mourner>();
    auto& keeper = executor.add<Keeper>();
    keeper.monitor(mourner.downs);
    keeper.then = [](Item&) { throw std::runtime_error{std::string(500, 'x')}; };
    auto to = keeper.items.sender();
    EXPECT_EQ(to.send({}), Sent::sent);
    to.flush();
    executor.drain(0);
    ASSERT_EQ(mourner.heard.size(), 1U);
    EXPECT_EQ(mourner.heard[0].reason(), std::string(110, 'x'));
}

/// Throws in the selected call, also types that are no std::exception.
class Thrower : public MailboxActor {
  public:
    enum class Where { start, handler, timer, stop };

    explicit Thrower(Where where) : where_(where) {}

    Mailbox<Item> items{this};
    Timer<int> later{this};

    void on_start() override {
        throw_at(Where::start);
        if (where_ == Where::timer) {
            later.after(1);
        }
    }

    void on(Item& /*item*/) { throw_at(Where::handler); }

    void on(int& /*tick*/) { throw_at(Where::timer); }

    void on_stop() override { throw_at(Where::stop); }

  private:
    void throw_at(Where where) const {
        if (where == where_) {
            throw 42;
        }
    }

    Where where_;
};

TEST(Monitor, is_notified_wherever_an_actor_throws_and_whatever) {
    for (const auto where : {Thrower::Where::start, Thrower::Where::handler, Thrower::Where::timer,
                             Thrower::Where::stop}) {
        SCOPED_TRACE(static_cast<int>(where));
        Executor executor{asleep_at_once};
        auto& mourner = executor.add<Mourner>();
        auto& other = executor.add<Keeper>();
        auto& thrower = executor.add<Thrower>(where);
        thrower.monitor(mourner.downs);
        auto to = thrower.items.sender();
        EXPECT_EQ(to.send({}), Sent::sent);
        to.flush();
        executor.drain(10);
        executor.drain(20);
        thrower.stop();
        executor.drain(30);
        ASSERT_EQ(mourner.heard.size(), 1U);
        EXPECT_TRUE(mourner.heard[0].failed && thrower.failed());
        EXPECT_EQ(mourner.heard[0].reason(), "an exception that is no std::exception");
        EXPECT_EQ(to.send({}), Sent::stopped);
        auto still = other.items.sender();
        EXPECT_EQ(still.send({}), Sent::sent);
        still.flush();
        executor.drain(40);
        EXPECT_EQ(other.kept.size(), 1U) << "its executor goes on";
    }
}

}  // namespace
}  // namespace pinstrike::actors::runtime
