// path: cold
#include "actors/telemetry/log/watch.h"

#include "feed/opra/rejects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
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

void set_packets(LineSnapshot& line, std::uint64_t a, std::uint64_t b) {
    line.streams[0][feed::StreamCount::packets] = a;
    line.streams[1][feed::StreamCount::packets] = b;
}

/// One poller of two queues and two lines, two cores.
CounterSnapshot quiet() {
    CounterSnapshot snapshot;
    PollerSnapshot poller;
    poller.name = "poll0";
    poller.reject_rows = feed::opra::BlockReject_rows;
    for (const char* name : {"nic-a", "nic-b"}) {
        QueueSnapshot queue;
        queue.port = name;
        queue.device.link_up = true;
        queue.device.missed = 0;
        poller.queues.push_back(queue);
    }
    for (const std::uint16_t number : {std::uint16_t{3}, std::uint16_t{4}}) {
        LineSnapshot line;
        line.line = number;
        set_packets(line, 10, 10);
        line.rejected.resize(poller.reject_rows.size());
        poller.lines.push_back(line);
    }
    snapshot.pollers.push_back(poller);
    for (const char* name : {"core0", "core1"}) {
        CoreSnapshot core;
        core.name = name;
        core.actors.resize(2);
        core.actors[0].name = "book";
        core.actors[1].name = "mine";
        core.rings = {{.from = "poll0", .to = name, .capacity_records = 1024}};
        snapshot.cores.push_back(core);
    }
    snapshot.calls = {{"poll0", 0, "", 0}, {"core0", 0, "", 0}};
    return snapshot;
}

/// A watch that has compared one snapshot, and its next snapshot.
struct Watched {
    Watched() {
        snapshot.seconds = 1;
        static_cast<void>(watch.look(snapshot));
        snapshot.seconds = 2;
        snapshot.pollers[0].steps = 1000;
        for (CoreSnapshot& core : snapshot.cores) {
            core.steps = 1000;
        }
    }

    std::vector<LogEntry> look() { return watch.look(snapshot); }

    QueueSnapshot& queue(std::size_t i = 0) { return snapshot.pollers[0].queues[i]; }

    LineSnapshot& line(std::size_t i = 0) { return snapshot.pollers[0].lines[i]; }

    CounterSnapshot snapshot = quiet();
    Watch watch;
};

TEST(Watch, saysNothingWhereNothingChanged) {
    Watched watched;
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, theFirstLookReportsLinksAndStreams) {
    CounterSnapshot snapshot = quiet();
    snapshot.pollers[0].queues[1].device.link_up = false;
    set_packets(snapshot.pollers[0].lines[0], 5, 0);
    set_packets(snapshot.pollers[0].lines[1], 0, 0);
    snapshot.seconds = 1;
    Watch watch;
    EXPECT_THAT(watch.look(snapshot),
                ElementsAre(is(LogCode::link_up, "port nic-a", "the link is up"),
                            is(LogCode::link_down, "port nic-b", "the link is down"),
                            is(LogCode::stream_heard, "line 3 stream A", "1.0 s")));
}

TEST(Watch, namesTheLineThatHasAGap) {
    Watched watched;
    watched.line(1).counts[feed::LineCount::gaps] = 2;
    watched.line(1).counts[feed::LineCount::lost] = 14;
    EXPECT_THAT(
        watched.look(),
        ElementsAre(is(LogCode::gap_declared, "line 4",
                       "2 gaps declared; 14 messages lost since the start, 14 of them new")));
    EXPECT_THAT(watched.look(), IsEmpty());
    watched.line(1).counts[feed::LineCount::gaps] = 3;
    watched.line(1).counts[feed::LineCount::lost] = 15;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::gap_declared, "line 4", "1 of them new")));
}

TEST(Watch, aGapThatWasFilledMeanwhileIsNoLoss) {
    Watched watched;
    watched.line().counts[feed::LineCount::gaps] = 2;
    watched.line().counts[feed::LineCount::late] = 10;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::gap_mended, "line 3",
                               "2 gaps declared and filled meanwhile; 10 messages received late")));
}

