// path: cold
#include "actors/poller/kept_packets.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {
namespace {

TEST(KeptPackets, are_released_by_whole_bursts_in_their_order) {
    KeptPackets kept{100};
    kept.add(3, 2);
    kept.add(5, 2);  // no new record: released with those before it
    kept.add(7, 6);
    EXPECT_EQ(kept.count(), 15U);
    EXPECT_EQ(kept.release(1), 0U);
    EXPECT_EQ(kept.release(5), 8U) << "one of the third is still read";
    EXPECT_EQ(kept.release(5), 0U);
    EXPECT_EQ(kept.release(6), 7U);
    EXPECT_EQ(kept.count(), 0U);
}

TEST(KeptPackets, are_no_more_than_the_port_has_room_for) {
    KeptPackets kept{100};
    EXPECT_TRUE(kept.has_room(100));
    EXPECT_FALSE(kept.has_room(101));
    for (std::uint64_t i = 1; i <= 100; ++i) {  // the most bursts possible
        ASSERT_TRUE(kept.has_room(1));
        kept.add(1, i);
    }
    EXPECT_FALSE(kept.has_room(1));
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
        ASSERT_EQ(kept.release(i), 1U);
        ASSERT_TRUE(kept.has_room(1));
        kept.add(1, 100 + i);
    }
}

}  // namespace
}  // namespace pinstrike::actors
