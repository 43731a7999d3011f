#include "actors/threads/ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

namespace pinstrike::actors {
namespace {

using Words = Ring<std::uint64_t>;
constexpr std::size_t ring_slots = 512;  // a page of words

static_assert(!std::is_copy_constructible_v<Producer<std::uint64_t>>);
static_assert(!std::is_copy_constructible_v<Consumer<std::uint64_t>>);
static_assert(std::is_nothrow_move_constructible_v<Producer<std::uint64_t>>);

std::vector<std::uint64_t> counting(std::size_t count, std::uint64_t from = 0) {
    std::vector<std::uint64_t> values(count);
    std::iota(values.begin(), values.end(), from);
    return values;
}

TEST(MirroredMemory, the_second_copy_is_the_first) {
    const std::size_t bytes = 2 * MirroredMemory::page_bytes();
    MirroredMemory memory{bytes};
    auto* data = static_cast<unsigned char*>(memory.data());
    data[5] = 17;
    EXPECT_EQ(data[bytes + 5], 17);
    data[2 * bytes - 1] = 23;
    EXPECT_EQ(data[bytes - 1], 23);
}

TEST(MirroredMemory, lives_until_its_last_handle) {
    MirroredMemory second;
    {
        MirroredMemory first{MirroredMemory::page_bytes()};
        static_cast<char*>(first.data())[0] = 'x';
        second = first;
    }
    EXPECT_EQ(static_cast<char*>(second.data())[0], 'x');
}

TEST(Ring, starts_empty_and_takes_exactly_its_capacity) {
    auto [producer, consumer] = Words::make(ring_slots);
    EXPECT_TRUE(consumer.empty());
    EXPECT_TRUE(consumer.peek(1).empty());
    EXPECT_FALSE(producer.try_push(counting(ring_slots + 1)));
    EXPECT_TRUE(producer.try_push(counting(ring_slots)));
    EXPECT_FALSE(producer.try_push(counting(1)));
    EXPECT_EQ(consumer.peek(2 * ring_slots).size(), ring_slots);
    EXPECT_EQ(producer.high_water().read(), ring_slots);
}

TEST(Ring, nothing_is_seen_before_publish) {
    auto [producer, consumer] = Words::make(ring_slots);
    producer.claim(1)[0] = 1;
    producer.claim(2)[1] = 3;
    EXPECT_TRUE(consumer.peek(8).empty());
    EXPECT_TRUE(producer.publish());
    EXPECT_FALSE(producer.publish());
    EXPECT_EQ(consumer.peek(8).size(), 3U);
}

TEST(Ring, a_refused_push_leaves_nothing_behind) {
    auto [producer, consumer] = Words::make(ring_slots);
    ASSERT_TRUE(producer.try_push(counting(ring_slots - 1)));
    EXPECT_EQ(producer.claim(2), nullptr);
    EXPECT_EQ(producer.claim(1, 1), nullptr) << "would leave no spare slot";
    ASSERT_NE(producer.claim(1), nullptr);
    producer.publish();
    EXPECT_EQ(consumer.peek(ring_slots).size(), ring_slots);
}

TEST(Ring, slots_for_gives_a_capacity_that_make_takes) {
    struct Odd {
        char bytes[24];
    };

    EXPECT_EQ(Ring<std::uint64_t>::slots_for(1), 512U);
    EXPECT_EQ(Ring<Odd>::slots_for(100), 512U);
    EXPECT_EQ(Ring<Odd>::make(512).producer.capacity(), 512U);
}

TEST(RingDeathTest, refuses_capacities_that_cannot_be_mirrored) {
    EXPECT_DEATH(static_cast<void>(Words::make(500)), "has_single_bit");
    EXPECT_DEATH(static_cast<void>(Words::make(256)), "page_bytes");
}

/// Random batches, through many wraps: every batch is contiguous and in order.
TEST(Ring, batches_stay_contiguous_across_the_end) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random{seed};
    auto [producer, consumer] = Words::make(ring_slots);
    std::uint64_t pushed = 0;
    std::uint64_t popped = 0;
    while (popped < 40 * ring_slots) {
        const std::size_t count = 1 + random() % (ring_slots - 1);
        if (std::uint64_t* batch = producer.claim(count)) {
            for (std::size_t i = 0; i < count; ++i) {
                batch[i] = pushed++;
            }
            producer.publish();
        }
        const auto records = consumer.peek(1 + random() % ring_slots);
        for (const std::uint64_t record : records) {
            ASSERT_EQ(record, popped++);
        }
        consumer.release(records.size());
        ASSERT_LE(pushed - popped, ring_slots);
    }
}

void pop_all(Consumer<std::uint64_t>& consumer, std::uint64_t& next) {
    const auto records = consumer.peek(ring_slots);
    for (const std::uint64_t value : records) {
        EXPECT_EQ(value, next++);
    }
    consumer.release(records.size());
}

TEST(Ring, begins_anew_at_its_first_slot_once_it_is_empty) {
    auto [producer, consumer] = Words::make(ring_slots, 8);
    const std::uint64_t* const first_slot = producer.next_slots(1);
    std::uint64_t next = 0;
    ASSERT_TRUE(producer.try_push(counting(7)));
    pop_all(consumer, next);
    EXPECT_EQ(producer.next_slots(1), first_slot + 7) << "it has not gone on for long enough";
    ASSERT_TRUE(producer.try_push(counting(1, 7)));
    EXPECT_EQ(producer.next_slots(1), first_slot + 8) << "a record waits";
    pop_all(consumer, next);
    ASSERT_TRUE(producer.try_push(counting(1, 8)));  // the tail is read after one more
    pop_all(consumer, next);
    EXPECT_EQ(producer.next_slots(1), first_slot);
    EXPECT_TRUE(producer.try_push(counting(ring_slots, 9)))
        << "all slots are free, wherever it begins";
    EXPECT_FALSE(producer.try_push(counting(1)));
    pop_all(consumer, next);
    EXPECT_EQ(next, 9 + ring_slots);
}

TEST(Ring, does_not_begin_anew_in_the_middle_of_a_batch) {
    auto [producer, consumer] = Words::make(ring_slots, 8);
    std::uint64_t* const first_slot = producer.claim(8);
    std::iota(first_slot, first_slot + 8, std::uint64_t{0});
    EXPECT_EQ(producer.claim(ring_slots), nullptr) << "it looked, and nothing is published";
    EXPECT_EQ(producer.next_slots(1), first_slot + 8);
    producer.publish();
    std::uint64_t next = 0;
    pop_all(consumer, next);
    EXPECT_EQ(next, 8U);
}

TEST(Ring, drained_when_all_published_is_released) {
    auto [producer, consumer] = Words::make(ring_slots);
    EXPECT_TRUE(producer.drained());
    ASSERT_TRUE(producer.try_push(counting(3)));
    EXPECT_FALSE(producer.drained());
    consumer.release(consumer.peek(3).size());
    EXPECT_TRUE(producer.drained());
}

/// Two threads, records of two words that must agree, random batch sizes on both sides.
void hammer(std::uint64_t records_count, std::size_t warm_slots) {
    struct Pair {
        std::uint64_t value;
        std::uint64_t same;
    };

    auto halves = Ring<Pair>::make(256, warm_slots);
    std::thread producing{[producer = std::move(halves.producer), records_count]() mutable {
        std::mt19937_64 random{1};
        for (std::uint64_t next = 0; next < records_count;) {
            const std::size_t count =
                std::min<std::uint64_t>(1 + random() % 40, records_count - next);
            Pair* batch = producer.claim(count);
            if (batch == nullptr) {
                std::this_thread::yield();
                continue;
            }
            for (std::size_t i = 0; i < count; ++i, ++next) {
                batch[i] = {next, ~next};
            }
            producer.publish();
        }
    }};
    std::mt19937_64 random{2};
    Consumer<Pair> consumer = std::move(halves.consumer);
    std::uint64_t wrong = 0;
    for (std::uint64_t next = 0; next < records_count;) {
        const auto batch = consumer.peek(1 + random() % 60);
        for (const Pair& pair : batch) {
            wrong += pair.value != next || pair.same != ~next ? 1 : 0;
            ++next;
        }
        consumer.release(batch.size());
        if (batch.empty()) {
            std::this_thread::yield();
        }
    }
    producing.join();
    EXPECT_EQ(wrong, 0U);
}

TEST(RingStress, two_threads) {
    hammer(400'000, 256);
}

TEST(RingStress, two_threads_and_an_end_that_is_seldom_reached) {
    hammer(400'000, 20);
}

TEST(RingStress, DISABLED_two_threads_long) {
    hammer(200'000'000, 256);
    hammer(200'000'000, 20);
}

}  // namespace
}  // namespace pinstrike::actors
