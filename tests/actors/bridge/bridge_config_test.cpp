// path: cold
#include "actors/bridge/bridge_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pinstrike::actors::bridge::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BridgeConfigTest : public ::testing::Test {
  protected:
    BridgeConfigTest() {
        std::string name = std::filesystem::temp_directory_path() / "pinstrike-test-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }

    ~BridgeConfigTest() override { std::filesystem::remove_all(folder_); }

    std::optional<BridgeConfig> load(const std::string& text) {
        path = folder_ + "/bridge.yaml";
        std::ofstream{path} << text;
        problems.clear();
        return load_bridge_config(path, problems);
    }

    std::string folder_;
    std::string path;
    Problems problems;
};

constexpr const char* least =
    "feed: opra\ntls:\n  certificate: c.pem\n  key: /etc/k.pem\n  authority: a.pem\n";

TEST_F(BridgeConfigTest, PathsAreRelativeToTheConfig) {
    const auto config = load(least);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->tls.certificate, folder_ + "/c.pem");
    EXPECT_EQ(config->tls.key, "/etc/k.pem");
    EXPECT_TRUE(is_bridge_config(path));
    const JoinConfig join = join_config_of(*config);
    EXPECT_EQ(join.kinds, ~0U);
    EXPECT_EQ(join.name, "opra");
}

TEST_F(BridgeConfigTest, KindsAndRootsAreAskedFor) {
    const auto config = load(std::string{least} + "kinds: [quote, trade]\nunderlyings: [SPX]\n");
    ASSERT_TRUE(config);
    const JoinConfig join = join_config_of(*config);
    EXPECT_EQ(join.kinds & 0xFFU, 0b110U);
    EXPECT_EQ(join.kinds & feed::line_event_bits, feed::line_event_bits);
    EXPECT_THAT(join.roots, ElementsAre("SPX"));
}

TEST_F(BridgeConfigTest, EveryProblemIsListed) {
    EXPECT_FALSE(
        load("feed: opra\nlisten: here\nkinds: [candles]\nconnections_max: 65\n"
             "memory_max: 1MiB\n"));
    std::string all;
    for (const Problem& problem : problems) {
        all += problem.text + '\n';
    }
    EXPECT_THAT(all, HasSubstr("listen"));
    EXPECT_THAT(all, HasSubstr("candles"));
    EXPECT_THAT(all, HasSubstr("connections_max"));
    EXPECT_THAT(all, HasSubstr("memory_max"));
    EXPECT_THAT(all, HasSubstr("tls"));
}

TEST_F(BridgeConfigTest, TheLimitsAreAllowed) {
    for (const char* good : {"connections_max: 1\n", "connections_max: 64\n", "memory_max: 16MiB\n",
                             "memory_max: 1024GiB\n"}) {
        EXPECT_TRUE(load(std::string{least} + good)) << good;
    }
    for (const char* bad : {"connections_max: 0\n", "connections_max: 65\n", "memory_max: 15MiB\n",
                            "memory_max: 1025GiB\n"}) {
        EXPECT_FALSE(load(std::string{least} + bad)) << bad;
    }
}

/// More of them would not fit in the first frame, and no connection would come about.
TEST_F(BridgeConfigTest, OnlyAsManyUnderlyingsAreAllowedAsCanBeAskedFor) {
    const auto with = [](std::size_t count) {
        std::string text = std::string{least} + "underlyings:\n";
        for (std::size_t i = 0; i < count; ++i) {
            text += "  - A" + std::to_string(i) + '\n';
        }
        return text;
    };
    EXPECT_TRUE(load(with(roots_max)));
    EXPECT_FALSE(load(with(roots_max + 1)));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems.front().text, HasSubstr("underlyings: found 2041 roots"));
}

TEST_F(BridgeConfigTest, TheConfigOfAGatewayIsAnother) {
    static_cast<void>(load("feed: opra\nkeys: k\n"));
    EXPECT_FALSE(is_bridge_config(path));
}

}  // namespace
}  // namespace pinstrike::actors::bridge::test
