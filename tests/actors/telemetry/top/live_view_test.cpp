// path: cold
#include "actors/telemetry/top/live_view.h"

#include "tests/actors/book/events.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace pinstrike::actors::test {
namespace {

LiveFigures figures_at(double seconds) {
    LiveFigures figures;
    figures.seconds = seconds;
    figures.lines = {{1, true, true}, {2, false, true}};
    figures.threads = {{"poll0", 0, 0, 0, 0, true}, {"core0", 0, 0, 0, 0, false}};
    figures.rings = {{"poll0:core0", 0, 1024}};
    return figures;
}

std::string joined(const std::vector<std::string>& rows) {
    return std::accumulate(
        rows.begin(), rows.end(), std::string{},
        [](std::string text, const std::string& row) { return std::move(text) + row + "\n"; });
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(LiveView, RatesAreBetweenTheTwoLooks) {
    LiveFigures before = figures_at(10);
    before.packets = 1'000'000;
    before.delivered = 2'000'000;
    before.bytes = 1'000'000'000;
    LiveFigures now = figures_at(12);
    now.packets = 3'000'000;
    now.delivered = 22'000'000;
    now.bytes = 3'500'000'000;
    now.threads[0].busy_ns = 1'500'000'000;
    now.threads[0].idle_ns = 500'000'000;
    now.rings[0].high_water_records = 256;
    const std::string text = joined(screen_text("opra", now, before, {}));
    EXPECT_TRUE(has(text, "per s        1,000,000       10,000,000    10.000")) << text;
    EXPECT_TRUE(has(text, "total        3,000,000       22,000,000      28.0")) << text;
    EXPECT_TRUE(has(text, "###############.....   75 %")) << text;
    EXPECT_TRUE(has(text, "lines 2 of 2 up (A 1, B 2)")) << text;
    EXPECT_TRUE(has(text, "25.0 % of 1,024 records")) << text;
    EXPECT_EQ(plain_text(now, before),
              "00:00:12 packets/s 1000000 messages/s 10000000 Gb/s 10.000 dropped 0 refused 0 "
              "lost 0 lines 2/2 receive-to-actor us p50 0.00 p99 0.00");
}

TEST(LiveView, LatenciesAreThoseOfTheLastSecond) {
    Histogram histogram;
    histogram.record(50'000'000, 1000);
    LiveFigures before = figures_at(1);
    before.receive_to_actor = histogram.snapshot();
    histogram.record(1'000, 1000);
    LiveFigures now = figures_at(2);
    now.receive_to_actor = histogram.snapshot();
    const std::string text = joined(screen_text("opra", now, before, {}));
    EXPECT_TRUE(has(text,
                    "receive to actor               1.02       1.02       1.02       1.02"
                    "       1.02"))
        << text;
    EXPECT_TRUE(has(text, "exchange to decoded               -")) << text;
}

TEST(LiveView, ActorsShowWhatTheyDidInTheLastSecond) {
    Histogram waiting;
    Histogram service;
    waiting.record(50'000'000, 1000);
    LiveFigures before = figures_at(1);
    before.actors = {{"core0 book", 1'000, waiting.snapshot(), service.snapshot()}};
    waiting.record(1'000, 100);
    LiveFigures now = figures_at(2);
    now.actors = {{"core0 book", 3'501'000, waiting.snapshot(), service.snapshot()},
                  {"core1 book", 0, {}, {}}};
    const std::string text = joined(screen_text("opra", now, before, {80, 40}));
    EXPECT_TRUE(has(text,
                    "core0 book                    3,500,000       1.02     1.02"
                    "                   -"))
        << text;
    EXPECT_TRUE(has(text, "core1 book                            0")) << text;
    const std::string small = joined(screen_text("opra", now, before, {80, 24}));
    EXPECT_TRUE(has(small, "core0 book")) << small;
    EXPECT_TRUE(has(small, "busiest series")) << small;
}

TEST(LiveView, TheBusiestOfNowComeFirst) {
    LiveFigures before = figures_at(1);
    LiveFigures now = figures_at(2);
    const auto early = key_of("SPY");
    const auto late = key_of("QQQ", 'N', 2, 26, 12'50000000, true);
    before.busiest = {{early, 1'000'000, {}, {}, false, false}, {late, 100, {}, {}, false, false}};
    now.busiest = {{early, 1'000'010, {125, 'B'}, {13, 'A'}, true, true},
                   {late, 5'100, {}, {}, false, false}};
    const std::string text = joined(screen_text("opra", now, before, {}));
    const auto first = text.find("QQQ   2026-02-02 P 12.5 GTH              5,000         5,100");
    const auto second = text.find("SPY   2027-01-16 C 100" + std::string(22, ' ') +
                                  "10     1,000,010      1.25       1.3");
    ASSERT_NE(first, std::string::npos) << text;
    ASSERT_NE(second, std::string::npos) << text;
    EXPECT_LT(first, second);
}

TEST(LiveView, KeepsWithinTheScreen) {
    LiveFigures now = figures_at(2);
    for (int i = 0; i < 40; ++i) {
        now.threads.push_back({"a_thread_of_a_rather_long_name", 1, 1, 1, 1, false});
        now.busiest.push_back({key_of("\x1b[31m"), 1'000'000'000'000, {}, {}, false, false});
    }
    for (const ScreenSize size : {ScreenSize{80, 24}, ScreenSize{40, 10}, ScreenSize{200, 60}}) {
        const auto rows = screen_text("opra", now, figures_at(1), size);
        EXPECT_LT(rows.size(), size.rows);
        for (const std::string& row : rows) {
            EXPECT_LE(row.size(), size.columns);
            EXPECT_FALSE(has(row, "\x1b"));
        }
    }
}

TEST(LiveView, LastLinesOfTheLogStandBelow) {
    const std::deque<std::string> log{"first", "second", std::string(200, 'x')};
    const auto rows = screen_text("opra", figures_at(2), figures_at(1), {80, 24}, log);
    ASSERT_GT(rows.size(), 3U);
    EXPECT_LT(rows.size(), 24U);
    EXPECT_EQ(rows[rows.size() - 3], "first");
    EXPECT_EQ(rows[rows.size() - 2], "second");
    EXPECT_EQ(rows.back(), std::string(80, 'x'));
    const auto small = screen_text("opra", figures_at(2), figures_at(1), {80, 8}, log);
    EXPECT_LT(small.size(), 8U);
    EXPECT_EQ(small[small.size() - 2], "second");
}

}  // namespace
}  // namespace pinstrike::actors::test
