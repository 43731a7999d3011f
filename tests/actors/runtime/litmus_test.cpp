// What the weaver cannot see: reorderings of the processor. Two threads meet, take one step each at
// nearly the same moment, meet again, and then look whether a wake-up was lost; over and over. On
// two x86 processors that finds each of the fences of falling asleep, publishing, flushing and
// releasing when it is left out.
#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>

namespace pinstrike::actors::runtime {
namespace {

constexpr std::uint32_t rounds = 200'000;

/// Where two threads wait for each other.
class Meeting {
  public:
    void come(std::size_t who) {
        const std::uint32_t time = arrived_[who].load(std::memory_order_relaxed) + 1;
        arrived_[who].store(time, std::memory_order_release);
        for (unsigned spins = 0; arrived_[1 - who].load(std::memory_order_acquire) < time;
             ++spins) {
            if (spins % 1024 == 1023) {
                std::this_thread::yield();
            }
        }
    }

  private:
    struct alignas(128) Place : std::atomic<std::uint32_t> {};

    std::array<Place, 2> arrived_{};
};

/// Does `one` and `other` at nearly the same moment in each round, and `check` behind both.
template <class One, class Other, class Check>
void race(One&& one, Other&& other, Check&& check) {
    Meeting meeting;
    // Up to two microseconds: the steps differ in length, and in where they may be overtaken.
    const auto delay = [](std::minstd_rand& random) {
        for (auto left = random() % 4096; left != 0; --left) {
            asm volatile("" : : "r"(left) : "memory");
        }
    };
    std::thread thread{[&] {
        std::minstd_rand random{2};
        for (std::uint32_t round = 0; round < rounds; ++round) {
            meeting.come(1);
            delay(random);
            other(round);
            meeting.come(1);
        }
    }};
    std::minstd_rand random{1};
    for (std::uint32_t round = 0; round < rounds; ++round) {
        meeting.come(0);
        delay(random);
        one(round);
        meeting.come(0);
        check(round);  // the other thread waits at the next round's meeting
    }
    thread.join();
}

TEST(Litmus, a_thread_sends_while_the_actor_falls_asleep) {
    Core core{asleep_at_once};
    auto& keeper = core.add<Keeper>();
    keeper.kept.reserve(rounds);
    auto to = keeper.items.sender();
    std::uint32_t lost = 0;
    std::uint32_t late = 0;
    race([&](std::uint32_t) { core.step(0); },
         [&](std::uint32_t round) {
             EXPECT_EQ(to.send({0, round}), Sent::sent);
             to.flush();
         },
         [&](std::uint32_t round) {
             // Told at once, it stands in the queue and falls asleep in the next round.
             if (keeper.kept.size() <= round) {
                 ++late;
                 lost += core.has_work() ? 0 : 1;
                 core.step(0);
             }
         });
    EXPECT_EQ(lost, 0U);
    if (late == 0) {
        GTEST_SKIP() << "the two never met: the machine was busy with other things";
    }
}

/// Has mail for all rounds, and passes one on in each step.
struct Relay {
    explicit Relay(Mailbox<Item>& to)
        : keeper(core.add<Keeper>(Bounds{.most = rounds + 1})), out(to.sender(keeper)) {
        keeper.then = [this](Item& item) { EXPECT_EQ(out.send(item), Sent::sent); };
        auto feed = keeper.items.sender();
        for (std::uint32_t i = 0; i <= rounds; ++i) {
            EXPECT_EQ(feed.send({0, i}), Sent::sent);
        }
    }

    Core core{{.budget = 1, .linger = 0}};
    Keeper& keeper;
    Sender<Item> out;
};

TEST(Litmus, an_actor_sends_while_another_falls_asleep) {
    Core there{asleep_at_once};
    auto& keeper = there.add<Keeper>();
    Relay relay{keeper.items};
    std::uint32_t lost = 0;
    race([&](std::uint32_t) { there.step(0); }, [&](std::uint32_t) { relay.core.step(0); },
         [&](std::uint32_t round) {
             if (keeper.kept.size() <= round) {
                 lost += there.has_work() ? 0 : 1;
                 there.step(0);
             }
         });
    EXPECT_EQ(lost, 0U);
}

TEST(Litmus, room_is_made_while_the_sender_falls_asleep) {
    Core there{asleep_at_once};
    auto& keeper = there.add<Keeper>(Bounds{.most = 1, .when_full = WhenFull::wait, .overflow = 0});
    Relay relay{keeper.items};
    relay.core.step(0);
    std::uint32_t lost = 0;
    race([&](std::uint32_t) { relay.core.step(0); }, [&](std::uint32_t) { there.step(0); },
         [&](std::uint32_t round) {
             // The keeper has taken one; the relay has sent the next, or must be about to.
             EXPECT_EQ(keeper.kept.size(), round + 1);
             if (relay.keeper.kept.size() == round + 1) {
                 lost += relay.core.has_work() ? 0 : 1;
                 relay.core.step(0);
             }
         });
    EXPECT_EQ(lost, 0U);
}

}  // namespace
}  // namespace pinstrike::actors::runtime
