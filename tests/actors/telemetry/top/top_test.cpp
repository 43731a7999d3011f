// path: cold
//
// The screen of `pinstrike top` for readings that are written by hand, and its keys.
#include "actors/telemetry/admin/table.h"
#include "actors/telemetry/top/screen.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pinstrike::actors::top {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

json times(std::uint64_t count, std::uint64_t ns) {
    return {{"count", count},   {"p50_ns", ns},        {"p90_ns", 2 * ns},
            {"p99_ns", 3 * ns}, {"p999_ns", 300 * ns}, {"highest_ns", 900'000 * ns}};
}

json stream(const char* state, std::uint64_t accepted, json skew) {
    return {{"state", state},
            {"heard_seconds_ago", 0.1},
            {"packets", 10},
            {"accepted", accepted},
            {"skew", std::move(skew)}};
}

json lines_reading(double second, std::size_t lines) {
    json all = json::array();
    for (std::size_t i = 1; i <= lines; ++i) {
        const auto delivered = static_cast<std::uint64_t>(1000.0 * static_cast<double>(i) * second);
        all.push_back({{"line", i},
                       {"poller", "poller0"},
                       {"state", i == 7 ? "down" : "up"},
                       {"delivered", delivered},
                       {"lost", i == 50 ? 12'345'678 : 0},
                       {"repaired", 0},
                       {"gaps", 0},
                       {"rejects", json::object()},
                       {"a", stream(i == 7 ? "silent" : "up", delivered * 3, times(9, 155'650))},
                       {"b", stream(i == 7 ? "unheard" : "up", delivered, times(1, 50))}});
    }
    return all;
}

json status_reading(double second, std::size_t lines) {
    return {{"lines", lines},
            {"lines_up", lines - 1},
            {"lines_down", {7}},
            {"streams_not_up", {"7A", "7B"}},
            {"delivered", 4'656'000 * second},
            {"packets", 123'456'789},
            {"bytes", 1e9 * second},
            {"lost", 12'345'678},
            {"gaps", 3},
            {"repaired", 2},
            {"refused", 0},
            {"dropped", 0},
            {"missed", 0}};
}

json threads_reading(double second) {
    return {{{"thread", "poller0"},
             {"kind", "poller"},
             {"cpu", 2},
             {"busy_ns", 250'000'000 * second},
             {"idle_ns", 750'000'000 * second},
             {"longest_step_ns", 12'300'000},
             {"packets", 9'000'000 * second},
             {"preemptions", {{"count", 0}}}},
            {{"thread", "core0"},
             {"kind", "core"},
             {"cpu", "any"},
             {"busy_ns", 0},
             {"idle_ns", 0},
             {"longest_step_ns", 0},
             {"messages", 1},
             {"preemptions", times(1, 25'000)}}};
}

/// `second`: the running time. Line i delivers 1000 * i messages per second.
json reading(double second, std::size_t lines = 96) {
    json all{{"version", "0.1.0"},
             {"feed", "opra"},
             {"running_seconds", second},
             {"log_level", "info"},
             {"latency",
              {{"exchange_to_decoded", times(9, 380)}, {"receive_to_actor", times(9, 123'456)}}}};
    all["lines"] = lines_reading(second, lines);
    all["status"] = status_reading(second, lines);
    all["threads"] = threads_reading(second);
    all["rings"] = {{{"from", "poller0"},
                     {"to", "core0"},
                     {"routed", 10},
                     {"refused", 3},
                     {"capacity_records", 262'144},
                     {"high_water_records", 131'072}}};
    all["actors"] = {{{"core", "core0"},
                      {"actor", "book"},
                      {"messages", 1'000},
                      {"waiting", times(1, 1280)},
                      {"service", times(1, 230)}}};
    all["ports"] = {{{"port", "nic-a"},
                     {"poller", "poller0"},
                     {"link", "up"},
                     {"packets", 5 * second},
                     {"bytes", 1'250'000'000 * second},
                     {"dropped", {{"arp", 2}, {"igmp", 1}}},
                     {"missed", nullptr},
                     {"errors", 0}}};
    all["busiest"] = {{{"core", "core0"},
                       {"series", "SPXW  2026-03-19 C 5900"},
                       {"quotes", 1'000 * second},
                       {"bid", "112.29"},
                       {"offer", nullptr}}};
    return all;
}

Readings two_readings() {
    return {reading(11), reading(10)};
}

std::vector<std::string> texts(Screen& screen, const Readings& readings, std::size_t rows = 24) {
    std::vector<std::string> lines;
    for (const ScreenRow& row : screen.draw(readings, 80, rows)) {
        EXPECT_LE(row.text.size(), 80U);
        lines.push_back(row.text);
    }
    EXPECT_EQ(lines.size(), rows);
    return lines;
}

/// The text of the selected row.
std::string chosen(Screen& screen, const Readings& readings) {
    for (const ScreenRow& row : screen.draw(readings, 80, 24)) {
        if (row.look == ScreenRow::Look::selected) {
            return row.text;
        }
    }
    return "none";
}

TEST(Top, fits_80_by_24_whole) {
    Screen screen;
    for (const Key view : {Key::lines, Key::cores, Key::rings, Key::actors, Key::ports,
                           Key::latency, Key::busiest, Key::overview, Key::help}) {
        screen.press(view);
        const std::vector<std::string> uncut = [&] {
            std::vector<std::string> lines;
            for (const ScreenRow& row : screen.draw(two_readings(), 1000, 24)) {
                lines.push_back(row.text);
            }
            return lines;
        }();
        EXPECT_EQ(texts(screen, two_readings()), uncut) << "something was cut";
    }
}

TEST(Top, says_how_the_feed_is) {
    Screen screen;
    const auto shown = texts(screen, two_readings());
    EXPECT_EQ(shown[0], "pinstrike 0.1.0   opra   running 00:00:11   log level info");
    EXPECT_EQ(shown[1], "4,656,000 messages/s   0 packets/s   8.000 Gb/s");
    EXPECT_EQ(shown[2], "delivered 51,216,000   packets 123,456,789   gaps 3   repaired 2");
    EXPECT_EQ(shown[3], "lost 12,345,678   refused 0   dropped 0   missed 0");
    EXPECT_EQ(shown[4], "lines 95 of 96 up, 2 not heard: 7A 7B");
    EXPECT_EQ(shown[5],
              "p50 p99:  exchange to decoded 0.38 us 1.14 us  receive to actor 123 us 370 us");
    EXPECT_THAT(shown[8], StartsWith("   1 up      up      up           1,000        0"));
    EXPECT_THAT(shown[8], EndsWith("75 %   156 us"));
}

TEST(Top, has_no_rates_before_the_second_reading) {
    Screen screen;
    const auto shown = texts(screen, {reading(10), json()});
    EXPECT_THAT(shown[1], StartsWith("- messages/s"));
    EXPECT_THAT(shown[8], HasSubstr("up               -"));
}

TEST(Top, shows_no_rate_where_counts_were_cleared) {
    Screen screen;
    EXPECT_THAT(texts(screen, {reading(1), reading(10)})[1], StartsWith("0 messages/s"));
}

TEST(Top, sorts_by_any_column_and_back) {
    Screen screen;
    const Readings readings = two_readings();
    static_cast<void>(texts(screen, readings));
    screen.press(Key::sort_right);
    EXPECT_THAT(texts(screen, readings)[8], StartsWith("   7 down    silent  unheard"))
        << "what is not well comes first";
    for (int i = 0; i < 3; ++i) {
        screen.press(Key::sort_right);
    }
    EXPECT_THAT(texts(screen, readings)[8], StartsWith("  96 "));
    screen.press(Key::reverse);
    EXPECT_THAT(texts(screen, readings)[8], StartsWith("   1 "));
    screen.press(Key::reverse);
    screen.press(Key::sort_right);
    EXPECT_THAT(texts(screen, readings)[8], HasSubstr(" 12,345,6")) << "lost";
    screen.press(Key::lines);
    screen.press(Key::sort_left);
    EXPECT_EQ(texts(screen, readings).size(), 24U) << "left of the first is the last";
}

TEST(Top, keeps_the_chosen_line_chosen_and_visible) {
    Screen screen;
    const Readings readings = two_readings();
    static_cast<void>(texts(screen, readings));
    for (int i = 0; i < 30; ++i) {
        screen.press(Key::down);
        EXPECT_THAT(chosen(screen, readings), StartsWith(fmt::format("{:>4} ", i + 2)));
    }
    screen.press(Key::reverse);
    EXPECT_THAT(chosen(screen, readings), StartsWith("  31 "));
    screen.press(Key::page_up);
    EXPECT_THAT(chosen(screen, readings), StartsWith("  46 "));
    for (int i = 0; i < 20; ++i) {
        screen.press(Key::page_down);
        static_cast<void>(texts(screen, readings));
    }
    EXPECT_THAT(chosen(screen, readings), StartsWith("   1 "));
    screen.press(Key::down);
    EXPECT_THAT(chosen(screen, readings), StartsWith("   1 ")) << "there is no further";
}

TEST(Top, shows_all_of_a_line_and_comes_back) {
    Screen screen;
    const Readings readings = two_readings();
    static_cast<void>(texts(screen, readings));
    screen.press(Key::down);
    screen.press(Key::enter);
    const auto line = texts(screen, readings);
    EXPECT_EQ(line[7], "line 2   up   on poller0");
    EXPECT_THAT(line, testing::Contains(HasSubstr("stream B   up   heard now")));
    screen.press(Key::back);
    EXPECT_THAT(chosen(screen, readings), StartsWith("   2 "));
}

TEST(Top, shows_threads_rings_actors_ports_and_series) {
    Screen screen;
    const Readings readings = two_readings();
    screen.press(Key::cores);
    EXPECT_EQ(texts(screen, readings)[9],
              "poller0        poller     2   25 %    9,000,000                12.3 ms         -");
    screen.press(Key::rings);
    EXPECT_THAT(texts(screen, readings)[8], EndsWith("3   50.0 %    262,144"));
    screen.press(Key::actors);
    EXPECT_THAT(texts(screen, readings)[8], StartsWith("core0        book"));
    screen.press(Key::ports);
    EXPECT_THAT(texts(screen, readings)[8], HasSubstr("5  10.000         3         -       0"));
    screen.press(Key::busiest);
    EXPECT_EQ(texts(screen, readings)[8],
              "SPXW  2026-03-19 C 5900                  1,000        11,000    112.29         -");
    screen.press(Key::ports);
    screen.press(Key::enter);
    EXPECT_THAT(texts(screen, readings)[7], StartsWith("port")) << "only lines have more to show";
}

/// With 24 rows: a row of keys, and a row of each table that has any. The same with 60 lines.
TEST(Top, shows_an_overview_of_all_tables) {
    Screen screen;
    const Readings readings = two_readings();
    screen.press(Key::overview);
    const auto small = texts(screen, readings);
    for (const char* shown :
         {"exchange_to_decoded", "receive_to_actor", "poller0        poller", "core0          core",
          "poller0          core0", "core0        book", "SPXW  2026-03-19 C 5900"}) {
        EXPECT_THAT(small, testing::Contains(StartsWith(shown)));
    }
    EXPECT_THAT(small, testing::Not(testing::Contains(HasSubstr("A first"))));
    const auto large = texts(screen, readings, 60);
    const auto lines = std::find_if(large.begin(), large.end(), [](const std::string& row) {
        return row.find("A first") != std::string::npos;
    });
    ASSERT_NE(lines, large.end());
    EXPECT_THAT(*(lines + 1), StartsWith("   7 down")) << "what is not well comes first";
    EXPECT_THAT(large[58], testing::Not(testing::IsEmpty())) << "lines take the rest of the screen";
    screen.press(Key::lines);
    EXPECT_THAT(texts(screen, readings)[8], StartsWith("   1 up"));
}

TEST(Top, cuts_what_is_too_long_for_its_column) {
    const Table table{{{"name", -4}, {"count", 5}},
                      {{{"a long name"}, {"12345678"}}, {{"b"}, {"1"}}}};
    EXPECT_EQ(row_text(table, 0), "a lo 12345");
    EXPECT_EQ(row_text(table, 1), "b        1");
    EXPECT_EQ(heads_text(table), "name count");
}

TEST(Top, survives_a_tiny_terminal) {
    Screen screen;
    for (std::size_t rows = 0; rows < 10; ++rows) {
        for (const Key view : {Key::overview, Key::lines}) {
            screen.press(view);
            EXPECT_LE(screen.draw(two_readings(), 3, rows).size(), std::max<std::size_t>(rows, 1));
            screen.press(Key::down);
            screen.press(Key::page_down);
        }
    }
}

}  // namespace
}  // namespace pinstrike::actors::top
