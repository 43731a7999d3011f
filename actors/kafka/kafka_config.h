// path: cold
//
// The config of a Kafka producer: a YAML file of its own.
#pragma once

#include "actors/threads/placement.h"
#include "config/problem.h"
#include "config/section.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::kafka {

/// Records of the largest schema (520 bytes) stay far below the brokers' limit of a message, 1 MB.
inline constexpr unsigned message_records_min = 50;
inline constexpr unsigned message_records_max = 200;

/// The records of one schema, as one topic.
struct TopicConfig {
    feed::dbn::Schema schema = feed::dbn::Schema::trades;
    std::vector<std::string> underlyings;  ///< empty: all

    friend bool operator==(const TopicConfig&, const TopicConfig&) = default;
};

struct KafkaConfig {
    std::string feed;
    std::string brokers;
    std::string prefix = "pinstrike";
    std::vector<TopicConfig> topics;
    unsigned message_records = 100;
    std::int64_t linger_ns = 5'000'000;
    std::size_t queue_bytes = std::size_t{64} << 20;
    std::int64_t timeout_ns = 30'000'000'000;
    std::string compression = "lz4";  ///< as librdkafka names it
    std::string properties;           ///< path; empty: none
    std::string metrics_address;
    CpuIndex cpu = -1;
    WaitStrategy wait = WaitStrategy::park;

    friend bool operator==(const KafkaConfig&, const KafkaConfig&) = default;
};

[[nodiscard]] const Section<KafkaConfig>& kafka_section();

/// Loads and checks a file; nullopt, with all problems listed, if anything is wrong. Paths in the
/// result are relative to the working directory.
[[nodiscard]] std::optional<KafkaConfig> load_kafka_config(const std::string& path,
                                                           Problems& problems);

/// Whether a file is the config of a Kafka producer: it names a feed and brokers.
[[nodiscard]] bool is_kafka_config(const std::string& path);

/// Things that are allowed and should be known: a sentence each.
[[nodiscard]] std::vector<std::string> kafka_remarks(const KafkaConfig& config);

/// "pinstrike.opra.trades"
[[nodiscard]] std::string topic_name(const KafkaConfig& config, const TopicConfig& topic);

/// The underlyings to read from the feed, those of all topics; empty: all.
[[nodiscard]] std::vector<std::string> underlyings_of(const KafkaConfig& config);

using Properties = std::vector<std::pair<std::string, std::string>>;

/// Reads the file of properties for librdkafka: lines NAME=VALUE. Only its owner may be able to
/// read it, because it may hold a password. On an error, adds problems, which never have text of a
/// value, and returns false.
[[nodiscard]] bool read_properties(const std::string& path, Properties& properties,
                                   Problems& problems);

}  // namespace pinstrike::actors::kafka
