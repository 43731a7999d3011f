// An actor in twenty lines, and the same as a coroutine.
#include "actors/runtime/coroutine.h"
#include "actors/runtime/executor.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pinstrike::actors::runtime {
namespace {

struct Number {
    int value;
};

class Summer : public MailboxActor {
  public:
    Mailbox<Number> numbers{this, {.most = 100, .when_full = WhenFull::wait}};

    void on(Number& number) { sum += number.value; }

    int sum = 0;
};

TEST(Example, an_actor) {
    Executor executor;
    auto& summer = executor.add<Summer>();
    Sender<Number> to_summer = summer.numbers.sender();
    for (int i = 1; i <= 4; ++i) {
        EXPECT_EQ(to_summer.send({i}), Sent::sent);
    }
    to_summer.flush();
    executor.drain(0);
    EXPECT_EQ(summer.sum, 1 + 2 + 3 + 4);
}

class SummingScript : public Script<Number> {
  public:
    int sum = 0;

  private:
    Coroutine body() override {
        for (int left = 4; left != 0; --left) {
            sum += (co_await next()).value;
        }
    }
};

TEST(Example, the_same_as_a_coroutine) {
    Executor executor;
    auto& summer = executor.add<SummingScript>();
    Sender<Number> to_summer = summer.inbox.sender();
    for (int i = 1; i <= 4; ++i) {
        EXPECT_EQ(to_summer.send({i}), Sent::sent);
    }
    to_summer.flush();
    executor.drain(0);
    EXPECT_EQ(summer.sum, 1 + 2 + 3 + 4);
    EXPECT_TRUE(summer.ended()) << "its body has an end";
    EXPECT_EQ(to_summer.send({5}), Sent::stopped);
}

class FailingScript : public Script<Number> {
    Coroutine body() override {
        static_cast<void>(co_await next());
        throw std::runtime_error{"the body breaks off"};
    }
};

TEST(Example, a_story_that_throws_fails_its_actor) {
    Executor executor;
    auto& failing = executor.add<FailingScript>();
    Sender<Number> to = failing.inbox.sender();
    EXPECT_EQ(to.send({1}), Sent::sent);
    to.flush();
    executor.drain(0);
    EXPECT_TRUE(failing.failed());
}

}  // namespace
}  // namespace pinstrike::actors::runtime
