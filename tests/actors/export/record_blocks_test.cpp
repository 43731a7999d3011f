// path: cold
#include "actors/export/record_blocks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

namespace pinstrike::actors {
namespace {

RecordBlock block_of(unsigned char content) {
    RecordBlock block;
    const std::array record{std::byte{content}};
    block.append(record);
    return block;
}

TEST(BlockQueue, blocks_come_in_their_order_and_then_the_end) {
    BlockQueue queue;
    std::thread producer{[&queue] {
        for (unsigned char i = 0; i < 200; ++i) {  // more than the queue holds
            EXPECT_TRUE(queue.exchange(block_of(i)).empty());
        }
        queue.close();
    }};
    std::optional<RecordBlock> block;
    unsigned taken = 0;
    while ((block = queue.take(std::move(block)))) {
        ASSERT_EQ(block->records().size(), 1U);
        EXPECT_EQ(block->records().front(), std::byte{static_cast<unsigned char>(taken++)});
    }
    producer.join();
    EXPECT_EQ(taken, 200U);
}

TEST(BlockQueue, cancelled_it_drops_blocks_and_nobody_waits) {
    BlockQueue queue;
    std::thread producer{[&queue] {
        for (unsigned i = 0; i < 1000; ++i) {  // nobody takes one
            EXPECT_TRUE(queue.exchange(block_of(1)).empty());
        }
    }};
    queue.cancel();
    producer.join();
    EXPECT_FALSE(queue.take({}).has_value());
}

TEST(RecordBlock, has_room_for_its_capacity) {
    RecordBlock block;
    EXPECT_TRUE(block.empty());
    EXPECT_TRUE(block.has_room(RecordBlock::capacity_bytes));
    const std::array<std::byte, 16> record{};
    for (std::size_t i = 0; i < RecordBlock::capacity_bytes / record.size(); ++i) {
        ASSERT_TRUE(block.has_room(record.size()));
        block.append(record);
    }
    EXPECT_FALSE(block.has_room(1));
    block.clear();
    EXPECT_TRUE(block.empty());
}

}  // namespace
}  // namespace pinstrike::actors
