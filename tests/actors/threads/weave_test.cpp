// All orders of the steps of two threads, for the ring and for parking.
#include "tests/actors/weave.h"

#include "actors/threads/parking.h"
#include "actors/threads/ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace pinstrike::actors {
namespace {

using weave::Weaver;

/// For tests that would have too many orders without a bound.
constexpr std::size_t preemptions_max = 4;

constexpr std::size_t page_words = 4096 / sizeof(std::uint64_t);

/// A ring with only `room` free slots, so that a few pushes reach the full ring, at its wrap.
struct NearlyFull {
    explicit NearlyFull(std::size_t room)
        : halves(Ring<std::uint64_t>::make(page_words)), pushed(page_words - room) {
        std::vector<std::uint64_t> values(pushed);
        std::iota(values.begin(), values.end(), std::uint64_t{0});
        EXPECT_TRUE(halves.producer.try_push(values));
    }

    Ring<std::uint64_t>::Halves halves;
    std::size_t pushed;
    std::vector<std::uint64_t> popped;

    void push_two() {
        for (int i = 0; i < 2; ++i) {
            const std::uint64_t value = pushed;
            if (halves.producer.try_push({&value, 1})) {
                ++pushed;
            }
        }
    }

    void pop(std::size_t max) {
        const auto records = halves.consumer.peek(max);
        popped.insert(popped.end(), records.begin(), records.end());
        halves.consumer.release(records.size());
    }

    /// The popped values and then the remaining ones must be 0, 1, 2 ... `pushed` - 1.
    void check(const std::string& trace) {
        pop(2 * page_words);
        pop(2 * page_words);
        ASSERT_EQ(popped.size(), pushed) << trace;
        for (std::size_t i = 0; i < popped.size(); ++i) {
            ASSERT_EQ(popped[i], i) << trace;
        }
    }
};

void no_stuck(const std::string& trace) {
    ADD_FAILURE() << "stuck after: " << trace;
}

TEST(WeaveRing, two_pushes_and_two_pops_at_a_full_ring) {
    std::size_t refused = 0;
    for (const std::size_t room : {0U, 1U, 2U}) {
        Weaver weaver;
        std::unique_ptr<NearlyFull> ring;
        const std::size_t orders = weaver.walk(
            [&]() -> std::vector<Weaver::Body> {
                ring = std::make_unique<NearlyFull>(room);
                return {[&] { ring->push_two(); },
                        [&] {
                            ring->pop(1);
                            ring->pop(1);
                        }};
            },
            [&] {
                refused += page_words - room + 2 - ring->pushed;
                ring->check(weaver.trace());
            },
            no_stuck);
        EXPECT_GT(orders, 10U);
    }
    EXPECT_GT(refused, 0U) << "no order met a full ring: the test walks too little";
}

TEST(WeaveRing, two_pushes_and_two_pops_at_an_empty_ring) {
    Weaver weaver;
    std::unique_ptr<NearlyFull> ring;
    std::size_t found_empty = 0;
    weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            ring = std::make_unique<NearlyFull>(page_words);
            return {[&] { ring->push_two(); },
                    [&] {
                        ring->pop(2);
                        ring->pop(2);
                    }};
        },
        [&] {
            found_empty += ring->popped.empty() ? 1 : 0;
            ring->check(weaver.trace());
        },
        no_stuck);
    EXPECT_GT(found_empty, 0U);
}

/// A ring that starts over at its first slot after every second record if it is empty.
TEST(WeaveRing, pushes_that_begin_anew_at_the_first_slot) {
    Weaver weaver;
    std::unique_ptr<Ring<std::uint64_t>::Halves> ring;
    const std::uint64_t* first_slot = nullptr;
    std::vector<std::uint64_t> popped;
    std::size_t returns = 0;
    std::size_t stays = 0;
    const auto pop = [&] {
        const auto records = ring->consumer.peek(page_words);
        popped.insert(popped.end(), records.begin(), records.end());
        ring->consumer.release(records.size());
    };
    weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            ring = std::make_unique<Ring<std::uint64_t>::Halves>(
                Ring<std::uint64_t>::make(page_words, 2));
            first_slot = ring->producer.next_slots(1);
            popped.clear();
            return {[&] {
                        for (std::uint64_t i = 0; i < 5; ++i) {
                            std::uint64_t* slot = ring->producer.claim(1);
                            (i > 0 && slot == first_slot ? returns : stays) += 1;
                            *slot = i;
                            ring->producer.publish();
                        }
                    },
                    [&] {
                        pop();
                        pop();
                        pop();
                    }};
        },
        [&] {
            pop();
            ASSERT_EQ(popped.size(), 5U) << weaver.trace();
            for (std::size_t i = 0; i < popped.size(); ++i) {
                ASSERT_EQ(popped[i], i) << weaver.trace();
            }
        },
        no_stuck, preemptions_max);
    EXPECT_GT(returns, 0U);
    EXPECT_GT(stays, 0U);
}