TEST(Watch, warnsOfEveryInferredReset) {
    Watched watched;
    watched.line().counts[feed::LineCount::resets_inferred] = 3;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::reset_inferred, "line 3",
                                               "3 resets inferred, 3 since the start")));
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, warnsOfPacketsThatTheReversePathFilterDropped) {
    CounterSnapshot snapshot = quiet();
    snapshot.reverse_path_drops = 5;  // from before the start
    Watch watch;
    const auto dropped =
        is(LogCode::reverse_path_dropped, "feed", "2 packets since the last check");
    EXPECT_THAT(watch.look(snapshot), ::testing::Not(::testing::Contains(dropped)));
    snapshot.reverse_path_drops = 7;
    snapshot.seconds = 1;
    EXPECT_THAT(watch.look(snapshot), ::testing::Contains(dropped));
}

TEST(Watch, framesOfTheNetworkItselfAreNoWarning) {
    Watched watched;
    for (const nic::Drop drop : {nic::Drop::arp, nic::Drop::igmp, nic::Drop::link_control,
                                 nic::Drop::ipv6_control, nic::Drop::routing}) {
        ++watched.queue().dropped[drop];
    }
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::packets_ignored, "port nic-a", "5 pack")));
}

TEST(Watch, doesNotMissAStreamThatNoPortBrings) {
    CounterSnapshot snapshot = quiet();
    for (LineSnapshot& line : snapshot.pollers[0].lines) {
        line.streams[1][feed::StreamCount::packets] = 0;
        line.states[1] = feed::LineState::stream_down;
        line.received = {true, false};
    }
    snapshot.seconds = 1;
    Watch watch;
    for (const LogEntry& entry : watch.look(snapshot)) {
        EXPECT_NE(entry.code, LogCode::streams_unheard);
    }
}

TEST(Watch, saysWhatCameAfterAll) {
    Watched watched;
    watched.line().counts[feed::LineCount::gaps] = 1;
    watched.line().counts[feed::LineCount::lost] = 5;
    static_cast<void>(watched.look());
    watched.line().counts[feed::LineCount::lost] = 1;
    watched.line().counts[feed::LineCount::late] = 4;
    watched.line().counts[feed::LineCount::repaired] = 3;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::gap_mended, "line 3",
                               "4 messages received late, 3 by retransmission; 1 lost")));
    // Messages lost and repaired between two snapshots, more repaired than lost.
    watched.line().counts[feed::LineCount::gaps] = 2;
    watched.line().counts[feed::LineCount::lost] = 0;
    watched.line().counts[feed::LineCount::late] = 6;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::gap_mended, "line 3",
                               "1 gap declared and filled meanwhile; 2 messages received late")));
}

TEST(Watch, namesTheThreadThatMakesNoLoopStep) {
    Watched watched;
    static_cast<void>(watched.look());
    watched.snapshot.seconds = 3;
    watched.snapshot.pollers[0].steps = 2000;
    watched.snapshot.cores[0].steps = 1001;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::thread_stalled, "core core1", "no loop step for 1.0 s")));
    watched.snapshot.seconds = 4;
    watched.snapshot.live = false;  // captures have ended
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, namesTheSlowCoreItsRingAndItsActor) {
    Watched watched;
    CoreSnapshot& core = watched.snapshot.cores[1];
    core.rings[0].counts[RingCount::refused] = 500;
    core.busy_ns = 990;
    core.idle_ns = 10;
    core.actors[0].service.sum_ns = 10;
    core.actors[1].service.sum_ns = 90;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::core_slow, "core core1",
                               "500 messages refused by full rings, 500 since the start: 500 from "
                               "poll0 (1024 records); it was busy 99 % of the time, 90 % of its "
                               "actors' time in mine")));
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, tellsOfAPollerAtItsLimit) {
    Watched watched;
    PollerSnapshot& poller = watched.snapshot.pollers[0];
    poller.busy_ns = 1000;
    poller.queues[0].counts[nic::PortCount::packets] = 6400;
    poller.queues[0].counts[nic::PortCount::full_bursts] = 100;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::poller_behind, "poller poll0",
                                               "busy 100 % of the time, 100 % of 6400 packets")));
}

