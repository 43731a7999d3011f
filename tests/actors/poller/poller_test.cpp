// A poller without threads. The test writes the frames, the venue has a few lines, and the test
// reads the rings.
#include "tests/actors/poller/poller_scene.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace pinstrike::actors {
namespace {

using namespace poller_scene;

TEST(Poller, delivers_each_message_of_two_streams_once_and_in_order) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 2, group_a));
    scene.scripts[0]->give(block_frame(10, 2, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_a));
    EXPECT_EQ(scene.poller->step(1 * ms_ns), 4U);
    EXPECT_EQ(scene.reported(), "10 11 12");
    EXPECT_EQ(scene.poller->step(2 * ms_ns), 0U);
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(feed::LineCount::delivered), 3U);
}

TEST(Poller, looks_at_the_messages_of_first_copies_alone) {
    const auto unsound = [](std::uint8_t number) {
        return std::array{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{number},
                          std::byte{1}, std::byte{0}, Toy::unsound};
    };
    Scene scene;
    for (std::uint8_t number = 1; number < 40; ++number) {  // examined as a stream's beginning
        scene.scripts[0]->give(block_frame(number, 1, group_a));
        scene.scripts[0]->give(block_frame(number, 1, group_b));
        scene.poller->step(1 * ms_ns);
    }
    static_cast<void>(scene.reported());
    scene.scripts[0]->give(block_frame(40, 1, group_a));
    scene.scripts[0]->give(frame_of(unsound(40), group_b));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "40");
    EXPECT_EQ(scene.poller->rejects(0, 0), 0U);
    auto& second = scene.poller->line(0).arbiter.counters(feed::Stream::b);
    EXPECT_EQ(second.read(feed::StreamCount::duplicate), 40U);
    EXPECT_EQ(second.read(feed::StreamCount::rejected), 0U);
    scene.scripts[0]->give(frame_of(unsound(41), group_b));
    scene.scripts[0]->give(block_frame(41, 1, group_a));
    scene.poller->step(2 * ms_ns);
    EXPECT_EQ(scene.poller->rejects(0, 0), 1U);
    EXPECT_EQ(second.read(feed::StreamCount::rejected), 1U);
    EXPECT_EQ(scene.reported(), "gap41-41 41! gap41-41") << "lost, and found by the other stream";
}

TEST(Poller, delivers_all_blocks_of_a_datagram_and_declares_what_lacks_between_them) {
    Scene scene;
    scene.scripts[0]->give(blocks_frame({{10, 2}, {12, 1}, {14, 2}}));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "10 11 12");
    scene.scripts[0]->give(blocks_frame({{10, 2}, {12, 1}, {13, 1}, {14, 2}, {16, 1}}, group_b));
    scene.poller->step(2 * ms_ns);
    EXPECT_EQ(scene.reported(), "13 14 15 16");
    auto& line = scene.poller->line(0).arbiter;
    EXPECT_EQ(line.counters(feed::Stream::a).read(feed::StreamCount::packets), 1U)
        << "datagrams are counted";
    EXPECT_EQ(line.counters(feed::Stream::b).read(feed::StreamCount::duplicate), 5U);
    EXPECT_EQ(scene.poller->input(0).to_lines.read(), 2U);
}

TEST(Poller, counts_every_frame_that_is_no_lines) {
    Scene scene;
    const std::array<std::byte, 8> payload{};
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(frame_of(payload, group_other));
    scene.scripts[0]->give(frame_of(payload, group_a, 0x0A00'0001));
    auto damaged = block_frame(11, 1);
    damaged.back() ^= std::byte{1};
    scene.scripts[0]->give(damaged);
    scene.scripts[0]->give(std::vector<std::byte>(10));
    scene.scripts[0]->give(igmp_frame());
    scene.scripts[0]->give(frame_of(std::span{payload}.first(3), group_a));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "10");
    EXPECT_EQ(scene.dropped(nic::Drop::unknown_group), 1U);
    const auto unknown = scene.poller->input(0).unknown_groups.most_frequent();
    ASSERT_EQ(unknown.size(), 1U);
    EXPECT_EQ(unknown[0].group, group_other);
    EXPECT_EQ(unknown[0].from.value, sender);
    EXPECT_EQ(unknown[0].packets, 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::foreign_source), 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::udp_checksum), 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::frame_truncated), 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::igmp), 1U);
    EXPECT_EQ(scene.scripts[0]->igmp_frames, 1);
    EXPECT_EQ(scene.poller->rejects(0, 0), 1U) << "a block of 3 bytes";
    EXPECT_EQ(scene.poller->input(0).to_lines.read(), 2U);
    EXPECT_EQ(scene.poller->input(0).port->counters().read(nic::PortCount::packets),
              scene.poller->input(0).to_lines.read() + scene.poller->input(0).drops.sum());
}

