// path: cold
#include "feed/lines/line_watch.h"

#include "feed/lines/session_hours.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinstrike::feed {
namespace {

constexpr std::int64_t s = 1'000'000'000;

/// Calls look() with packet counts, and records the reported changes as text such as "A silent".
struct Watcher {
    explicit Watcher(const StreamsReceived& received = both_streams)
        : watch(SilenceConfig{}, received) {}

    LineWatch watch;
    std::vector<std::string> changes;

    void look(std::int64_t at_s, std::uint64_t a, std::uint64_t b, bool on_air = true) {
        changes.clear();
        const LineWatch::Moment now{at_s * s + 1, 1'000'000 * s + at_s * s};
        watch.look(now, {a, b}, on_air, [this](LineState state, char stream) {
            const char* words[] = {"up", "silent", "down", "line down"};
            const auto which = static_cast<std::size_t>(state);
            changes.push_back(stream == ' ' ? words[which]
                                            : std::string{stream} + " " + words[which]);
        });
    }
};

using Changes = std::vector<std::string>;

TEST(LineWatch, ReportsNothingWhileBothStreamsAreHeard) {
    Watcher line;
    for (int i = 0; i < 100; ++i) {
        line.look(10 * i, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(i));
        EXPECT_EQ(line.changes, Changes{});
    }
    EXPECT_EQ(line.watch.heard_ns(Stream::a), (1'000'000 + 990) * s);
}

TEST(LineWatch, ReportsSilenceOnceAndOfItsEnd) {
    Watcher line;
    line.look(0, 1, 1);
    line.look(11, 1, 5);
    EXPECT_EQ(line.changes, Changes{});
    line.look(12, 1, 6);
    EXPECT_EQ(line.changes, Changes{"A silent"});
    line.look(13, 1, 7);
    EXPECT_EQ(line.changes, Changes{});
    line.look(36, 1, 8);
    EXPECT_EQ(line.changes, Changes{"A down"});
    EXPECT_FALSE(line.watch.down());
    line.look(37, 2, 9);
    EXPECT_EQ(line.changes, Changes{"A up"});
}

TEST(LineWatch, CallsTheLineDownWhenNeitherStreamIsHeard) {
    Watcher line;
    line.look(0, 1, 1);
    line.look(5, 1, 2);
    line.look(12, 1, 2);
    EXPECT_EQ(line.changes, Changes{"A silent"});
    line.look(17, 1, 2);
    EXPECT_EQ(line.changes, (Changes{"B silent", "line down"}));
    EXPECT_TRUE(line.watch.down());
    line.look(18, 1, 3);
    EXPECT_EQ(line.changes, (Changes{"B up", "up"}));
}

TEST(LineWatch, ExpectsNoStreamThatTheFeedDoesNotHave) {
    Watcher line{{true, false}};
    line.look(0, 1, 0);
    line.look(100, 2, 0);
    EXPECT_EQ(line.changes, Changes{});
    EXPECT_TRUE(line.watch.receives(Stream::a));
    EXPECT_FALSE(line.watch.receives(Stream::b));
    line.look(112, 2, 0);
    EXPECT_EQ(line.changes, (Changes{"A silent", "line down"}));
    line.look(113, 3, 0);
    EXPECT_EQ(line.changes, (Changes{"A up", "up"}));
}

TEST(LineWatch, CallsALineDownThatIsNeverHeard) {
    Watcher line;
    line.look(0, 0, 0);
    line.look(11, 0, 0);
    EXPECT_EQ(line.changes, Changes{});
    line.look(12, 0, 0);
    EXPECT_EQ(line.changes, (Changes{"A silent", "B silent", "line down"}));
    EXPECT_EQ(line.watch.heard_ns(Stream::a), 0U);
}

TEST(LineWatch, ExpectsNothingOffTheAir) {
    Watcher line;
    line.look(0, 1, 1);
    for (int i = 1; i < 100; ++i) {
        line.look(10 * i, 1, 1, false);
        EXPECT_EQ(line.changes, Changes{});
        EXPECT_FALSE(line.watch.is_watched());
    }
    line.look(1000, 1, 1);
    EXPECT_TRUE(line.watch.is_watched());
    line.look(1001, 1, 1);
    EXPECT_EQ(line.changes, Changes{});
    line.look(1002, 1, 1);
    EXPECT_EQ(line.changes, (Changes{"A silent", "B silent", "line down"}));
}

TEST(LineWatch, GetsNoBetterByAClockThatIsSetBack) {
    Watcher line;
    line.look(0, 1, 1);
    line.look(40, 1, 2);
    EXPECT_EQ(line.changes, Changes{"A down"});
    line.look(20, 1, 3);
    EXPECT_EQ(line.changes, Changes{});
}

TEST(SessionHours, AreOnTheAirInTheirStretches) {
    const SessionHours hours{{{10, 20}, {30, 40}}};
    for (const auto& [now, on] : std::vector<std::pair<std::int64_t, bool>>{{9, false},
                                                                            {10, true},
                                                                            {19, true},
                                                                            {20, false},
                                                                            {29, false},
                                                                            {30, true},
                                                                            {40, false}}) {
        EXPECT_EQ(hours.on_air(now), on) << now;
    }
    EXPECT_TRUE(SessionHours{}.on_air(5));
}

}  // namespace
}  // namespace pinstrike::feed