TEST(Watch, aPollerThatSleepsOrEmptiesItsQueueIsNotAtItsLimit) {
    Watched watched;
    PollerSnapshot& poller = watched.snapshot.pollers[0];
    poller.busy_ns = 500;  // full bursts after each sleep
    poller.idle_ns = 500;
    poller.queues[0].counts[nic::PortCount::packets] = 6400;
    poller.queues[0].counts[nic::PortCount::full_bursts] = 100;
    EXPECT_THAT(watched.look(), IsEmpty());
    poller.busy_ns = 1500;  // never an empty step, but small bursts
    poller.queues[0].counts[nic::PortCount::packets] = 12800;
    poller.queues[0].counts[nic::PortCount::full_bursts] = 120;
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

TEST(Watch, aLinkIsReportedOncePerPortAndFlapsAreSeen) {
    Watched watched;
    watched.queue(0).port = watched.queue(1).port = "nic";
    watched.queue(0).device.link_up = watched.queue(1).device.link_up = false;
    watched.queue(0).counts[nic::PortCount::link_changes] =
        watched.queue(1).counts[nic::PortCount::link_changes] = 1;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::link_down, "port nic", "changed 1 time")));
    watched.queue(0).counts[nic::PortCount::link_changes] =
        watched.queue(1).counts[nic::PortCount::link_changes] = 3;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::link_flapped, "port nic",
                                               "changed 2 times and is down as before")));
    watched.queue(0).device.link_up = watched.queue(1).device.link_up = true;
    watched.queue(0).counts[nic::PortCount::link_changes] =
        watched.queue(1).counts[nic::PortCount::link_changes] = 4;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::link_up, "port nic", "the link is up")));
}

TEST(Watch, reportsDropsAndRejectsByReason) {
    Watched watched;
    watched.queue().dropped[nic::Drop::fragment] = 2;
    watched.queue().dropped[nic::Drop::unknown_group] = 9;
    watched.queue().unknown_groups = {{{{0xEF01'0404}, 31004}, {0xA245'2C04}, 9}};
    watched.queue().dropped[nic::Drop::arp] = 1;
    watched.line().rejected[static_cast<std::size_t>(feed::opra::BlockReject::checksum_bad)] = 3;
    EXPECT_THAT(
        watched.look(),
        ElementsAre(
            is(LogCode::packets_dropped, "port nic-a",
               "11 packets, 11 since the start: fragment 2, unknown_group 9 (no line of this "
               "poller listens to the destination group and port); groups of no line: "
               "239.1.4.4:31004 from 162.69.44.4, 9 packets"),
            is(LogCode::packets_ignored, "port nic-a", "1 packet, 1 since the start: arp 1"),
            is(LogCode::blocks_rejected, "line 3",
               "3 blocks, 3 since the start: checksum_bad 3 (the block checksum does not agree")));
    watched.queue().dropped[nic::Drop::fragment] = 3;
    const std::vector<LogEntry> entries = watched.look();
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].text.find("239.1.4.4"), std::string::npos) << "nothing new goes there";
}

TEST(Watch, aStreamOrLineThatIsNoLongerHeardIsReportedOnce) {
    using feed::LineState;
    Watched watched;
    watched.line(0).states[0] = LineState::stream_silent;
    watched.line(0).heard_ns[0] = 1'773'667'800'500'000'000;
    EXPECT_THAT(
        watched.look(),
        ElementsAre(
            is(LogCode::stream_silent, "line 3 stream A",
               "no packet any more; 10 packets before, the last at 2026-03-16T13:30:00.500Z")));
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
    CounterSnapshot snapshot = quiet();
    set_packets(snapshot.pollers[0].lines[0], 10, 0);
    set_packets(snapshot.pollers[0].lines[1], 11, 11);
    Watch watch;
    static_cast<void>(watch.look(snapshot));
    EXPECT_THAT(watch.look(snapshot), IsEmpty());
    snapshot.pollers[0].lines[0].states[1] = feed::LineState::stream_silent;
    EXPECT_THAT(watch.look(snapshot),
                ElementsAre(is(LogCode::streams_unheard, "feed",
                               "1 of 4 streams have had no packet yet: line 3 B")));
    EXPECT_THAT(watch.look(snapshot), IsEmpty());
}

TEST(Watch, aReplayHasNoSilenceAndNoLimit) {
    Watched watched;
    watched.snapshot.live = false;
    watched.snapshot.seconds = 60;
    PollerSnapshot& poller = watched.snapshot.pollers[0];
    poller.busy_ns = 1000;
    poller.queues[0].counts[nic::PortCount::packets] = 6400;
    poller.queues[0].counts[nic::PortCount::full_bursts] = 100;
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, tellsWhichCallOfWhichThreadWasRefused) {
    Watched watched;
    watched.snapshot.calls[1].count = 2;
    watched.snapshot.calls[1].last = "openat";
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::call_refused, "thread core0",
                               "2 system calls refused, 2 since the start; the last was openat")));
    EXPECT_THAT(watched.look(), IsEmpty());
    watched.snapshot.calls[0].unfiltered = EINVAL;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::calls_unfiltered, "thread poll0",
                                               "refused the filter: Invalid argument")));
}

