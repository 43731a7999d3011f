// path: cold
//
// The screen of `run` for two snapshots that are written by hand.
#include "actors/telemetry/top/live_view.h"

#include "actors/telemetry/admin/views.h"
#include "tests/actors/book/events.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <numeric>
#include <string>

namespace pinstrike::actors::top {
namespace {

using feed::LineCount;
using feed::LineState;
using feed::StreamCount;
using test::key_of;

/// One poller with two lines, of which the first does not receive stream A, and one core.
CounterSnapshot counters_at(double seconds) {
    CounterSnapshot counters;
    counters.feed = "opra";
    counters.seconds = seconds;
    PollerSnapshot& poller = counters.pollers.emplace_back();
    poller.name = "poller0";
    poller.queues.emplace_back().port = "nic";
    poller.lines.resize(2);
    for (std::size_t i = 0; i < 2; ++i) {
        LineSnapshot& line = poller.lines[i];
        line.line = static_cast<std::uint16_t>(i + 1);
        line.up = true;
        line.streams[0][StreamCount::packets] = line.streams[1][StreamCount::packets] = 1;
        line.states = {i == 0 ? LineState::stream_silent : LineState::up, LineState::up};
    }
    CoreSnapshot& core = counters.cores.emplace_back();
    core.name = "core0";
    RingSnapshot& ring = core.rings.emplace_back();
    ring.from = "poller0";
    ring.capacity_records = 1024;
    return counters;
}

/// The readings as LiveView makes them.
Readings readings_of(const CounterSnapshot& before, const CounterSnapshot& now) {
    admin::Tally tally{true};
    Readings readings;
    readings.before = admin::views(before, tally, "all");
    readings.now = admin::views(now, tally, "all");
    return readings;
}

std::string joined(const std::vector<std::string>& rows) {
    return std::accumulate(
        rows.begin(), rows.end(), std::string{},
        [](std::string text, const std::string& row) { return std::move(text) + row + "\n"; });
}

std::string shown(const CounterSnapshot& before, const CounterSnapshot& now, ScreenSize size = {}) {
    return joined(screen_text(readings_of(before, now), size));
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(LiveView, RatesAreBetweenTheTwoLooks) {
    CounterSnapshot before = counters_at(10);
    before.pollers[0].queues[0].counts[nic::PortCount::packets] = 1'000'000;
    before.pollers[0].queues[0].counts[nic::PortCount::bytes] = 1'000'000'000;
    before.pollers[0].lines[0].counts[LineCount::delivered] = 2'000'000;
    CounterSnapshot now = counters_at(12);
    now.pollers[0].queues[0].counts[nic::PortCount::packets] = 3'000'000;
    now.pollers[0].queues[0].counts[nic::PortCount::bytes] = 3'500'000'000;
    now.pollers[0].lines[0].counts[LineCount::delivered] = 22'000'000;
    now.pollers[0].lines[1].counts[LineCount::gaps] = 1;
    now.pollers[0].busy_ns = 1'500'000'000;
    now.pollers[0].idle_ns = 500'000'000;
    now.cores[0].rings[0].high_water_records = 256;
    const std::string text = shown(before, now);
    EXPECT_TRUE(has(text, "10,000,000 messages/s   1,000,000 packets/s   10.000 Gb/s\n")) << text;
    EXPECT_TRUE(has(text, "delivered 22,000,000   packets 3,000,000   gaps 1   repaired 0"))
        << text;
    EXPECT_TRUE(has(text, "poller0        poller   any   75 %    1,000,000 ")) << text;
    EXPECT_TRUE(has(text, "lines 2 of 2 up, 1 not heard: 1A\n")) << text;
    EXPECT_TRUE(has(text, "25.0 %      1,024\n")) << text;
    EXPECT_EQ(plain_text(readings_of(before, now)),
              "12 s   10,000,000 messages/s   1,000,000 packets/s   10.000 Gb/s   "
              "lost 0   refused 0   dropped 0   missed 0   lines 2 of 2 up, 1 not heard: 1A\n");
}

TEST(LiveView, LatenciesAreThoseOfTheLastSecond) {
    Histogram histogram;
    histogram.record(50'000'000, 1000);
    CounterSnapshot before = counters_at(1);
    before.cores[0].receive_to_actor.all = histogram.snapshot();
    histogram.record(1'000, 1000);
    CounterSnapshot now = counters_at(2);
    now.cores[0].receive_to_actor.all = histogram.snapshot();
    const std::string text = shown(before, now);
    EXPECT_TRUE(has(text,
                    "receive_to_actor             1,000  1.02 us  1.02 us  1.02 us  1.02 us  "
                    "1.02 us\n"))
        << text;
    EXPECT_TRUE(has(text, "exchange_to_decoded              0        -        -")) << text;
}

TEST(LiveView, ActorsShowWhatTheyDidInTheLastSecond) {
    Histogram waiting;
    waiting.record(50'000'000, 1000);
    CounterSnapshot before = counters_at(1);
    ActorSnapshot& actor = before.cores[0].actors.emplace_back();
    actor.name = "book";
    actor.events = 1'000;
    actor.waiting.all = waiting.snapshot();
    waiting.record(1'000, 100);
    CounterSnapshot now = counters_at(2);
    now.cores[0].actors = before.cores[0].actors;
    now.cores[0].actors[0].events = 3'501'000;
    now.cores[0].actors[0].waiting.all = waiting.snapshot();
    now.cores[0].actors.emplace_back().name = "other";
    now.cores[0].busiest = {{key_of("SPY"), 1, {}, {}}};
    const std::string text = shown(before, now, {80, 40});
    EXPECT_TRUE(has(text, "core0        book          3,500,000    1.02 us    1.02 us          -"))
        << text;
    EXPECT_TRUE(has(text, "core0        other                 -          -")) << text;
    const std::string small = shown(before, now, {80, 24});
    EXPECT_TRUE(has(small, "core0        book")) << small;
    EXPECT_TRUE(has(small, "busiest series")) << small;
}

TEST(LiveView, TheBusiestOfNowComeFirst) {
    CounterSnapshot before = counters_at(1);
    CounterSnapshot now = counters_at(2);
    const auto early = key_of("SPY");
    const auto late = key_of("QQQ", 'N', 2, 26, 12'50000000, true);
    before.cores[0].busiest = {{early, 1'000'000, {}, {}}, {late, 100, {}, {}}};
    now.cores[0].busiest = {{early, 1'000'010, 125'000'000, 130'000'000}, {late, 5'100, {}, {}}};
    const std::string text = shown(before, now);
    const auto first = text.find("QQQ   2026-02-02 P 12.5 GTH              5,000         5,100");
    const auto second = text.find("SPY   2027-01-16 C 100" + std::string(22, ' ') +
                                  "10     1,000,010      1.25       1.3");
    ASSERT_NE(first, std::string::npos) << text;
    ASSERT_NE(second, std::string::npos) << text;
    EXPECT_LT(first, second);
}

TEST(LiveView, TheFullestRingComesFirst) {
    CounterSnapshot now = counters_at(2);
    now.cores.resize(4, now.cores[0]);
    now.cores[2].name = "late";
    now.cores[2].rings[0].high_water_records = 512;
    const std::string text = shown(counters_at(1), now);
    EXPECT_LT(text.find("poller0          late"), text.find("poller0          core0")) << text;
}

TEST(LiveView, KeepsWithinTheScreen) {
    CounterSnapshot now = counters_at(2);
    for (int i = 0; i < 40; ++i) {
        now.cores.push_back(now.cores[0]);
        now.cores.back().name = "a_thread_of_a_rather_long_name";
        now.cores[0].busiest.push_back({key_of("\x1b[31m"), 1'000'000'000'000, {}, {}});
    }
    const Readings readings = readings_of(counters_at(1), now);
    for (const ScreenSize size :
         {ScreenSize{80, 24}, ScreenSize{40, 10}, ScreenSize{200, 60}, ScreenSize{9, 1}}) {
        const auto rows = screen_text(readings, size);
        EXPECT_LT(rows.size(), size.rows);
        for (const std::string& row : rows) {
            EXPECT_LE(row.size(), size.columns);
            EXPECT_FALSE(has(row, "\x1b"));
        }
    }
}

/// As a terminal that is stopped: frames are lost, and the control thread continues.
TEST(LiveView, APipeThatNobodyReadsStopsNothing) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    const std::deque<std::string> no_lines;
    {
        LiveView view{ends[1], no_lines};
        pollfd full{ends[1], POLLOUT, 0};
        for (int second = 1; second < 1000 && ::poll(&full, 1, 0) == 1; ++second) {
            view.draw(counters_at(second));
        }
        EXPECT_EQ(::poll(&full, 1, 0), 0) << "the frames have not filled the pipe";
        view.draw(counters_at(1000));
    }
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(LiveView, LastLinesOfTheLogStandBelow) {
    const std::deque<std::string> log{"first", "second", std::string(200, 'x')};
    const Readings readings = readings_of(counters_at(1), counters_at(2));
    const auto rows = screen_text(readings, {80, 24}, log);
    ASSERT_GT(rows.size(), 3U);
    EXPECT_LT(rows.size(), 24U);
    EXPECT_EQ(rows[rows.size() - 3], "first");
    EXPECT_EQ(rows[rows.size() - 2], "second");
    EXPECT_EQ(rows.back(), std::string(80, 'x'));
    const auto small = screen_text(readings, {80, 8}, log);
    EXPECT_LT(small.size(), 8U);
    EXPECT_EQ(small[small.size() - 2], "second");
}

}  // namespace
}  // namespace pinstrike::actors::top