TEST(Poller, knows_no_line_of_what_is_sent_to_address_0_and_port_0) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1, nic::Group{}));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "");
    EXPECT_EQ(scene.dropped(nic::Drop::unknown_group), 1U);
    const auto unknown = scene.poller->input(0).unknown_groups.most_frequent();
    ASSERT_EQ(unknown.size(), 1U);
    EXPECT_EQ(unknown[0].group, nic::Group{});
}

TEST(Poller, declares_a_hole_lost_after_the_window_and_delivers_what_waited) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(13, 2));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "10");
    scene.poller->step(2 * ms_ns);
    EXPECT_EQ(scene.reported(), "");
    scene.poller->step(5 * ms_ns);
    EXPECT_EQ(scene.reported(), "gap11-12 13 14");
    scene.scripts[0]->give(block_frame(11, 1, group_b));
    scene.poller->step(6 * ms_ns);
    EXPECT_EQ(scene.reported(), "11! gap11-11") << "late, then the repair event";
}

TEST(Poller, what_a_retransmission_group_brings_only_fills_what_is_missing) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(11, 1, group_v));
    scene.scripts[0]->give(block_frame(40, 1, group_v));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "10 11! 12");
    EXPECT_EQ(scene.poller->line(0).retransmission_packets.read(), 2U);
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(feed::LineCount::unasked), 1U);
}

TEST(Poller, notes_a_hole_and_takes_what_recovery_brings_in_order) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(13, 1));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.noted(), "?11-12");
    scene.bring(11, 2);
    scene.bring(40, 1);
    EXPECT_EQ(scene.poller->step(1 * ms_ns + 1), 2U);
    EXPECT_EQ(scene.reported(), "10 11! 12! 13");
    EXPECT_EQ(scene.noted(), "!11-12");
    EXPECT_EQ(scene.poller->repair_rings()->repairs_read().read(), 2U);
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(feed::LineCount::repaired), 2U);
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(feed::LineCount::unasked), 1U);
    EXPECT_EQ(scene.poller->line(0).retransmission_packets.read(), 0U) << "they were in no packet";
}

TEST(Poller, takes_what_recovery_brings_late_as_late) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    for (int at = 1; at <= 6; ++at) {
        scene.poller->step(at * ms_ns);
    }
    EXPECT_EQ(scene.reported(), "10 gap11-11 12");
    scene.bring(11, 1);
    scene.poller->step(7 * ms_ns);
    EXPECT_EQ(scene.reported(), "11! gap11-11");
}

TEST(Poller, refuses_a_bad_repair_by_reason) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.poller->step(1 * ms_ns);
    const std::array<std::byte, 3> cut{};
    EXPECT_TRUE(scene.repair_rings->carry(0, cut));
    EXPECT_TRUE(scene.repair_rings->carry(0, {}));
    scene.poller->step(2 * ms_ns);
    EXPECT_EQ(scene.poller->rejects(0, 0), 2U);
    EXPECT_EQ(scene.reported(), "10");
}

TEST(Poller, at_the_end_takes_what_recovery_had_brought) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(110, 1));
    scene.poller->step(1 * ms_ns);
    for (std::uint32_t number = 11; number < 110; ++number) {
        if (number != 50 && number != 60) {  // a control, and a test
            scene.bring(number, 1);
        }
    }
    scene.poller->finish();
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(feed::LineCount::repaired), 97U);
    EXPECT_EQ(scene.poller->line(0).arbiter.counters().read(feed::LineCount::lost), 2U);
}

