// path: cold
//
// What a poller reports around the end of a trading day.
#include "tests/actors/poller/poller_scene.h"

#include <gtest/gtest.h>

namespace pinstrike::actors {
namespace {

using namespace poller_scene;

/// Two resets follow each other, as in a failover to the disaster site. Stream A lost the first,
/// and stream B brings it behind stream A's end of day (simulated seed 55503472).
TEST(Poller, tells_behind_the_end_of_day_of_the_first_of_two_resets) {
    const feed::SessionHours hours{{{0, 100 * ms}, {500 * ms, 600 * ms}}};
    Scene scene{false, 1, {hours, hours}};
    std::int64_t at_ms = 10;
    const auto give = [&](std::uint32_t first, std::uint8_t day, const nic::Group& group,
                          feed::BlockRole role = feed::BlockRole::data) {
        scene.scripts[0]->give(block_frame(first, 1, group, role, day));
        scene.poller->step(at_ms++ * ms);
    };
    give(0, 0, group_a, feed::BlockRole::start_of_day);
    give(0, 0, group_b, feed::BlockRole::start_of_day);
    give(1, 0, group_a);
    give(1, 0, group_b);
    give(68, 2, group_a, feed::BlockRole::reset);
    give(69, 2, group_a);
    give(70, 2, group_a);
    EXPECT_EQ(scene.reported(), "S0 1 R68 69  70");
    give(79, 1, group_b, feed::BlockRole::reset);
    EXPECT_EQ(scene.reported(), "R79");
    give(68, 2, group_b, feed::BlockRole::reset);
    give(69, 2, group_b);
    give(70, 2, group_b);
    give(71, 3, group_b);
    EXPECT_EQ(scene.reported(), "") << "the day has ended";
}

}  // namespace
}  // namespace pinstrike::actors
