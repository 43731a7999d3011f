// path: cold
//
// What a poller reports at the beginning and the end of a trading day, and of tests outside its
// hours.
#include "tests/actors/poller/poller_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pinstrike::actors {
namespace {

using namespace poller_scene;

/// A poller with two sessions, and a clock that advances by 1 ms with each block.
struct TwoSessions : Scene {
    static inline const feed::SessionHours hours{{{0, 100 * ms_ns}, {500 * ms_ns, 600 * ms_ns}}};

    TwoSessions() : Scene{false, 1, {hours, hours}} {}

    void give(std::uint32_t first, std::uint8_t day, const nic::Group& group,
              feed::BlockRole role = feed::BlockRole::data) {
        scripts[0]->give(block_frame(first, 1, group, role, day));
        poller->step(at_ms++ * ms_ns);
    }

    std::int64_t at_ms = 10;
};

/// Two resets follow each other, as in a failover to the disaster site. Stream A lost the first,
/// and stream B brings it behind stream A's end of day (simulated seed 55503472).
TEST(Poller, reports_the_first_of_two_resets_behind_the_end_of_day) {
    TwoSessions scene;
    scene.give(0, 0, group_a, feed::BlockRole::start_of_day);
    scene.give(0, 0, group_b, feed::BlockRole::start_of_day);
    scene.give(1, 0, group_a);
    scene.give(1, 0, group_b);
    scene.give(68, 2, group_a, feed::BlockRole::reset);
    scene.give(69, 2, group_a);
    scene.give(70, 2, group_a);
    EXPECT_EQ(scene.reported(), "S0 1 R68 69  70");
    scene.give(79, 1, group_b, feed::BlockRole::reset);
    EXPECT_EQ(scene.reported(), "R79");
    scene.give(68, 2, group_b, feed::BlockRole::reset);
    scene.give(69, 2, group_b);
    scene.give(70, 2, group_b);
    scene.give(71, 3, group_b);
    EXPECT_EQ(scene.reported(), "") << "the day has ended";
}

TEST(Poller, takes_a_reset_that_both_streams_lost_for_the_start_of_a_day_that_is_due) {
    TwoSessions scene;
    const auto both = [&](std::uint32_t first, std::int64_t at_ms, std::uint8_t day) {
        for (const nic::Group& group : {group_a, group_b}) {
            scene.scripts[0]->give(block_frame(first, 1, group, feed::BlockRole::data, day));
        }
        scene.poller->step(at_ms * ms_ns);
    };
    both(68, 10, 0);
    both(67, 20, 1);
    both(68, 21, 1);
    scene.poller->step(30 * ms_ns);
    EXPECT_EQ(scene.reported(), "68 R66 67 68") << "no day has ended";
    both(69, 40, 1);
    both(70, 41, 1);
    scene.poller->step(200 * ms_ns);
    scene.poller->step(510 * ms_ns);
    both(5, 520, 2);
    both(6, 521, 2);
    scene.poller->step(530 * ms_ns);
    EXPECT_EQ(scene.reported(), "69  70 S4 5 6");
    both(4, 540, 3);
    both(5, 541, 3);
    scene.poller->step(550 * ms_ns);
    EXPECT_EQ(scene.reported(), "R3 4 5") << "the day has begun";
}

TEST(Poller, gives_no_core_what_comes_first_outside_session_hours) {
    const feed::SessionHours hours{{{500 * ms_ns, 600 * ms_ns}}};
    Scene scene{false, 1, {hours, hours}};
    scene.scripts[0]->give(block_frame(1, 2));
    scene.poller->step(200 * ms_ns);
    EXPECT_EQ(scene.reported(), "");
}

TEST(Poller, gives_no_core_what_is_a_test_outside_session_hours) {
    TwoSessions scene;
    std::uint8_t day = 0;
    const auto both = [&](std::uint32_t first, std::uint8_t count, std::int64_t at_ms,
                          feed::BlockRole role = feed::BlockRole::data) {
        scene.scripts[0]->give(block_frame(first, count, group_a, role, day));
        scene.scripts[0]->give(block_frame(first, count, group_b, role, day));
        scene.poller->step(at_ms * ms_ns);
    };
    both(0, 1, 10, feed::BlockRole::start_of_day);
    both(1, 2, 11);
    EXPECT_EQ(scene.reported(), "S0 1 2");
    scene.scripts[0]->give(block_frame(3, 1, group_b));
    scene.poller->step(12 * ms_ns);
    both(70, 1, 99);
    scene.poller->step(150 * ms_ns);
    EXPECT_EQ(scene.reported(), "3 gap4-69  70");
    both(71, 3, 160);
    EXPECT_EQ(scene.reported(), "") << "behind the end of day";
    scene.scripts[0]->give(block_frame(69, 1, group_b));
    scene.poller->step(161 * ms_ns);
    EXPECT_EQ(scene.reported(), "69! gap69-69") << "late, and of the day that has ended";
    day = 1;
    both(0, 1, 200, feed::BlockRole::start_of_day);
    both(1, 5, 201);
    both(9, 1, 202);
    scene.poller->step(210 * ms_ns);
    both(5, 1, 211, feed::BlockRole::reset);
    EXPECT_EQ(scene.reported(), "") << "a test, its gap and its reset too";
    scene.poller->step(510 * ms_ns);
    day = 2;
    both(0, 1, 520, feed::BlockRole::start_of_day);
    both(1, 1, 521);
    EXPECT_EQ(scene.reported(), "S0 1");
    scene.poller->step(710 * ms_ns);
    both(2, 1, 720);
    EXPECT_EQ(scene.reported(), "") << "no end of day was heard, but the hours are over";
    const auto& counters = scene.poller->line(0).arbiter.counters();
    EXPECT_EQ(counters.read(feed::LineCount::filtered), 3U + 6U + 1U);
    EXPECT_EQ(counters.read(feed::LineCount::delivered), 2U + 1U + 1U + 3U + 1U + 6U + 1U + 1U);
}

/// The late reset belongs to the day that has ended, and still clears its state.
TEST(Poller, reports_a_reset_of_the_day_behind_the_end_of_day) {
    TwoSessions scene;
    scene.give(0, 0, group_a, feed::BlockRole::start_of_day);
    scene.give(0, 0, group_b, feed::BlockRole::start_of_day);
    scene.give(69, 0, group_a);
    scene.give(69, 0, group_b);
    scene.give(80, 1, group_a);  // stream A lost the reset to 69
    scene.give(70, 2, group_a);
    static_cast<void>(scene.reported());
    scene.give(79, 1, group_b, feed::BlockRole::reset);
    EXPECT_THAT(scene.reported(), ::testing::HasSubstr("R79"));
}

TEST(Poller, reports_what_a_numbering_of_the_day_lacks_behind_the_end_of_day) {
    TwoSessions scene;
    scene.scripts[0]->give(block_frame(0, 1, group_a, feed::BlockRole::start_of_day, 0));
    scene.scripts[0]->give(block_frame(1, 2, group_a, feed::BlockRole::data, 0));
    scene.scripts[0]->give(block_frame(68, 1, group_a, feed::BlockRole::reset, 1));
    scene.scripts[0]->give(block_frame(69, 2, group_a, feed::BlockRole::data, 1));
    scene.poller->step(10 * ms_ns);
    EXPECT_EQ(scene.reported(), "S0 1 2 R68 69  70");
    scene.scripts[0]->give(block_frame(6, 1, group_b, feed::BlockRole::data, 0));
    scene.poller->step(11 * ms_ns);
    EXPECT_EQ(scene.reported(), "gap3-5 6!");
}

/// Recovery delivers numbers 3 to 5 of the tests, after another reset that both streams lost.
TEST(Poller, gives_no_core_what_comes_late_of_tests_whose_start_was_lost) {
    const feed::SessionHours hours{{{0, 100 * ms_ns}, {2'500 * ms_ns, 2'600 * ms_ns}}};
    Scene scene{false, 1, {hours, hours}};
    std::uint8_t day = 0;
    std::int64_t at_ms = 10;
    const auto both = [&](std::uint32_t first, std::uint8_t count) {
        scene.scripts[0]->give(block_frame(first, count, group_a, feed::BlockRole::data, day));
        scene.scripts[0]->give(block_frame(first, count, group_b, feed::BlockRole::data, day));
        scene.poller->step(at_ms++ * ms_ns);
    };
    both(66, 1);
    both(69, 2);
    for (; at_ms < 20; ++at_ms) {
        scene.poller->step(at_ms * ms_ns);
    }
    EXPECT_EQ(scene.reported(), "66 gap67-68 69  70");
    at_ms = 200;
    day = 1;
    for (const std::uint32_t first : {1U, 2U, 6U, 7U, 8U, 9U, 10U, 11U, 12U}) {
        both(first, 1);
    }
    for (; at_ms < 250; ++at_ms) {
        scene.poller->step(at_ms * ms_ns);
    }
    const auto& counters = scene.poller->line(0).arbiter.counters();
    EXPECT_EQ(counters.read(feed::LineCount::resets_inferred), 1U);
    scene.bring(3, 3, day);
    scene.poller->step(301 * ms_ns);
    EXPECT_EQ(counters.read(feed::LineCount::late), 3U);
    EXPECT_EQ(scene.reported(), "");
    scene.bring(67, 2);
    scene.poller->step(302 * ms_ns);
    EXPECT_EQ(scene.reported(), "67! 68! gap67-68") << "of the day, though behind tests";
}

}  // namespace
}  // namespace pinstrike::actors
