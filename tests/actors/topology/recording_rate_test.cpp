// path: cold
#include "actors/topology/recording_rate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {
namespace {

FeedConfig four_lines() {
    FeedConfig config;
    for (const std::uint16_t line : std::vector<std::uint16_t>{1, 2, 3, 4}) {
        config.lines.push_back({.number = line, .streams = {}, .retransmission = {}});
    }
    config.ports.emplace_back();
    config.ports.back().streams = "AB";
    config.record.free_bytes = 0;
    return config;
}

TEST(RecordingRate, is_that_of_the_copies_and_lines_that_are_recorded) {
    FeedConfig config = four_lines();
    EXPECT_DOUBLE_EQ(recorded_bytes_per_second(config, 1e6), 116e6);
    config.record.streams = RecordedStreams::first;
    EXPECT_DOUBLE_EQ(recorded_bytes_per_second(config, 1e6), 58e6);
    config.record.lines = {0, 3};  // 0 is no line
    EXPECT_DOUBLE_EQ(recorded_bytes_per_second(config, 1e6), 14.5e6);
    config.record.streams = RecordedStreams::both;
    config.ports.back().streams = "A";
    EXPECT_DOUBLE_EQ(recorded_bytes_per_second(config, 1e6), 14.5e6);
}

TEST(RecordingText, states_a_day_and_what_limits_it) {
    constexpr std::uint64_t day_bytes = 2'714'400'000'000;
    constexpr std::int64_t day_ns = 86'400'000'000'000;
    FeedConfig config = four_lines();
    const std::string day = recording_text(config, 1e6, std::nullopt);  // 2714.4 GB
    EXPECT_NE(day.find("1,000,000 messages/s on average: about 116.0 MB/s, 2714.4 GB in a trading"),
              std::string::npos)
        << day;
    EXPECT_EQ(day.find("kept"), std::string::npos);
    const auto kept = [&](const std::optional<RecordingDisk>& disk) {
        const std::string text = recording_text(config, 1e6, disk);
        const std::size_t at = text.find("for about ");
        return at == std::string::npos ? text : text.substr(at + 10);
    };
    EXPECT_EQ(kept(RecordingDisk{"", "", day_bytes, 0, day_bytes}),
              "2.0 days, because of the disk's size and record.free\n");
    config.record.free_bytes = day_bytes / 2;
    EXPECT_EQ(kept(RecordingDisk{"", "", day_bytes, 0, day_bytes}),
              "1.5 days, because of the disk's size and record.free\n");
    config.record.keep_ns = day_ns;
    EXPECT_EQ(kept(RecordingDisk{"", "", day_bytes, 0, day_bytes}),
              "1.0 days, because of record.keep\n");
    config.record.keep_bytes = day_bytes / 2;
    EXPECT_EQ(kept(std::nullopt), "0.5 days, because of record.keep_bytes\n");
}

TEST(RecordingText, says_how_to_get_the_figures_without_a_rate) {
    EXPECT_NE(recording_text(four_lines(), std::nullopt, std::nullopt).find("check --rate N"),
              std::string::npos);
}

}  // namespace
}  // namespace pinstrike::actors
