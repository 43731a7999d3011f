// path: cold
//
// The differences between two configs, and those that a running program can apply.
#include "actors/topology/config_change.h"

#include "actors/topology/load_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pinstrike::actors {
namespace {

constexpr std::string_view running = R"(kind: opra
lines: 1-4
ports:
  - {name: a, kind: dpdk, pci: "0000:3b:00.0", streams: A, membership: static}
  - {name: b, kind: dpdk, pci: "0000:5e:00.0", streams: B, membership: static}
pollers: [{name: p0, ports: [a, b]}]
cores: [{name: c0}]
)";

FeedConfig config_of(const std::string& text) {
    Problems problems;
    const auto config = parse_config(text, "f", problems);
    EXPECT_TRUE(config.has_value()) << text;
    return config.value_or(FeedConfig{});
}

/// "path: before -> after", with '!' in front of changes that need a restart.
std::string changes(std::string_view from, std::string_view to) {
    std::string text{running};
    if (from.empty()) {
        text += to;
    } else {
        text.replace(text.find(from), from.size(), to);
    }
    std::string words;
    for (const ConfigChange& change :
         changes_between(config_of(std::string{running}), config_of(text))) {
        words += fmt::format("{}{}{}: {} -> {}", words.empty() ? "" : "; ",
                             change.reloads ? "" : "!", change.path, change.before, change.after);
    }
    return words;
}

TEST(ConfigChange, nothing_differs_from_itself) {
    EXPECT_EQ(changes("", ""), "");
    EXPECT_EQ(changes("", "log_level: info\n"), "") << "a default that is spelt out";
}

TEST(ConfigChange, thresholds_and_filters_reload) {
    EXPECT_EQ(changes("", "log_level: debug\n"), "log_level: info -> debug");
    EXPECT_EQ(changes("", "silence: {stream_down_after: 60s}\n"),
              "silence.stream_down_after: 36s -> 60s");
    EXPECT_EQ(changes("", "arbitration: {window: 3ms}\n"), "arbitration.window: 2ms -> 3ms");
    EXPECT_EQ(changes("", "block_checksum: false\n"), "block_checksum: true -> false");
    EXPECT_EQ(changes("", "test_symbols: true\n"), "test_symbols: false -> true");
    EXPECT_EQ(changes("streams: B,", "streams: B, sources: [10.0.0.0/8],"),
              "ports[1].sources: [] -> [10.0.0.0/8]");
}

TEST(ConfigChange, lines_come_while_it_runs_but_do_not_go) {
    EXPECT_EQ(changes("lines: 1-4", "lines: 1-5"),
              "lines: a list of 4 -> a list of 5; pollers[0].lines: 1-4 -> 1-5");
    EXPECT_EQ(changes("lines: 1-4", "lines: 1-3"),
              "!lines: a list of 4 -> a list of 3; !pollers[0].lines: 1-4 -> 1-3");
    EXPECT_EQ(changes("lines: 1-4", "lines: 2-6"),
              "!lines: a list of 4 -> a list of 5; !pollers[0].lines: 1-4 -> 2-6")
        << "one of them is gone";
    EXPECT_EQ(changes("lines: 1-4", "lines: 1-5\nretransmission: true").substr(0, 7), "!lines:")
        << "those that there are change as well";
}

TEST(ConfigChange, a_line_stays_at_its_poller) {
    const auto with = [](int lines, std::string_view first, std::string_view second) {
        return config_of(
            fmt::format("kind: opra\nlines: 1-{}\nports: [{{name: s, kind: sim}}]\npollers:\n"
                        "  - {{name: p0, lines: \"{}\"}}\n  - {{name: p1, lines: \"{}\"}}\ncores: "
                        "[{{name: c0}}]\n",
                        lines, first, second));
    };
    const auto reload = [](const std::vector<ConfigChange>& changes) {
        return std::all_of(changes.begin(), changes.end(),
                           [](const ConfigChange& change) { return change.reloads; });
    };
    EXPECT_TRUE(reload(changes_between(with(4, "1-2", "3-4"), with(6, "1-2,5", "3-4,6"))));
    EXPECT_FALSE(reload(changes_between(with(4, "1-2", "3-4"), with(5, "1-3", "4-5"))));
}

TEST(ConfigChange, the_rest_needs_a_restart) {
    EXPECT_EQ(changes("5e:00", "5f:00"), R"(!ports[1].pci: "0000:5e:00.0" -> "0000:5f:00.0")");
    EXPECT_EQ(changes("", "arbitration: {hold: 1MiB}\n"), "!arbitration.hold: 512KiB -> 1MiB");
    EXPECT_EQ(changes("name: c0}", "name: c0}, {name: c1}"), "!cores: a list of 1 -> a list of 2");
}

TEST(ConfigChange, several_are_all_reported) {
    EXPECT_EQ(changes("", "log_level: error\nmetrics_address: 127.0.0.1:1\n"),
              R"(!metrics_address: none -> "127.0.0.1:1"; log_level: info -> error)");
}

}  // namespace
}  // namespace pinstrike::actors
