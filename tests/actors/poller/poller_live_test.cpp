// path: cold
//
// Requests to a poller while it runs: packets, settings, lines.
#include "tests/actors/poller/poller_scene.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace pinstrike::actors {
namespace {

using namespace poller_scene;

/// First numbers of the tapped blocks, with the number of the request if it is not 1.
std::string tapped(Scene& scene) {
    std::string words;
    const auto records = scene.tapped->peek(PacketTap::slots);
    for (std::size_t at = 0; at < records.size();) {
        const auto packet = first_record(records.subspan(at));
        EXPECT_EQ(packet.bytes.size(), packet.head.length_bytes);
        const std::byte* block = packet.bytes.last(Toy::header_bytes).data();
        words += words.empty() ? "" : " ";
        words += fmt::format("{}", nic::load_be32(block));
        words += packet.head.order == 1 ? "" : fmt::format("({})", packet.head.order);
        at += packet.slots;
    }
    scene.tapped->release(records.size());
    return words;
}

TEST(Tap, copies_the_next_packets_of_a_line_and_no_more) {
    Scene scene;
    scene.scripts[0]->give(block_frame(11, 1));
    scene.step_to(1 * ms_ns);
    scene.poller->tap()->order({1, 0, 3});
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.scripts[0]->give(block_frame(99, 1, group_other));
    scene.scripts[0]->give(igmp_frame());
    scene.step_to(2 * ms_ns);
    scene.scripts[0]->give(block_frame(13, 1));
    scene.scripts[0]->give(block_frame(14, 1));
    scene.step_to(3 * ms_ns);
    EXPECT_EQ(tapped(scene), "12 12 13");
    EXPECT_EQ(scene.reported(), "11 12 13 14") << "the line has all of it";
    EXPECT_EQ(scene.poller->tap()->skipped().read(), 0U);
}

TEST(Tap, has_what_cannot_be_decoded_too) {
    Scene scene;
    scene.poller->tap()->order({1, 0, 2});
    std::array<std::byte, Toy::header_bytes + 1> odd{};
    nic::store_be32(odd.data() + 1, 77);  // the block's end, which tapped() reads
    scene.scripts[0]->give(frame_of(odd, group_a));
    scene.step_to(1 * ms_ns);
    EXPECT_EQ(tapped(scene), "77");
}

TEST(Tap, follows_its_last_order) {
    Scene scene;
    scene.poller->tap()->order({1, 0, 100});
    scene.scripts[0]->give(block_frame(11, 1));
    scene.step_to(1 * ms_ns);
    scene.poller->tap()->order({2, 0, 1});
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(13, 1));
    scene.step_to(2 * ms_ns);
    scene.poller->tap()->order({3, 0, 0});
    scene.scripts[0]->give(block_frame(14, 1));
    scene.step_to(3 * ms_ns);
    EXPECT_EQ(tapped(scene), "11 12(2)");
}

TEST(Tap, counts_what_finds_no_room_and_copies_as_many_as_were_asked_for) {
    Scene scene;
    const std::size_t fit = PacketTap::slots / record_slots<TappedPacket>(block_frame(1, 1).size());
    scene.poller->tap()->order({1, 0, static_cast<std::uint32_t>(fit + 1)});
    for (std::size_t i = 0; i < fit + 4; ++i) {
        scene.scripts[0]->give(block_frame(static_cast<std::uint32_t>(11 + i), 1));
    }
    while (!scene.scripts[0]->exhausted()) {
        scene.poller->step(++scene.stepped_ns);
        static_cast<void>(scene.reported());
    }
    EXPECT_EQ(scene.poller->tap()->skipped().read(), 4U);
    static_cast<void>(tapped(scene));
    scene.scripts[0]->give(block_frame(static_cast<std::uint32_t>(15 + fit), 1));
    scene.scripts[0]->give(block_frame(static_cast<std::uint32_t>(16 + fit), 1));
    scene.poller->step(++scene.stepped_ns);
    EXPECT_EQ(tapped(scene), fmt::format("{}", 15 + fit));
}

