#include "actors/threads/record_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace pinstrike::actors {
namespace {

struct alignas(32) Head {
    std::uint64_t number = 0;
    std::uint32_t bytes = 0;

    [[nodiscard]] std::size_t bytes_behind() const { return bytes; }
};

/// Bytes whose values follow from the number, so that a mixture of two records is detected.
std::vector<std::byte> bytes_of(std::uint64_t number, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<std::byte>(number * 31 + i);
    }
    return bytes;
}

std::size_t length_of(std::uint64_t number) {
    return (number * 37) % 700;
}

bool put(Producer<Head>& ring, std::uint64_t number, std::size_t length) {
    const std::vector<std::byte> bytes = bytes_of(number, length);
    Head* const head = claim_record(ring, std::span{bytes});
    if (head == nullptr) {
        return false;
    }
    *head = {number, static_cast<std::uint32_t>(length)};
    ring.publish();
    return true;
}

/// Reads the oldest record, which must be this one.
void expect_next(Consumer<Head>& ring, std::uint64_t number, std::size_t length) {
    const auto record = peek_record(ring);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->head.number, number);
    const std::vector<std::byte> expected = bytes_of(number, length);
    EXPECT_TRUE(std::ranges::equal(record->bytes, expected)) << number;
    ring.release(record->slots);
}

TEST(RecordRing, gives_back_lengths_at_every_edge_of_a_slot) {
    auto ring = Ring<Head>::make(Ring<Head>::slots_for(1));
    EXPECT_FALSE(peek_record(ring.consumer));
    std::uint64_t number = 0;
    for (const std::size_t length : {0U, 1U, 31U, 32U, 33U, 63U, 64U, 65U, 1000U}) {
        EXPECT_EQ(record_slots<Head>(length), 1 + (length + 31) / 32);
        ASSERT_TRUE(put(ring.producer, number, length));
        expect_next(ring.consumer, number++, length);
    }
    EXPECT_TRUE(ring.consumer.empty());
}

TEST(RecordRing, refuses_a_record_without_room_whole) {
    auto ring = Ring<Head>::make(Ring<Head>::slots_for(1));
    const std::size_t slots = ring.producer.capacity();
    ASSERT_TRUE(put(ring.producer, 1, (slots - 3) * sizeof(Head)));  // leaves two slots
    EXPECT_FALSE(put(ring.producer, 2, sizeof(Head) + 1));
    EXPECT_TRUE(put(ring.producer, 3, sizeof(Head)));
    expect_next(ring.consumer, 1, (slots - 3) * sizeof(Head));
    expect_next(ring.consumer, 3, sizeof(Head));
    EXPECT_FALSE(peek_record(ring.consumer));
}

TEST(RecordRing, walks_several_records_of_one_look) {
    auto ring = Ring<Head>::make(Ring<Head>::slots_for(1));
    ASSERT_TRUE(put(ring.producer, 1, 40) && put(ring.producer, 2, 0) && put(ring.producer, 3, 5));
    const auto waiting = ring.consumer.peek(ring.producer.capacity());
    std::size_t at = 0;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        const auto record = first_record(waiting.subspan(at));
        EXPECT_EQ(record.head.number, number);
        at += record.slots;
    }
    EXPECT_EQ(at, waiting.size());
}

TEST(RecordRingDeathTest, does_not_read_behind_what_was_published) {
    auto ring = Ring<Head>::make(Ring<Head>::slots_for(1));
    const Head alone{1, 100};
    ASSERT_TRUE(ring.producer.try_push({&alone, 1}));
    EXPECT_DEATH(static_cast<void>(peek_record(ring.consumer)), "slots <= waiting.size");
}

TEST(RecordRing, two_threads_lose_and_mix_nothing) {
    constexpr std::uint64_t count = 20'000;
    auto ring = Ring<Head>::make(Ring<Head>::slots_for(1));
    std::thread writer([&] {
        ring.producer.release_ownership();
        for (std::uint64_t number = 0; number != count;) {
            put(ring.producer, number, length_of(number)) ? static_cast<void>(++number)
                                                          : std::this_thread::yield();
        }
    });
    for (std::uint64_t number = 0; number != count;) {
        if (ring.consumer.empty()) {
            std::this_thread::yield();
            continue;
        }
        expect_next(ring.consumer, number, length_of(number));
        ++number;
    }
    writer.join();
}

}  // namespace
}  // namespace pinstrike::actors