TEST(Watch, tellsOfAllocationsAndClockSteps) {
    Watched watched;
    watched.snapshot.hot_allocations = 3;
    watched.snapshot.clock_steps = 1;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::hot_allocation, "hot threads", "3 allocations, 3 since"),
                            is(LogCode::clock_stepped, "clock", "1 step, 1 since")));
}

TEST(Watch, reportsWhatRecoveryAndTheHistoryCouldNotDo) {
    Watched watched;
    RecoveryTotals& counts = watched.snapshot.recovery.counts.emplace();
    counts[feed::RecoveryCount::abandoned] = 7;
    counts[feed::RecoveryCount::untracked] = 1;
    watched.snapshot.recovery.not_kept = 2;
    EXPECT_THAT(
        watched.look(),
        ElementsAre(is(LogCode::recovery_short, "recovery",
                       "7 messages requested without success, 1 message not listed "
                       "(recovery.ranges_max)"),
                    is(LogCode::history_short, "history", "2 blocks not kept, 2 since the start")));
    EXPECT_THAT(watched.look(), IsEmpty());
    counts[feed::RecoveryCount::never_asked] = 3;
    watched.snapshot.recovery.notes_dropped = 1;
    counts[feed::RecoveryCount::repairs_dropped] = 1;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::recovery_short, "recovery", "1 hole not noted, 1 block")));
}

TEST(Watch, tellsOnceThatTheRecorderFailsAndWhatIsMissingWhenItResumes) {
    Watched watched;
    watched.snapshot.recorder.emplace();
    watched.watch = Watch{};
    static_cast<void>(watched.look());
    watched.snapshot.recorder->error = ENOSPC;
    watched.snapshot.recorder->counts[RecorderCount::failures] = 1;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::recording_failed, "recorder", "No space left on device")));
    watched.snapshot.pollers[0].not_recorded = 40;
    EXPECT_THAT(watched.look(), IsEmpty());
    watched.snapshot.pollers[0].not_recorded = 70;
    watched.snapshot.recorder->counts[RecorderCount::snapshots_failed] = 1;
    watched.snapshot.recorder->snapshot_error = ENOSPC;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::snapshot_failed, "recorder", "No space left on device")));
    watched.snapshot.recorder->counts[RecorderCount::compress_failures] = 2;
    watched.snapshot.recorder->compress_failure = "a.pcapng.zst.part: No space left on device";
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::compression_failed, "recorder",
                               "No space left on device; 2 failed since the start")));
    watched.snapshot.recorder->error = 0;
    EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::recording_resumed, "recorder",
                                               "70 packets not recorded since the disk failed")));
    EXPECT_THAT(watched.look(), IsEmpty());
}

TEST(Watch, tellsWhyPacketsAreNotRecorded) {
    Watched watched;
    watched.snapshot.recorder.emplace();
    watched.watch = Watch{};
    static_cast<void>(watched.look());
    watched.snapshot.recorder->missing[MissingReason::disk_slow] = 5;
    watched.snapshot.pollers[0].not_recorded = 5;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::recording_short, "recorder",
                               "5 packets not recorded, 5 since the start: the disk is too slow")));
    watched.snapshot.recorder->missing[MissingReason::thread_starved] = 1;
    watched.snapshot.pollers[0].not_recorded = 6;
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::recording_short, "recorder",
                               "1 packet not recorded, 6 since the start: the recorder's thread")));
    watched.snapshot.pollers[0].not_recorded = 7;  // the thread has not counted it yet
    EXPECT_THAT(watched.look(),
                ElementsAre(is(LogCode::recording_short, "recorder",
                               "1 packet not recorded, 7 since the start: the recorder's thread")));
}

TEST(Watch, tellsAsLongAsTheThreadOfRecoveryIsGone) {
    Watched watched;
    watched.snapshot.recovery.failure = "socket: Too many open files";
    for (int look = 0; look < 2; ++look) {
        EXPECT_THAT(watched.look(), ElementsAre(is(LogCode::recovery_ended, "recovery",
                                                   "its thread ended because of an error: socket: "
                                                   "Too many open files; only a restart")));
    }
}

}  // namespace
}  // namespace pinstrike::actors::test