TEST(Poller, a_stop_of_its_thread_loses_nothing_that_waits_in_the_queue) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.poller->step(1 * ms_ns);
    scene.scripts[0]->give(block_frame(12, 1));
    scene.poller->step(2 * ms_ns);
    scene.scripts[0]->give(block_frame(14, 1));  // these arrived while the thread was preempted
    scene.scripts[0]->give(block_frame(11, 1, group_b));
    scene.scripts[0]->give(block_frame(13, 1, group_b));
    scene.poller->step(40 * ms_ns);
    EXPECT_EQ(scene.reported(), "10 11 12 13 14");
}

class PollerKeeps : public ::testing::TestWithParam<Keeps> {};

TEST_P(PollerKeeps, first_copies_alone) {
    Scene scene{false, 1, {}, GetParam()};
    scene.scripts[0]->give(block_frame(10, 2));
    scene.scripts[0]->give(block_frame(10, 2, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.scripts[0]->give(igmp_frame());
    scene.scripts[0]->give(block_frame(14, 1));  // waits for 13
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(14, 0, group_a, feed::BlockRole::line_integrity));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.kept(), "10 12 14");
    scene.scripts[0]->give(block_frame(14, 1, group_b));
    scene.scripts[0]->give(block_frame(13, 1, group_v));
    scene.poller->step(2 * ms_ns);
    scene.bring(13, 1);  // a peer has it as well, too late
    scene.poller->step(2 * ms_ns);
    EXPECT_EQ(scene.kept(), "10 12 14 13");
    EXPECT_EQ(scene.reported(), "10 11 12 13! 14");
    EXPECT_EQ(scene.poller->history()->skipped().read(), 0U);
    scene.poller->step(3 * ms_ns);
    scene.poller->step(3 * ms_ns);
    EXPECT_EQ(scene.scripts[0]->held(), 0U) << "all of it has been read";
}

TEST_P(PollerKeeps, what_a_peer_brought) {
    Scene scene{false, 1, {}, GetParam()};
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    scene.poller->step(1 * ms_ns);
    scene.bring(11, 1);
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.kept(), "10 12 11");
}

TEST_P(PollerKeeps, skips_what_finds_no_room_and_waits_for_nobody) {
    Scene scene{false, 1, {}, GetParam()};
    const std::size_t slots = Ring<FirstCopy>::slots_for(1);
    const std::size_t room = GetParam() == Keeps::copies ? slots / 2 : slots;
    for (std::uint32_t i = 0; i < room + 20; ++i) {
        scene.scripts[0]->give(block_frame(100 + i, 1));
        scene.poller->step(1 * ms_ns);
    }
    EXPECT_EQ(scene.poller->history()->skipped().read(), 20U);
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.scripts[0]->held(), GetParam() == Keeps::copies ? 0 : room);
    scene.peers->finish();
    EXPECT_EQ(scene.peers->history()->blocks(), room);
    scene.poller->step(1 * ms_ns);
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.scripts[0]->held(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Both, PollerKeeps, ::testing::Values(Keeps::copies, Keeps::by_reference));

TEST(Poller, hands_queries_to_their_port_with_a_time_that_does_not_stand_still) {
    Scene scene;
    scene.poller->step(1 * ms_ns);
    scene.scripts[0]->give(igmp_frame());
    scene.poller->step(40 * ms_ns);  // arbitration time was stopped
    EXPECT_EQ(scene.scripts[0]->igmp_ns, 40 * ms_ns);
}

TEST(Poller, housekeeping_goes_on_when_the_clock_is_set) {
    constexpr std::int64_t hour = 3'600'000 * ms_ns;
    Scene scene;
    for (const std::int64_t begin_ns : {2 * hour, hour, 3 * hour}) {
        const int before = scene.scripts[0]->housekept;
        for (int i = 0; i < 400; ++i) {
            scene.poller->step(begin_ns + i * ms_ns / 4);
        }
        EXPECT_GT(scene.scripts[0]->housekept, before + 30) << "in 100 ms, about each";
    }
}

