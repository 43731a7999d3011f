// path: cold
#include "actors/telemetry/log/watch.h"

#include "feed/opra/rejects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinstrike::actors::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

auto is(LogCode code, const std::string& subject, const std::string& text) {
    return AllOf(Field(&LogEntry::code, code), Field(&LogEntry::subject, subject),
                 Field(&LogEntry::text, HasSubstr(text)));
}

/// One poller of two queues and two lines, two cores.
Sight quiet() {
    Sight sight;
    PollerSight poller;
    poller.name = "poll0";
    poller.reject_rows = feed::opra::BlockReject_rows;
    for (const char* name : {"nic-a", "nic-b"}) {
        QueueSight queue;
        queue.port = name;
        queue.device.link_up = true;
        queue.device.missed = 0;
        poller.queues.push_back(queue);
    }
    for (const std::uint16_t number : {std::uint16_t{3}, std::uint16_t{4}}) {
        LineSight line;
        line.line = number;
        line.packets = {10, 10};
        line.rejected.resize(poller.reject_rows.size());
        poller.lines.push_back(line);
    }
    sight.pollers.push_back(poller);
    for (const char* name : {"core0", "core1"}) {
        CoreSight core;
        core.name = name;
        core.actors = {{"book", 0}, {"mine", 0}};
        core.rings = {{"poll0", 1024, 0}};
        sight.cores.push_back(core);
    }
    sight.calls = {{"poll0", 0, "", 0}, {"core0", 0, "", 0}};
    return sight;
}

/// A watch that has looked once, and what it is shown next.
struct Watched {
    Watched() {
        sight.seconds = 1;
        static_cast<void>(watch.look(sight));
        sight.seconds = 2;
        sight.pollers[0].turns = 1000;
        for (CoreSight& core : sight.cores) {
            core.turns = 1000;
        }
    }

    std::vector<LogEntry> look() { return watch.look(sight); }

    QueueSight& queue(std::size_t i = 0) { return sight.pollers[0].queues[i]; }

    LineSight& line(std::size_t i = 0) { return sight.pollers[0].lines[i]; }

    Sight sight = quiet();
    Watch watch;
};

TEST(Watch, saysNothingWhereNothingChanged) {
    Watched watched;
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, theFirstLookTellsOfLinksAndStreams) {
    Sight sight = quiet();
    sight.pollers[0].queues[1].device.link_up = false;
    sight.pollers[0].lines[0].packets = {5, 0};
    sight.pollers[0].lines[1].packets = {0, 0};
    sight.seconds = 1;
    Watch watch;
    EXPECT_THAT(watch.look(sight),
                ElementsAre(is(LogCode::link_up, "port nic-a", "the link is up"),
                            is(LogCode::link_down, "port nic-b", "the link is down"),
                            is(LogCode::stream_heard, "line 3 stream A", "1.0 s")));
}

TEST(Watch, namesTheLineThatHasAGap) {
    Watched watched;
    watched.line(1).gaps = 2;
    watched.line(1).lost = 14;
    EXPECT_THAT(
        watched.look(),
        ElementsAre(is(LogCode::gap_declared, "line 4",
                       "2 gaps declared; 14 messages lost since the start, 14 of them new")));
    EXPECT_THAT(watched.look(), IsEmpty());
    watched.line(1).gaps = 3;
    watched.line(1).lost = 15;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::gap_declared, "line 4", "1 of them new")));
}

TEST(Watch, aGapThatWasFilledMeanwhileIsNoLoss) {
    Watched watched;
    watched.line().gaps = 2;
    watched.line().late = 10;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::gap_mended, "line 3",
                               "2 gaps declared and filled meanwhile; 10 messages came late")));
}

TEST(Watch, warnsOfEveryInferredReset) {
    Watched watched;
    watched.line().resets_inferred = 3;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::reset_inferred, "line 3",
                                               "3 resets inferred, 3 since the start")));
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, warnsOfPacketsThatTheReversePathFilterDropped) {
    Sight sight = quiet();
    sight.reverse_path_drops = 5;  // from before the start
    Watch watch;
    const auto dropped = is(LogCode::reverse_path_dropped, "feed", "2 packets since the last look");
    EXPECT_THAT(watch.look(sight), ::testing::Not(::testing::Contains(dropped)));
    sight.reverse_path_drops = 7;
    sight.seconds = 1;
    EXPECT_THAT(watch.look(sight), ::testing::Contains(dropped));
}

TEST(Watch, framesOfTheNetworkItselfAreNoWarning) {
    Watched watched;
    for (const nic::Drop drop : {nic::Drop::arp, nic::Drop::igmp, nic::Drop::link_control,
                                 nic::Drop::ipv6_control, nic::Drop::routing}) {
        ++watched.queue().dropped[static_cast<std::size_t>(drop)];
    }
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::packets_ignored, "port nic-a", "5 pack")));
}

