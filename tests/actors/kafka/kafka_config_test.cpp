// path: cold
//
// The config of a Kafka producer: each key and its limits.
#include "actors/kafka/kafka_config.h"

#include "actors/gateway/gateway_config.h"
#include "tests/config/problems.h"
#include "tests/nic/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pinstrike::actors::kafka::test {
namespace {

using feed::dbn::Schema;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* required = "feed: opra\nbrokers: k1:9092,k2:9092\n";

class KafkaConfigTest : public testing::Test {
  protected:
    std::optional<KafkaConfig> load(const std::string& text) {
        path = scratch.file("kafka.yaml");
        std::ofstream{path, std::ios::trunc} << text;
        problems.clear();
        return load_kafka_config(path, problems);
    }

    /// With the required keys.
    std::optional<KafkaConfig> load_with(const std::string& line) {
        return load(std::string{required} + "topics: [{schema: trades}]\n" + line + "\n");
    }

    bool read(const std::string& text, unsigned mode = 0600) {
        const std::string file = scratch.file("properties");
        std::ofstream{file, std::ios::trunc} << text;
        std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
        problems.clear();
        properties.clear();
        return read_properties(file, properties, problems);
    }

    nic::ScratchDirectory scratch;
    std::string path;
    Problems problems;
    Properties properties;
};

TEST_F(KafkaConfigTest, has_defaults_for_all_but_feed_brokers_and_topics) {
    const auto config = load_with("");
    ASSERT_TRUE(config) << text_of(problems);
    KafkaConfig expected;
    expected.feed = "opra";
    expected.brokers = "k1:9092,k2:9092";
    expected.topics = {{Schema::trades, {}}};
    EXPECT_EQ(*config, expected);
    EXPECT_EQ(config->message_records, 100U);
    EXPECT_EQ(config->linger_ns, 5'000'000);
    EXPECT_EQ(config->queue_bytes, std::size_t{64} << 20);
    EXPECT_EQ(config->timeout_ns, 30'000'000'000);
    EXPECT_EQ(config->compression, "lz4");
    EXPECT_EQ(config->properties, "");
    EXPECT_EQ(config->metrics_address, "");
}

TEST_F(KafkaConfigTest, the_required_keys_are_named) {
    EXPECT_FALSE(load("prefix: x\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("feed: found nothing"));
    EXPECT_THAT(text_of(problems), HasSubstr("brokers: found nothing"));
    EXPECT_THAT(text_of(problems), HasSubstr("topics: found nothing"));
}

TEST_F(KafkaConfigTest, a_topic_has_a_name_and_underlyings) {
    const auto config = load(std::string{required} +
                             "prefix: md\ntopics:\n  - {schema: cmbp-1, underlyings: [SPY, QQQ]}\n"
                             "  - {schema: cbbo-1s, underlyings: [QQQ, SPX]}\n");
    ASSERT_TRUE(config) << text_of(problems);
    EXPECT_EQ(topic_name(*config, config->topics[0]), "md.opra.cmbp-1");
    EXPECT_EQ(topic_name(*config, config->topics[1]), "md.opra.cbbo-1s");
    EXPECT_THAT(underlyings_of(*config), ElementsAre("QQQ", "SPX", "SPY"));
    const auto all = load(std::string{required} +
                          "topics: [{schema: trades}, {schema: cmbp-1, underlyings: [SPY]}]\n");
    ASSERT_TRUE(all) << text_of(problems);
    EXPECT_THAT(underlyings_of(*all), IsEmpty()) << "the trades need all";
}

TEST_F(KafkaConfigTest, a_schema_has_one_topic) {
    EXPECT_FALSE(load(std::string{required} + "topics: [{schema: trades}, {schema: trades}]\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("topics: found trades twice"));
    EXPECT_FALSE(load(std::string{required} + "topics: []\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("found no topic"));
    EXPECT_FALSE(load(std::string{required} + "topics: [{schema: status}]\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("topics[0].schema: found \"status\""));
}

TEST_F(KafkaConfigTest, each_value_has_limits) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"message_records: 49", "message_records"},
        {"message_records: 201", "message_records"},
        {"linger: 11s", "linger"},
        {"queue: 512KiB", "queue"},
        {"queue: 3GiB", "queue"},
        {"timeout: 500ms", "timeout"},
        {"timeout: 11m", "timeout"},
        {"compression: gzip", "compression"},
        {"prefix: a/b", "prefix"},
        {"metrics_address: localhost:1", "metrics_address"},
    };
    for (const auto& [line, key] : wrong) {
        EXPECT_FALSE(load_with(line)) << line;
        EXPECT_THAT(text_of(problems), HasSubstr(key + ": found ")) << line;
    }
    for (const char* line :
         {"message_records: 50", "message_records: 200", "linger: 0s", "linger: 10s", "queue: 1MiB",
          "queue: 2GiB", "timeout: 1s", "timeout: 10m", "compression: none", "compression: zstd"}) {
        EXPECT_TRUE(load_with(line)) << line << ": " << text_of(problems);
    }
}

TEST_F(KafkaConfigTest, is_told_apart_from_the_configs_of_feeds_and_gateways) {
    ASSERT_TRUE(load_with(""));
    EXPECT_TRUE(is_kafka_config(path));
    std::ofstream{path, std::ios::trunc} << "feed: opra\nkeys: keys.yaml\n";
    EXPECT_FALSE(is_kafka_config(path));
    EXPECT_TRUE(gateway::is_gateway_config(path));
}

TEST_F(KafkaConfigTest, remarks_say_what_should_be_known) {
    KafkaConfig config;
    config.brokers = "127.0.0.1:9092";
    config.topics = {{Schema::cmbp_1, {"SPY"}}, {Schema::trades, {}}};
    EXPECT_THAT(kafka_remarks(config), IsEmpty());
    config.brokers = "k1:9092";
    config.topics[0].underlyings.clear();
    EXPECT_THAT(kafka_remarks(config), ElementsAre(HasSubstr("without security.protocol"),
                                                   HasSubstr("cmbp-1 of all underlyings")));
}

TEST_F(KafkaConfigTest, properties_are_lines_of_a_private_file) {
    EXPECT_TRUE(read("# TLS\nsecurity.protocol=SSL\n\nssl.key.password=a=b\n"));
    EXPECT_THAT(properties,
                ElementsAre(Pair("security.protocol", "SSL"), Pair("ssl.key.password", "a=b")));
    EXPECT_FALSE(read("security.protocol=SSL\n", 0644));
    EXPECT_THAT(properties, IsEmpty());
    EXPECT_FALSE(read("security.protocol\n=secret\n"));
    EXPECT_THAT(text_of(problems), HasSubstr("properties:1: expected NAME=VALUE"));
    EXPECT_THAT(text_of(problems), HasSubstr("properties:2: expected NAME=VALUE"));
    EXPECT_THAT(text_of(problems), Not(HasSubstr("secret")));
    EXPECT_TRUE(read_properties("", properties, problems)) << "there is no file";
}

TEST_F(KafkaConfigTest, properties_that_the_account_rests_on_are_refused) {
    for (const char* name : {"acks", "enable.idempotence", "message.timeout.ms", "partitioner",
                             "transactional.id", "queue.buffering.max.kbytes", "retries"}) {
        EXPECT_FALSE(read(std::string{name} + "=1\n")) << name;
        EXPECT_THAT(text_of(problems), HasSubstr("sets itself")) << name;
    }
}

}  // namespace
}  // namespace pinstrike::actors::kafka::test