TEST(Poller, sends_controls_to_the_cores_and_counts_them_and_what_is_filtered) {
    Scene scene;
    scene.scripts[0]->give(block_frame(0, 1, group_a, feed::BlockRole::start_of_day));
    scene.scripts[0]->give(block_frame(0, 1, group_b, feed::BlockRole::start_of_day));
    scene.scripts[0]->give(block_frame(1, 1));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "S0 1");
    scene.scripts[0]->give(block_frame(49, 2, group_a, feed::BlockRole::data));
    for (std::int64_t now_ns = 10 * ms_ns; now_ns <= 20 * ms_ns; now_ns += ms_ns) {
        scene.poller->step(now_ns);
    }
    EXPECT_EQ(scene.reported(), "gap2-48 49  50") << "the control has no type here but a space";
    scene.scripts[0]->give(block_frame(51, 10));
    scene.poller->step(21 * ms_ns);
    EXPECT_EQ(scene.reported(), "51 52 53 54 55 56 57 58 59");
    const auto& counts = scene.poller->line(0).arbiter.counters();
    EXPECT_EQ(counts.read(feed::LineCount::controls), 1U) << "a start of day has no number";
    EXPECT_EQ(counts.read(feed::LineCount::filtered), 1U);
}

TEST(Poller, delivers_each_copy_of_a_message_without_a_number) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(0, 1, group_a, feed::BlockRole::unnumbered));
    scene.scripts[0]->give(block_frame(0, 1, group_b, feed::BlockRole::unnumbered));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "10 0! 0!");
    const auto& counts = scene.poller->line(0).arbiter.counters();
    EXPECT_EQ(counts.read(feed::LineCount::unnumbered), 2U);
    EXPECT_EQ(counts.read(feed::LineCount::delivered), 1U);
}

TEST(Poller, gives_the_codec_the_time_of_receipt) {
    Scene scene;
    Toy::opened_at_ns = 0;
    scene.scripts[0]->give(blocks_frame({{10, 1}, {11, 1}}));
    scene.poller->step(7 * ms_ns);
    EXPECT_EQ(Toy::opened_at_ns, 2 * 7 * ms_ns) << "the sum over its blocks";
}

TEST(Poller, tells_the_codec_what_came_on_a_retransmission_group) {
    Scene scene;
    Toy::opened_retransmitted = 0;
    scene.scripts[0]->give(blocks_frame({{10, 1}, {11, 1}}));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(Toy::opened_retransmitted, 0U);
    scene.scripts[0]->give(blocks_frame({{10, 1}, {11, 1}}, group_v));
    scene.poller->step(2 * ms_ns);
    EXPECT_EQ(Toy::opened_retransmitted, 2U) << "each of its blocks";
}

TEST(Poller, at_the_end_what_is_missing_is_lost_and_what_waited_is_delivered) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    scene.poller->step(1 * ms_ns);
    EXPECT_EQ(scene.reported(), "10");
    scene.poller->finish();
    EXPECT_EQ(scene.reported(), "gap11-11 12");
}

TEST(Poller, captures_are_merged_by_time_and_timers_run_on_it) {
    Scene scene{true, 2};
    scene.scripts[0]->give(block_frame(10, 1), 100 * ms_ns);
    scene.scripts[1]->give(block_frame(11, 1, group_b), 101 * ms_ns);
    scene.scripts[0]->give(block_frame(12, 1), 102 * ms_ns);
    scene.scripts[0]->give(block_frame(14, 1), 103 * ms_ns);           // 13 is missing
    scene.scripts[1]->give(block_frame(15, 1, group_b), 200 * ms_ns);  // long after the window
    scene.scripts[0]->give(block_frame(13, 1), 201 * ms_ns);           // too late
    while (scene.poller->step(7) != 0) {                               // wall time does not count
    }
    EXPECT_EQ(scene.reported(), "10 11 12 gap13-13 14 15 13! gap13-13");
    EXPECT_TRUE(scene.poller->exhausted());
}