TEST(Watch, doesNotMissAStreamThatNoPortBrings) {
    Sight sight = quiet();
    for (LineSight& line : sight.pollers[0].lines) {
        line.packets[1] = 0;
        line.states[1] = feed::LineState::stream_down;
        line.received = {true, false};
    }
    sight.seconds = 1;
    Watch watch;
    for (const LogEntry& entry : watch.look(sight)) {
        EXPECT_NE(entry.code, LogCode::streams_unheard);
    }
}

TEST(Watch, saysWhatCameAfterAll) {
    Watched watched;
    watched.line().gaps = 1;
    watched.line().lost = 5;
    static_cast<void>(watched.look());
    watched.line().lost = 1;
    watched.line().late = 4;
    watched.line().repaired = 3;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::gap_mended, "line 3",
                               "4 messages came late, 3 by retransmission; 1 lost")));
    // A line that is lost and mended between two looks, more mended than lost.
    watched.line().gaps = 2;
    watched.line().lost = 0;
    watched.line().late = 6;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::gap_mended, "line 3",
                               "1 gap declared and filled meanwhile; 2 messages came late")));
}

TEST(Watch, namesTheThreadThatTakesNoTurns) {
    Watched watched;
    static_cast<void>(watched.look());
    watched.sight.seconds = 3;
    watched.sight.pollers[0].turns = 2000;
    watched.sight.cores[0].turns = 1001;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::thread_stalled, "core core1", "no turn for 1.0 s")));
    watched.sight.seconds = 4;
    watched.sight.live = false;  // captures have ended
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, namesTheSlowCoreItsRingAndItsActor) {
    Watched watched;
    CoreSight& core = watched.sight.cores[1];
    core.rings[0].refused = 500;
    core.busy_ns = 990;
    core.idle_ns = 10;
    core.actors[0].service_ns = 10;
    core.actors[1].service_ns = 90;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::core_slow, "core core1",
                               "500 messages refused by full rings, 500 since the start: 500 from "
                               "poll0 (1024 records); it was busy 99 % of the time, 90 % of its "
                               "actors' time in mine")));
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, tellsOfAPollerAtItsLimit) {
    Watched watched;
    PollerSight& poller = watched.sight.pollers[0];
    poller.busy_ns = 1000;
    poller.queues[0].packets = 6400;
    poller.queues[0].full_bursts = 100;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::poller_behind, "poller poll0",
                                               "busy 100 % of the time, 100 % of 6400 packets")));
}

TEST(Watch, aPollerThatSleepsOrEmptiesItsQueueIsNotAtItsLimit) {
    Watched watched;
    PollerSight& poller = watched.sight.pollers[0];
    poller.busy_ns = 500;  // full bursts after each sleep
    poller.idle_ns = 500;
    poller.queues[0].packets = 6400;
    poller.queues[0].full_bursts = 100;
    EXPECT_THAT(watched.look(), IsEmpty());
    poller.busy_ns = 1500;  // never an empty turn, but small bursts
    poller.queues[0].packets = 12800;
    poller.queues[0].full_bursts = 120;
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, tellsWhatDevicesLost) {
    Watched watched;
    watched.queue(0).device.missed = 7;
    watched.queue(1).device.no_buffer = 2;
    watched.queue(1).device.errors = 1;
    EXPECT_THAT(
        watched.look(),
        ElementsAre(is(LogCode::device_missed, "port nic-a", "7 packets found no descriptor"),
                    is(LogCode::device_missed, "port nic-b", "2 no buffer"),
                    is(LogCode::device_errors, "port nic-b", "1 packet damaged")));
}

TEST(Watch, aLinkIsToldOncePerPortAndFlapsAreSeen) {
    Watched watched;
    watched.queue(0).port = watched.queue(1).port = "nic";
    watched.queue(0).device.link_up = watched.queue(1).device.link_up = false;
    watched.queue(0).link_changes = watched.queue(1).link_changes = 1;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::link_down, "port nic", "changed 1 time")));
    watched.queue(0).link_changes = watched.queue(1).link_changes = 3;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::link_flapped, "port nic",
                                               "changed 2 times and is down as before")));
    watched.queue(0).device.link_up = watched.queue(1).device.link_up = true;
    watched.queue(0).link_changes = watched.queue(1).link_changes = 4;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::link_up, "port nic", "the link is up")));
}

