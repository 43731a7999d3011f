// path: cold
//
// What a poller can be asked for, and given, while it runs.
#include "tests/actors/poller_scene.h"

#include <gtest/gtest.h>

namespace pinstrike::actors {
namespace {

using namespace poller_scene;

/// First numbers of the blocks in what was tapped, with the order's number where it is not 1.
std::string tapped(Scene& scene) {
    std::string words;
    const auto records = scene.tapped->peek(PacketTap::slots);
    for (std::size_t at = 0; at < records.size();) {
        const TappedPacket& packet = records[at];
        EXPECT_EQ(packet.bytes, packet.length_bytes);
        const auto* frame = reinterpret_cast<const std::byte*>(&packet + 1);
        const std::byte* block = frame + packet.bytes - Toy::header_bytes;
        words += words.empty() ? "" : " ";
        words += fmt::format("{}", nic::load_be32(block));
        words += packet.order == 1 ? "" : fmt::format("({})", packet.order);
        at += TappedPacket::records_for(packet.bytes);
    }
    scene.tapped->release(records.size());
    return words;
}

TEST(Tap, copies_the_next_packets_of_a_line_and_no_more) {
    Scene scene;
    scene.scripts[0]->give(block_frame(11, 1));
    scene.step_to(1 * ms);
    scene.poller->tap()->order({1, 0, 3});
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.scripts[0]->give(block_frame(99, 1, group_other));
    scene.scripts[0]->give(igmp_frame());
    scene.step_to(2 * ms);
    scene.scripts[0]->give(block_frame(13, 1));
    scene.scripts[0]->give(block_frame(14, 1));
    scene.step_to(3 * ms);
    EXPECT_EQ(tapped(scene), "12 12 13");
    EXPECT_EQ(scene.told(), "11 12 13 14") << "the line has all of it";
    EXPECT_EQ(scene.poller->tap()->skipped().read(), 0U);
}

TEST(Tap, has_what_cannot_be_decoded_too) {
    Scene scene;
    scene.poller->tap()->order({1, 0, 2});
    std::array<std::byte, Toy::header_bytes + 1> odd{};
    nic::store_be32(odd.data() + 1, 77);  // the block's end, which tapped() reads
    scene.scripts[0]->give(frame_of(odd, group_a));
    scene.step_to(1 * ms);
    EXPECT_EQ(tapped(scene), "77");
}

TEST(Tap, follows_its_last_order) {
    Scene scene;
    scene.poller->tap()->order({1, 0, 100});
    scene.scripts[0]->give(block_frame(11, 1));
    scene.step_to(1 * ms);
    scene.poller->tap()->order({2, 0, 1});
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(13, 1));
    scene.step_to(2 * ms);
    scene.poller->tap()->order({3, 0, 0});
    scene.scripts[0]->give(block_frame(14, 1));
    scene.step_to(3 * ms);
    EXPECT_EQ(tapped(scene), "11 12(2)");
}

TEST(Tap, counts_what_finds_no_room_and_copies_as_many_as_were_asked_for) {
    Scene scene;
    const std::size_t fit = PacketTap::slots / TappedPacket::records_for(block_frame(1, 1).size());
    scene.poller->tap()->order({1, 0, static_cast<std::uint32_t>(fit + 1)});
    for (std::size_t i = 0; i < fit + 4; ++i) {
        scene.scripts[0]->give(block_frame(static_cast<std::uint32_t>(11 + i), 1));
    }
    while (!scene.scripts[0]->exhausted()) {
        scene.poller->step(++scene.stepped_ns);
        static_cast<void>(scene.told());
    }
    EXPECT_EQ(scene.poller->tap()->skipped().read(), 4U);
    static_cast<void>(tapped(scene));
    scene.scripts[0]->give(block_frame(static_cast<std::uint32_t>(15 + fit), 1));
    scene.scripts[0]->give(block_frame(static_cast<std::uint32_t>(16 + fit), 1));
    scene.poller->step(++scene.stepped_ns);
    EXPECT_EQ(tapped(scene), fmt::format("{}", 15 + fit));
}

PollerSettings settings() {
    return {2 * ms, {}, true, false, {{nic::Subnet{{0xA245'2C00}, 0xFFFF'FF00}}}};
}

TEST(Settings, are_taken_with_the_next_housekeeping) {
    Scene scene;
    scene.scripts[0]->give(block_frame(60, 1));
    scene.step_to(10 * ms);
    EXPECT_EQ(scene.told(), "") << "a test, and nobody wants tests";
    PollerSettings given = settings();
    given.test_symbols = true;
    scene.poller->settings().make(given);
    EXPECT_FALSE(scene.poller->settings().taken());
    scene.step_to(20 * ms);
    EXPECT_TRUE(scene.poller->settings().taken());
    scene.scripts[0]->give(block_frame(61, 1));
    scene.step_to(21 * ms);
    EXPECT_EQ(scene.told(), "61");
}

TEST(Settings, change_who_may_send_and_give_back_who_might) {
    Scene scene;
    PollerSettings given = settings();
    given.sources = {{nic::Subnet{{0x0A00'0000}, 0xFF00'0000}}};
    scene.poller->settings().make(given);
    scene.step_to(10 * ms);
    scene.scripts[0]->give(block_frame(11, 1));
    scene.step_to(11 * ms);
    EXPECT_EQ(scene.told(), "");
    EXPECT_EQ(scene.dropped(nic::Drop::foreign_source), 1U);
    ASSERT_EQ(given.sources[0].size(), 1U) << "who offered them frees what the poller had";
    EXPECT_EQ(given.sources[0][0].address.value, 0xA245'2C00U);
}

TEST(Settings, change_how_long_holes_wait_and_streams_may_be_silent) {
    Scene scene;
    PollerSettings given = settings();
    given.window_ns = 50 * ms;
    given.silence = {100 * ms, 1'000'000 * ms};
    scene.poller->settings().make(given);
    scene.step_to(10 * ms);
    scene.scripts[0]->give(block_frame(11, 1));
    scene.scripts[0]->give(block_frame(13, 1));
    auto look_until = [&scene, at_ns = 10 * ms](std::int64_t end_ns) mutable {
        while (at_ns < end_ns) {
            scene.poller->step(at_ns += ms / 2);
        }
    };
    look_until(40 * ms);
    EXPECT_EQ(scene.told(), "11") << "2 ms are over, 50 are not";
    look_until(70 * ms);
    EXPECT_EQ(scene.told(), "gap12-12 13");
    look_until(600 * ms);
    EXPECT_NE(scene.told().find("A:1"), std::string::npos) << "silent for more than 100 ms";
}

TEST(Maxima, begin_anew_when_cleared) {
    Scene scene;
    for (std::uint32_t i = 0; i < 5; ++i) {
        scene.scripts[0]->give(block_frame(11 + i, 1));
    }
    scene.step_to(1 * ms);
    EXPECT_EQ(scene.told(), "11 12 13 14 15");
    EXPECT_EQ(scene.poller->router().high_water(0).read(), 5U);
    scene.poller->clear_maxima();
    EXPECT_EQ(scene.poller->router().high_water(0).read(), 0U);
    scene.scripts[0]->give(block_frame(16, 1));
    scene.step_to(2 * ms);
    EXPECT_EQ(scene.told(), "16");
    EXPECT_EQ(scene.poller->router().high_water(0).read(), 1U);
}

}  // namespace
}  // namespace pinstrike::actors