TEST(WeaveRing, a_batch_appears_whole_or_not_at_all) {
    Weaver weaver;
    std::unique_ptr<Ring<std::uint64_t>::Halves> ring;
    std::vector<std::size_t> seen;
    weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            ring = std::make_unique<Ring<std::uint64_t>::Halves>(
                Ring<std::uint64_t>::make(page_words));
            seen.clear();
            return {[&] {
                        for (std::uint64_t i = 0; i < 2; ++i) {  // two claims, one publish
                            std::uint64_t* slots = ring->producer.claim(2);
                            slots[0] = i;
                            slots[1] = i;
                        }
                        ring->producer.publish();
                    },
                    [&] {
                        for (int i = 0; i < 3; ++i) {
                            seen.push_back(ring->consumer.peek(page_words).size());
                        }
                    }};
        },
        [&] {
            for (const std::size_t size : seen) {
                ASSERT_TRUE(size == 0 || size == 4) << size << " after: " << weaver.trace();
            }
        },
        no_stuck);
}

/// A futex for fibers, as the kernel documents it. It never times out, so the weaver reports a lost
/// wake-up as a stuck fiber.
struct ModelFutex {
    static inline bool sleeping = false;
    static inline int wakes = 0;

    static void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t) {
        if (word.load() != expected) {
            return;
        }
        sleeping = true;
        Weaver::block_until([] { return !sleeping; });
    }

    static void wake(std::atomic<std::uint32_t>&) {
        ++wakes;
        sleeping = false;
    }
};

/// A core that parks whenever it finds nothing, until it has received everything, and its wakers.
struct ParkingScene {
    BasicParking<ModelFutex> parking;
    std::vector<Ring<std::uint64_t>::Halves> rings;
    std::size_t consumed = 0;

    explicit ParkingScene(std::size_t wakers) {
        ModelFutex::sleeping = false;
        ModelFutex::wakes = 0;
        for (std::size_t i = 0; i < wakers; ++i) {
            rings.push_back(Ring<std::uint64_t>::make(page_words));
        }
    }

    void consume(std::size_t wanted) {
        while (consumed < wanted) {
            std::size_t found = 0;
            for (auto& ring : rings) {
                const auto records = ring.consumer.peek(page_words);
                ring.consumer.release(records.size());
                found += records.size();
            }
            consumed += found;
            if (found == 0) {
                parking.park([this] { return has_work(); }, 0);
            }
        }
    }

    void bring(std::size_t ring) {
        const std::uint64_t value = 7;
        EXPECT_TRUE(rings[ring].producer.try_push({&value, 1}));
        parking.wake();
    }

    bool has_work() {
        for (auto& ring : rings) {
            if (!ring.consumer.empty()) {
                return true;
            }
        }
        return false;
    }
};

TEST(WeaveParking, no_wakeup_is_lost_over_two_bursts) {
    Weaver weaver;
    std::unique_ptr<ParkingScene> scene;
    int most_wakes = 0;
    const std::size_t orders = weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<ParkingScene>(1);
            return {[&] { scene->consume(2); },
                    [&] {
                        scene->bring(0);
                        scene->bring(0);
                    }};
        },
        [&] {
            most_wakes = std::max(most_wakes, ModelFutex::wakes);
            ASSERT_EQ(scene->consumed, 2U) << weaver.trace();
            ASSERT_LE(ModelFutex::wakes, 2) << "more than one wake call a burst";
        },
        no_stuck, preemptions_max);
    EXPECT_GT(orders, 100U);
    EXPECT_GT(most_wakes, 0) << "no order had the core asleep: the test walks too little";
}

TEST(WeaveParking, no_wakeup_is_lost_between_two_wakers) {
    Weaver weaver;
    std::unique_ptr<ParkingScene> scene;
    weaver.walk(
        [&]() -> std::vector<Weaver::Body> {
            scene = std::make_unique<ParkingScene>(2);
            return {[&] {
                        if (!scene->has_work()) {
                            scene->parking.park([&] { return scene->has_work(); }, 0);
                        }
                        scene->consumed = 1;
                    },
                    [&] {
                        auto* slot = scene->rings[0].producer.claim(1);
                        *slot = 7;
                        scene->rings[0].producer.publish();
                        scene->parking.wake();
                    },
                    [&] { scene->parking.wake(); }};
        },
        [&] {
            ASSERT_EQ(scene->consumed, 1U) << weaver.trace();
            ASSERT_LE(ModelFutex::wakes, 2);
        },
        no_stuck, preemptions_max);
}

/// Each store from which a later load must not be reordered (parking.h).
TEST(WeaveFence, a_core_that_parks_and_a_thread_that_wakes_it) {
    ParkingScene scene{1};
    const auto parks = [&] { scene.parking.park([] { return true; }, 0); };
    EXPECT_PRED3(weave::is_fenced, weave::points_of(parks), "park:after_flag", "park:after_fence");
    EXPECT_PRED3(weave::is_fenced, weave::points_of([&] { scene.parking.wake(); }),
                 "wake:before_fence", "wake:after_fence");
}

}  // namespace
}  // namespace pinstrike::actors