TEST(Watch, tellsDropsAndRejectsByReason) {
    Watched watched;
    watched.queue().dropped[static_cast<std::size_t>(nic::Drop::fragment)] = 2;
    watched.queue().dropped[static_cast<std::size_t>(nic::Drop::unknown_group)] = 9;
    watched.queue().unknown_groups = {{{{0xEF01'0404}, 31004}, {0xA245'2C04}, 9}};
    watched.queue().dropped[static_cast<std::size_t>(nic::Drop::arp)] = 1;
    watched.line().rejected[static_cast<std::size_t>(feed::opra::BlockReject::checksum_bad)] = 3;
    EXPECT_THAT(
        watched.look(),
        ElementsAre(
            is(LogCode::packets_dropped, "port nic-a",
               "11 packets, 11 since the start: fragment 2, unknown_group 9 (no line of this "
               "poller listens to the destination group and port); groups that are no line's: "
               "239.1.4.4:31004 from 162.69.44.4, 9 packets"),
            is(LogCode::packets_ignored, "port nic-a", "1 packet, 1 since the start: arp 1"),
            is(LogCode::blocks_rejected, "line 3",
               "3 blocks, 3 since the start: checksum_bad 3 (the block checksum does not agree")));
    watched.queue().dropped[static_cast<std::size_t>(nic::Drop::fragment)] = 3;
    const std::vector<LogEntry> entries = watched.look();
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].text.find("239.1.4.4"), std::string::npos) << "nothing new goes there";
}

TEST(Watch, aStreamOrLineThatIsNoLongerHeardIsToldOnce) {
    using feed::LineState;
    Watched watched;
    watched.line(0).states[0] = LineState::stream_silent;
    watched.line(0).heard_ns[0] = 1'773'667'800'500'000'000;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::stream_silent, "line 3 stream A",
                                               "nothing any more; 10 packets before, the last "
                                               "heard at 2026-03-16T13:30:00.500Z")));
    EXPECT_THAT(watched.look(), IsEmpty());
    watched.line(0).states = {LineState::stream_down, LineState::stream_silent};
    watched.line(0).down = true;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::stream_down, "line 3 stream A", ""),
                                            is(LogCode::stream_silent, "line 3 stream B", ""),
                                            is(LogCode::line_down, "line 3", "neither")));
    watched.line(0).states[0] = LineState::up;
    watched.line(0).down = false;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::stream_back, "line 3 stream A", "heard again"),
                            is(LogCode::line_back, "line 3", "heard again")));
}

TEST(Watch, namesStreamsThatNeverCame) {
    Sight sight = quiet();
    sight.pollers[0].lines[0].packets = {10, 0};
    sight.pollers[0].lines[1].packets = {11, 11};
    Watch watch;
    static_cast<void>(watch.look(sight));
    EXPECT_THAT(watch.look(sight), IsEmpty());
    sight.pollers[0].lines[0].states[1] = feed::LineState::stream_silent;
    EXPECT_THAT(watch.look(sight),
                ElementsAre(is(LogCode::streams_unheard, "feed",
                               "1 of 4 streams have brought nothing yet: line 3 B")));
    EXPECT_THAT(watch.look(sight), IsEmpty());
}

TEST(Watch, aReplayHasNoSilenceAndNoLimit) {
    Watched watched;
    watched.sight.live = false;
    watched.sight.seconds = 60;
    PollerSight& poller = watched.sight.pollers[0];
    poller.busy_ns = 1000;
    poller.queues[0].packets = 6400;
    poller.queues[0].full_bursts = 100;
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, tellsWhichCallOfWhichThreadWasRefused) {
    Watched watched;
    watched.sight.calls[1].count = 2;
    watched.sight.calls[1].last = "openat";
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::call_refused, "thread core0",
                               "2 system calls refused, 2 since the start; the last was openat")));
    EXPECT_THAT(watched.look(), IsEmpty());
    watched.sight.calls[0].unfiltered = EINVAL;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::calls_unfiltered, "thread poll0",
                                               "refused the filter: Invalid argument")));
}

TEST(Watch, tellsOfAllocationsAndClockSteps) {
    Watched watched;
    watched.sight.hot_allocations = 3;
    watched.sight.clock_steps = 1;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::hot_allocation, "hot threads", "3 allocations, 3 since"),
                            is(LogCode::clock_stepped, "clock", "1 step, 1 since")));
}

TEST(Watch, tellsWhatRecoveryAndTheHistoryCouldNotDo) {
    Watched watched;
    watched.sight.recovery = {.abandoned = 7, .untracked = 1, .not_kept = 2};
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::recovery_short, "recovery",
                                               "7 messages asked for in vain, 1 message not listed "
                                               "(recovery.ranges_max)"),
                                            is(LogCode::history_short, "history",
                                               "2 blocks not kept, 2 since the start")));
    EXPECT_THAT(watched.look(), IsEmpty());
    watched.sight.recovery.never_asked = 3;
    watched.sight.recovery.notes_dropped = 1;
    watched.sight.recovery.repairs_dropped = 1;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::recovery_short, "recovery", "1 hole not noted, 1 block")));
}

TEST(Watch, tellsAsLongAsTheThreadOfRecoveryIsGone) {
    Watched watched;
    watched.sight.recovery.failure = "socket: Too many open files";
    for (int look = 0; look < 2; ++look) {
        EXPECT_THAT(
            watched.look(),
            ElementsAre(is(LogCode::recovery_ended, "recovery",
                           "its thread ended by itself: socket: Too many open files; a restart")));
    }
}

}  // namespace
}  // namespace pinstrike::actors::test