PollerSettings settings() {
    return {2 * ms_ns, {}, true, false, {{nic::Subnet{{0xA245'2C00}, 0xFFFF'FF00}}}, nullptr};
}

TEST(Settings, are_taken_with_the_next_housekeeping) {
    Scene scene;
    scene.scripts[0]->give(block_frame(60, 1));
    scene.step_to(10 * ms_ns);
    EXPECT_EQ(scene.reported(), "") << "a test, and nobody wants tests";
    PollerSettings given = settings();
    given.test_symbols = true;
    scene.poller->settings().offer(given);
    EXPECT_FALSE(scene.poller->settings().adopted());
    scene.step_to(20 * ms_ns);
    EXPECT_TRUE(scene.poller->settings().adopted());
    scene.scripts[0]->give(block_frame(61, 1));
    scene.step_to(21 * ms_ns);
    EXPECT_EQ(scene.reported(), "61");
}

TEST(Settings, change_who_may_send_and_give_back_who_might) {
    Scene scene;
    PollerSettings given = settings();
    given.sources = {{nic::Subnet{{0x0A00'0000}, 0xFF00'0000}}};
    scene.poller->settings().offer(given);
    scene.step_to(10 * ms_ns);
    scene.scripts[0]->give(block_frame(11, 1));
    scene.step_to(11 * ms_ns);
    EXPECT_EQ(scene.reported(), "");
    EXPECT_EQ(scene.dropped(nic::Drop::foreign_source), 1U);
    ASSERT_EQ(given.sources[0].size(), 1U) << "who offered them frees what the poller had";
    EXPECT_EQ(given.sources[0][0].address.value, 0xA245'2C00U);
}

TEST(Settings, change_how_long_holes_wait_and_streams_may_be_silent) {
    Scene scene;
    PollerSettings given = settings();
    given.window_ns = 50 * ms_ns;
    given.silence = {100 * ms_ns, 1'000'000 * ms_ns};
    scene.poller->settings().offer(given);
    scene.step_to(10 * ms_ns);
    scene.scripts[0]->give(block_frame(11, 1));
    scene.scripts[0]->give(block_frame(13, 1));
    auto look_until = [&scene, at_ns = 10 * ms_ns](std::int64_t end_ns) mutable {
        while (at_ns < end_ns) {
            scene.poller->step(at_ns += ms_ns / 2);
        }
    };
    look_until(40 * ms_ns);
    EXPECT_EQ(scene.reported(), "11") << "2 ms are over, 50 are not";
    look_until(70 * ms_ns);
    EXPECT_EQ(scene.reported(), "gap12-12 13");
    look_until(600 * ms_ns);
    EXPECT_NE(scene.reported().find("A:1"), std::string::npos) << "silent for more than 100 ms";
}

/// Line 2, and line 3 if it has a group of its own.
PollerSetup more_lines(nic::Group second_line, std::optional<nic::Group> third_line = {}) {
    PollerSetup setup;
    for (const auto& group : {std::optional{second_line}, third_line}) {
        if (group) {
            feed::LineConfig line;
            line.number = static_cast<std::uint16_t>(2 + setup.lines.size());
            line.streams = {*group, {{group->address.value + 0x200}, group->port}};
            setup.lines.push_back(line);
        }
    }
    return setup;
}

TEST(MoreLines, come_without_a_message_lost_on_the_others) {
    Scene scene;
    scene.scripts[0]->give(block_frame(11, 1));
    scene.scripts[0]->give(block_frame(7, 1, group_other));
    scene.step_to(10 * ms_ns);
    EXPECT_EQ(scene.reported(), "11");
    EXPECT_EQ(scene.dropped(nic::Drop::unknown_group), 1U) << "nobody's yet";
    PollerSettings given = settings();
    Problems problems;
    given.lines = scene.poller->prepare_lines(more_lines(group_other), {{group_other}}, problems);
    ASSERT_NE(given.lines, nullptr);
    EXPECT_EQ(scene.poller->lines_count(), 1U);
    EXPECT_EQ(scene.scripts[0]->joined.size(), 0U) << "not before the poller has the line";
    scene.poller->settings().offer(given);
    scene.scripts[0]->give(block_frame(12, 1));
    scene.step_to(20 * ms_ns);
    ASSERT_EQ(scene.poller->lines_count(), 2U);
    EXPECT_EQ(scene.poller->line(1).number, 2U);
    EXPECT_EQ(scene.scripts[0]->joined, std::vector{group_other});
    scene.scripts[0]->give(block_frame(8, 2, group_other));
    scene.scripts[0]->give(block_frame(13, 1, group_b));
    scene.step_to(21 * ms_ns);
    EXPECT_EQ(scene.reported(), "12 8 9 13");
    EXPECT_EQ(scene.dropped(nic::Drop::unknown_group), 1U);
    scene.scripts[0]->give(block_frame(11, 1, group_other));
    scene.scripts[0]->give(block_frame(14, 1));
    scene.step_to(22 * ms_ns);
    scene.step_to(40 * ms_ns);
    EXPECT_EQ(scene.reported(), "14 gap10-10 11") << "arbitration as for any line";
    using feed::LineCount;
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(LineCount::lost), 0U);
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(LineCount::delivered), 4U);
    EXPECT_EQ(scene.poller->line(1).arbiter.counters().read(LineCount::lost), 1U);
}

TEST(MoreLines, come_again_and_again_while_there_is_room) {
    Scene scene;
    scene.step_to(1 * ms_ns);
    std::vector<PollerSettings> given(2);
    const std::array third{nic::Group{{0xE000'CC03}, 45003}};
    Problems problems;
    given[0] = settings();
    given[0].lines = scene.poller->prepare_lines(more_lines(group_other), {{}}, problems);
    scene.poller->settings().offer(given[0]);
    scene.step_to(10 * ms_ns);
    PollerSetup setup = more_lines(group_other, third[0]);
    setup.lines.erase(setup.lines.begin());
    given[1] = settings();
    given[1].lines = scene.poller->prepare_lines(setup, {{}}, problems);
    scene.poller->settings().offer(given[1]);
    scene.step_to(20 * ms_ns);
    EXPECT_EQ(scene.poller->lines_count(), scene.poller->router().lines_max());
    scene.scripts[0]->give(block_frame(8, 1, group_other));
    scene.scripts[0]->give(block_frame(31, 1, third[0]));
    scene.scripts[0]->give(block_frame(11, 1));
    scene.step_to(21 * ms_ns);
    EXPECT_EQ(scene.reported(), "8 31 11");
    EXPECT_EQ(scene.poller->line(2).number, 3U);
}

TEST(MoreLines, are_refused_where_a_port_takes_none) {
    Scene scene(false, 2);
    scene.scripts[1]->takes_no_more = true;
    Problems problems;
    const auto more = scene.poller->prepare_lines(more_lines(group_other),
                                                  {{group_other}, {group_other}}, problems);
    EXPECT_EQ(more, nullptr);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].text, "port script: joins no more groups while it runs");
    Problems none;
    EXPECT_NE(scene.poller->prepare_lines(more_lines(group_other), {{group_other}, {}}, none),
              nullptr)
        << "which nothing of them comes by, is not asked";
}

TEST(MoreLines, are_seen_whole_by_whoever_reads_meanwhile) {
    Scene scene;
    std::atomic<bool> over{false};
    std::thread polls([&] {
        for (std::int64_t now_ns = 1; !over.load(); now_ns += ms_ns) {
            scene.poller->step(now_ns);
        }
    });
    std::uint64_t looks = 0;
    std::thread scrapes([&] {
        while (!over.load() || looks == 0) {
            for (std::size_t i = 0; i < scene.poller->lines_count(); ++i) {
                EXPECT_EQ(scene.poller->line(i).number, i + 1);
                EXPECT_EQ(scene.poller->line(i).watch.heard_ns(feed::Stream::a), 0);
                looks += 1 + scene.poller->rejects(i, 0);
            }
        }
    });
    const auto wait = [&] {
        while (!scene.poller->settings().adopted()) {
            std::this_thread::yield();
        }
    };
    std::vector<PollerSettings> given(2);
    for (std::uint16_t number = 2; number <= Scene::lines_max; ++number) {
        PollerSetup setup = more_lines({{0xE000'CC00U + number}, 45001});
        setup.lines[0].number = number;
        Problems problems;
        PollerSettings& each = given[number - 2U];
        each = settings();
        each.lines = scene.poller->prepare_lines(setup, {{}}, problems);
        scene.poller->settings().offer(each);
        wait();
        EXPECT_EQ(scene.poller->lines_count(), number);
    }
    over.store(true);
    polls.join();
    scrapes.join();
}

TEST(Maxima, begin_anew_when_cleared) {
    Scene scene;
    for (std::uint32_t i = 0; i < 5; ++i) {
        scene.scripts[0]->give(block_frame(11 + i, 1));
    }
    scene.step_to(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "11 12 13 14 15");
    EXPECT_EQ(scene.poller->router().high_water(0).read(), 5U);
    scene.poller->clear_maxima();
    EXPECT_EQ(scene.poller->router().high_water(0).read(), 0U);
    scene.scripts[0]->give(block_frame(16, 1));
    scene.step_to(2 * ms_ns);
    EXPECT_EQ(scene.reported(), "16");
    EXPECT_EQ(scene.poller->router().high_water(0).read(), 1U);
}

}  // namespace
}  // namespace pinstrike::actors
