// After a warm-up nothing allocates memory; otherwise the executable's operator new stops the
// program.
#include "actors/threads/heap_guard.h"
#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

namespace pinstrike::actors::runtime {
namespace {

class Echo : public MailboxActor {
  public:
    explicit Echo(Bounds bounds) : items(this, bounds) {}

    Mailbox<Item> items;
    Timer<Item> tick{this};

    void on_start() override { tick.every(3); }

    void on(Item& item) {
        ++reported;
        static_cast<void>(out.send(item));
    }

    Sender<Item> out;
    std::uint64_t reported = 0;
};

TEST(RuntimeHeap, nothing_allocates_once_warm) {
    constexpr Bounds waiting{.most = 50, .when_full = WhenFull::wait};
    Executor here{asleep_at_once};
    Executor there{asleep_at_once};
    auto& a = here.add<Echo>(Bounds::of_memory(1 << 15));
    auto& b = there.add<Echo>(waiting);
    auto& c = here.add<Echo>(Bounds{.most = 10});
    a.out = b.items.sender(a);
    b.out = c.items.sender(b);
    c.out = a.items.sender(c);
    auto feed = a.items.sender();
    const auto round = [&](std::int64_t now_ns) {
        for (int i = 0; i < 3000; ++i) {
            static_cast<void>(feed.send({}));
        }
        feed.flush();
        for (int i = 0; i < 100; ++i) {
            here.step(now_ns);
            there.step(now_ns);
        }
    };
    // The warm-up: the cycle of messages and the mailbox that is bounded by memory reach their
    // final size.
    for (std::int64_t now = 0; now < 200; ++now) {
        round(now);
    }
    const std::uint64_t before = a.reported;
    {
        const FrozenHeap frozen;
        for (std::int64_t now = 200; now < 300; ++now) {
            round(now);
        }
    }
    EXPECT_GT(a.reported, before);
    EXPECT_GT(feed.refused(), 0U) << "the mailbox bounded by memory was full: it grows no more";
}

}  // namespace
}  // namespace pinstrike::actors::runtime
