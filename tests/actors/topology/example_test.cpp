// path: cold
//
// Each shipped config loads, and its printed form loads as the same config.
#include "actors/topology/load_config.h"
#include "nic/dpdk/dpdk_config.h"
#include "tests/config/problems.h"

#include <gtest/gtest.h>

namespace pinstrike {
namespace {

class Examples : public testing::TestWithParam<const char*> {
  protected:
    [[nodiscard]] static actors::FeedConfig load() {
        Problems problems;
        const auto config = actors::load_config(
            std::string{PINSTRIKE_SOURCE} + "/config/" + GetParam() + ".yaml", problems);
        EXPECT_EQ(text_of(problems), "");
        return config.value_or(actors::FeedConfig{});
    }
};

TEST_P(Examples, Load) {
    const actors::FeedConfig config = load();
    EXPECT_FALSE(config.lines.empty());
    EXPECT_FALSE(config.pollers.empty());
    EXPECT_FALSE(config.cores.empty());
    for (const feed::LineConfig& line : config.lines) {
        EXPECT_NE(line.streams[0].port, 0);
        EXPECT_NE(line.streams[1].port, 0);
    }
}

TEST_P(Examples, EffectiveConfigLoadsAsTheSame) {
    const std::string text = actors::effective_config(load());
    Problems problems;
    const auto again = actors::parse_config(text, "effective", problems);
    EXPECT_EQ(text_of(problems), "") << text;
    ASSERT_TRUE(again);
    EXPECT_EQ(actors::effective_config(*again), text);
}

INSTANTIATE_TEST_SUITE_P(Config, Examples,
                         testing::Values("demo", "opra", "opra_full_rate", "af_xdp"),
                         [](const auto& test) { return std::string{test.param}; });

TEST(OpraExample, HasAllLinesAndBothNics) {
    Problems problems;
    const auto config =
        actors::load_config(std::string{PINSTRIKE_SOURCE} + "/config/opra.yaml", problems);
    ASSERT_TRUE(config) << text_of(problems);
    EXPECT_EQ(config->lines.size(), 101U);
    EXPECT_EQ(config->ports.size(), 2U);
    EXPECT_EQ(config->ports[0].own.get<nic::dpdk::DpdkConfig>().pci, "0000:3b:00.0");
    EXPECT_EQ(config->ports[0].streams, "A");
    // Line 220, stream B: 224.0.206.105:45105.
    EXPECT_EQ(config->lines.back().number, 220);
    EXPECT_EQ(config->lines.back().streams[1].address.value, 0xE000CE69U);
    EXPECT_EQ(config->lines.back().streams[1].port, 45105);
    EXPECT_EQ(config->lines.back().retransmission[0].port, 0);
    EXPECT_EQ(config->pollers[1].lines.size(), 51U);
}

}  // namespace
}  // namespace pinstrike