TEST(LineRoutes, finds_what_was_put_in_and_nothing_else) {
    std::vector<LineRoutes::Entry> entries;
    for (std::uint32_t i = 0; i < 400; ++i) {
        entries.push_back({{{0xE000'CC00 + i}, static_cast<std::uint16_t>(45'000 + i)},
                           {i, feed::Stream::b, i % 2 == 0}});
    }
    const LineRoutes routes{entries};
    const auto any = [](const LineRoute&) { return true; };
    for (std::uint32_t i = 0; i < 400; ++i) {
        const LineRoute* route =
            routes.find(0xE000'CC00 + i, static_cast<std::uint16_t>(45'000 + i), any);
        ASSERT_NE(route, nullptr);
        EXPECT_EQ(route->line, i);
        EXPECT_EQ(routes.find(0xE000'CC00 + i, static_cast<std::uint16_t>(46'000 + i), any),
                  nullptr);
    }
    EXPECT_EQ(LineRoutes{}.find(1, 1, any), nullptr);
}

TEST(LineRoutes, finds_the_line_that_fits_where_several_share_a_group) {
    const nic::Group group{{0xE000'CC00}, 45'000};
    std::vector<LineRoutes::Entry> entries{{{{0xE000'CC01}, 45'000}, {9, feed::Stream::a, false}}};
    for (std::uint32_t line = 0; line < 4; ++line) {
        entries.push_back({group, {line, feed::Stream::a, false}});
    }
    const LineRoutes routes{entries};
    const auto find = [&](std::uint32_t line) {
        return routes.find(group.address.value, group.port,
                           [line](const LineRoute& route) { return route.line == line; });
    };
    for (std::uint32_t line = 0; line < 4; ++line) {
        ASSERT_NE(find(line), nullptr);
        EXPECT_EQ(find(line)->line, line);
    }
    EXPECT_EQ(find(4), nullptr);
    EXPECT_EQ(find(9), nullptr);
}

TEST(Poller, marks_how_far_a_line_has_come_where_cores_want_to_know) {
    Scene scene{false, 1, {}, Keeps::nothing, true};
    scene.poller->step(1'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "");  // nothing was received yet
    scene.scripts[0]->give(block_frame(10, 2, group_a));
    scene.scripts[0]->give(block_frame(14, 1, group_a));  // held behind the hole
    scene.poller->step(1'200 * ms_ns);
    EXPECT_EQ(scene.reported(), "10 11 =11");
}

TEST(Poller, marks_a_line_with_the_exchanges_time) {
    Scene scene{false, 1, {}, Keeps::nothing, true};
    scene.scripts[0]->give(block_frame(10, 2, group_a));
    scene.poller->step(1'200 * ms_ns);
    const auto records = scene.consumer->peek(3);
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records[2].header.kind, feed::EventKind::line_mark);
    EXPECT_EQ(records[2].header.ts_exchange_ns, records[0].header.ts_exchange_ns);
}

TEST(Poller, marks_no_number_of_a_test) {
    const feed::SessionHours hours{{{0, 100 * ms_ns}, {500 * ms_ns, 900 * ms_ns}}};
    Scene scene{false, 1, {hours, hours}, Keeps::nothing, true};
    scene.scripts[0]->give(block_frame(0, 1, group_a, feed::BlockRole::start_of_day));
    scene.scripts[0]->give(block_frame(1, 2));
    scene.poller->step(10 * ms_ns);
    EXPECT_EQ(scene.reported(), "S0 1 2 =2");
    scene.poller->step(200 * ms_ns);
    scene.scripts[0]->give(block_frame(0, 1, group_a, feed::BlockRole::start_of_day, 1));
    scene.scripts[0]->give(block_frame(1, 5, group_a, feed::BlockRole::data, 1));
    scene.poller->step(310 * ms_ns);
    scene.poller->step(420 * ms_ns);
    EXPECT_EQ(scene.reported(), "");
    scene.poller->step(530 * ms_ns);
    EXPECT_EQ(scene.reported(), "") << "the hours have begun, but no day has";
    scene.scripts[0]->give(block_frame(0, 1, group_a, feed::BlockRole::start_of_day, 2));
    scene.scripts[0]->give(block_frame(1, 1, group_a, feed::BlockRole::data, 2));
    scene.poller->step(640 * ms_ns);
    EXPECT_EQ(scene.reported(), "S0 1 =1");
}

TEST(Poller, informs_every_core_of_a_stream_that_falls_silent_and_of_its_return) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1, group_a));
    scene.scripts[0]->give(block_frame(10, 1, group_b));
    scene.step_to(1'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "10");
    scene.step_to(8'000 * ms_ns);
    scene.scripts[0]->give(block_frame(11, 1, group_a));
    scene.step_to(14'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "11 B:1");
    scene.step_to(15'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "");
    EXPECT_EQ(scene.poller->line(0).watch.state(feed::Stream::b), feed::LineState::stream_silent);
    scene.step_to(21'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "A:1  :3");
    EXPECT_TRUE(scene.poller->line(0).watch.down());
    scene.scripts[0]->give(block_frame(11, 1, group_b));
    scene.step_to(22'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "B:0  :0");
}

TEST(Poller, takes_a_clock_that_is_set_for_no_silence) {
    constexpr std::int64_t hour = 3'600'000 * ms_ns;
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1, group_a));
    scene.scripts[0]->give(block_frame(10, 1, group_b));
    scene.step_to(1'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "10");
    scene.poller->step(hour);
    scene.step_to(hour + 5'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "");
    scene.poller->step(1 * ms_ns);
    scene.step_to(9'000 * ms_ns);
    EXPECT_EQ(scene.reported(), "A:1 B:1  :3") << "though it was set back, too";
}

/// The skew is not measured at the first block of a line.
void deliver_first(Scene& scene, std::uint32_t number) {
    scene.scripts[0]->give(block_frame(number, 1, group_a));
    scene.scripts[0]->give(block_frame(number, 1, group_b));
    scene.poller->step(0);
    EXPECT_EQ(scene.poller->line(0).skew.of(feed::Stream::a).snapshot().count, 0U);
}

TEST(Poller, measures_by_how_much_a_stream_is_ahead) {
    Scene scene;
    deliver_first(scene, 9);
    scene.scripts[0]->give(block_frame(10, 2, group_a));
    scene.poller->step(1 * ms_ns);
    scene.scripts[0]->give(block_frame(12, 1, group_a));  // not measured: one block at a time
    scene.poller->step(2 * ms_ns);
    scene.scripts[0]->give(block_frame(10, 2, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.poller->step(4 * ms_ns);
    const auto skew = scene.poller->line(0).skew.of(feed::Stream::a).snapshot();
    EXPECT_EQ(skew.count, 1U);
    EXPECT_EQ(skew.sum_ns, 3U * ms_ns);
    EXPECT_EQ(scene.poller->line(0).skew.of(feed::Stream::b).snapshot().count, 0U);
}

TEST(Poller, measures_by_how_much_a_stream_is_ahead_behind_a_reset_too) {
    Scene scene;
    const auto copies = [&](std::uint32_t number, std::int64_t at_ms, std::uint8_t day,
                            feed::BlockRole role = feed::BlockRole::data) {
        for (const nic::Group& group : {group_a, group_b}) {
            scene.scripts[0]->give(block_frame(number, 1, group, role, day));
            scene.poller->step(at_ms++ * ms_ns);
        }
    };
    deliver_first(scene, 998);
    copies(999, 1, 0);
    scene.scripts[0]->give(block_frame(1000, 1, group_a));  // its other copy never comes
    scene.poller->step(3 * ms_ns);
    copies(0, 4, 1, feed::BlockRole::start_of_day);
    const std::uint64_t before = scene.poller->line(0).skew.of(feed::Stream::a).snapshot().count;
    copies(1, 6, 1);
    copies(2, 8, 1);
    EXPECT_GT(scene.poller->line(0).skew.of(feed::Stream::a).snapshot().count, before);
}

}  // namespace
}  // namespace pinstrike::actors
