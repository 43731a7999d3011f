// path: cold
//
// The config of a gateway: each key and its limits.
#include "actors/gateway/gateway_config.h"

#include "actors/market/reader_keys.h"
#include "tests/config/problems.h"
#include "tests/nic/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigTest : public testing::Test {
  protected:
    std::optional<GatewayConfig> load(const std::string& text) {
        const std::string path = scratch.file("gateway.yaml");
        std::ofstream{path, std::ios::trunc} << text;
        problems.clear();
        return load_gateway_config(path, problems);
    }

    /// With the required keys.
    std::optional<GatewayConfig> load_with(const std::string& line) {
        return load("feed: opra\nkeys: keys.yaml\n" + line + "\n");
    }

    nic::ScratchDirectory scratch;
    Problems problems;
};

TEST_F(ConfigTest, has_defaults_for_all_but_feed_and_keys) {
    const auto config = load_with("");
    ASSERT_TRUE(config) << text_of(problems);
    GatewayConfig expected;
    expected.feed = "opra";
    expected.keys = scratch.file("keys.yaml");
    EXPECT_EQ(*config, expected);
    EXPECT_EQ(config->address, "127.0.0.1:13000");
    EXPECT_EQ(config->queue_bytes, std::size_t{16} << 20);
    EXPECT_EQ(config->connections_max, 1000U);
    EXPECT_EQ(config->cpu, -1);
    EXPECT_EQ(config->wait, WaitStrategy::park);
    EXPECT_EQ(config->metrics_address, "");
    EXPECT_EQ(config->access_log, "");
    EXPECT_EQ(config->record, "");
    EXPECT_EQ(config->record_config, "");
    EXPECT_EQ(config->replays_max, 2U);
    EXPECT_EQ(config->replay_kept_bytes, std::size_t{64} << 20);
}

TEST_F(ConfigTest, takes_every_key) {
    const auto config = load(
        "feed: opra\naddress: 192.0.2.5:1\nkeys: /etc/keys.yaml\nunderlyings: [SPY, SPXW]\n"
        "queue: 4GiB\nconnections_max: 10000\nmetrics_address: 127.0.0.1:9465\n"
        "access_log: logs/access.log\ncpu: 4095\nwait: spin\nrecord: /data/record\n"
        "record_config: opra.yaml\nreplays_max: 64\nreplay_kept: 4GiB\n");
    ASSERT_TRUE(config) << text_of(problems);
    EXPECT_EQ(config->address, "192.0.2.5:1");
    EXPECT_EQ(config->keys, "/etc/keys.yaml");
    EXPECT_THAT(config->underlyings, ElementsAre("SPY", "SPXW"));
    EXPECT_EQ(config->queue_bytes, std::size_t{1} << 32);
    EXPECT_EQ(config->connections_max, 10'000U);
    EXPECT_EQ(config->metrics_address, "127.0.0.1:9465");
    EXPECT_EQ(config->access_log, scratch.file("logs/access.log"));
    EXPECT_EQ(config->cpu, 4095);
    EXPECT_EQ(config->wait, WaitStrategy::spin);
    EXPECT_EQ(config->record, "/data/record");
    EXPECT_EQ(config->record_config, scratch.file("opra.yaml"));
    EXPECT_EQ(config->replays_max, 64U);
    EXPECT_EQ(config->replay_kept_bytes, std::size_t{1} << 32);
}

TEST_F(ConfigTest, takes_the_words_for_nothing) {
    const auto config =
        load_with("metrics_address: none\naccess_log: none\ncpu: any\nunderlyings: []");
    ASSERT_TRUE(config) << text_of(problems);
    EXPECT_EQ(config->metrics_address, "");
    EXPECT_EQ(config->access_log, "");
    EXPECT_EQ(config->cpu, -1);
    EXPECT_THAT(config->underlyings, IsEmpty());
}

TEST_F(ConfigTest, refuses_values_beyond_the_limits_of_their_keys) {
    const std::vector<std::pair<std::string, std::string>> lines{{"address", "127.0.0.1"},
                                                                 {"address", "127.0.0.1:0"},
                                                                 {"address", "127.0.0.1:65536"},
                                                                 {"address", "127.0.0.256:13000"},
                                                                 {"address", "localhost:13000"},
                                                                 {"address", "none"},
                                                                 {"metrics_address", "127.0.0.1"},
                                                                 {"metrics_address", "127.0.0.1:0"},
                                                                 {"underlyings", "[spy]"},
                                                                 {"underlyings", "[SIXSIX]"},
                                                                 {"underlyings", "SPY"},
                                                                 {"underlyings", "[\"\"]"},
                                                                 {"queue", "1023KiB"},
                                                                 {"queue", "4097MiB"},
                                                                 {"queue", "many"},
                                                                 {"connections_max", "0"},
                                                                 {"connections_max", "10001"},
                                                                 {"cpu", "-1"},
                                                                 {"cpu", "4096"},
                                                                 {"wait", "sleep"},
                                                                 {"access_log", "\"\""},
                                                                 {"record", "\"\""},
                                                                 {"record_config", "\"\""},
                                                                 {"replays_max", "0"},
                                                                 {"replays_max", "65"},
                                                                 {"replay_kept", "1023KiB"},
                                                                 {"replay_kept", "4097MiB"},
                                                                 {"colour", "red"}};
    for (const auto& [key, value] : lines) {
        EXPECT_FALSE(load_with(key + ": " + value)) << key << ": " << value;
        EXPECT_THAT(text_of(problems), HasSubstr(key)) << value;
        EXPECT_THAT(text_of(problems), HasSubstr("gateway.yaml:3")) << key;
    }
    EXPECT_TRUE(
        load_with("queue: 1MiB\nconnections_max: 1\ncpu: 0\nreplays_max: 1\nreplay_kept: 1MiB"))
        << text_of(problems);
}

TEST_F(ConfigTest, refuses_a_config_without_a_required_key_or_file) {
    EXPECT_FALSE(load("feed: opra\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("keys"));
    EXPECT_FALSE(load("keys: keys.yaml\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("feed"));
    EXPECT_FALSE(load("feed: [\n"));
    EXPECT_FALSE(load("feed: no/name\nkeys: k\n"));
    EXPECT_FALSE(load("feed: opra\nkeys: \"\"\n"));
    problems.clear();
    EXPECT_FALSE(load_gateway_config(scratch.file("absent.yaml"), problems));
    EXPECT_FALSE(problems.empty());
}

TEST(ConfigRemarks, are_about_addresses_that_others_reach) {
    GatewayConfig config;
    config.keys = "gateway.keys.example";
    EXPECT_THAT(gateway_remarks(config), IsEmpty());
    config.address = "192.0.2.5:13000";
    EXPECT_THAT(gateway_remarks(config),
                ElementsAre(HasSubstr("192.0.2.5:13000 is not this host's loopback"),
                            HasSubstr("gateway.keys.example has a published key")));
    config.keys = "keys.yaml";
    EXPECT_THAT(gateway_remarks(config), ElementsAre(HasSubstr("192.0.2.5")));
}

TEST(Endpoints, are_an_address_and_a_port) {
    EXPECT_EQ(endpoint_of("192.0.2.5:13000"), nic::parse_group("192.0.2.5:13000"));
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
