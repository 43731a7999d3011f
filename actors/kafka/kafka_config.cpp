// path: cold
#include "actors/kafka/kafka_config.h"

#include "actors/market/reader_keys.h"
#include "actors/peer/peer_keys.h"
#include "actors/peer/secret_file.h"
#include "actors/threads/placement_forms.h"
#include "config/time_units.h"
#include "config/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace pinstrike::actors::kafka {
namespace {

/// What the guarantees and the account rest on, and what has a key of its own in the config.
constexpr std::array refused_properties{
    std::string_view{"acks"},
    std::string_view{"batch.num.messages"},
    std::string_view{"bootstrap.servers"},
    std::string_view{"compression.codec"},
    std::string_view{"compression.type"},
    std::string_view{"delivery.report.only.error"},
    std::string_view{"delivery.timeout.ms"},
    std::string_view{"enable.gapless.guarantee"},
    std::string_view{"enable.idempotence"},
    std::string_view{"max.in.flight"},
    std::string_view{"max.in.flight.requests.per.connection"},
    std::string_view{"message.send.max.retries"},
    std::string_view{"message.timeout.ms"},
    std::string_view{"metadata.broker.list"},
    std::string_view{"partitioner"},
    std::string_view{"queue.buffering.max.kbytes"},
    std::string_view{"queue.buffering.max.messages"},
    std::string_view{"request.required.acks"},
    std::string_view{"retries"},
    std::string_view{"transactional.id"},
};

Form<feed::dbn::Schema> schema_form() {
    std::vector<Choice<feed::dbn::Schema>> choices;
    for (std::size_t i = 0; i < feed::dbn::schemas_count; ++i) {
        choices.push_back({std::string{feed::dbn::schema_names[i]},
                           static_cast<feed::dbn::Schema>(i),
                           "the records of actors/market/README.md"});
    }
    return choice(choices);
}

Section<TopicConfig> topic_section() {
    Section<TopicConfig> section{"a topic"};
    section
        .key("schema", &TopicConfig::schema, schema_form(),
             "The kind of its records. The topic is called PREFIX.FEED.SCHEMA.")
        .required()
        .key("underlyings", &TopicConfig::underlyings, roots_form(),
             "Roots whose records it has; empty: all.");
    return section;
}

bool is_broker_list(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char c) { return c > ' ' && c <= '~' && c != '"'; });
}

Section<KafkaConfig> make_section() {
    Section<KafkaConfig> section{"a Kafka producer"};
    section
        .key("feed", &KafkaConfig::feed, name_text(),
             "Name of the feed on this host; it publishes memory and stream.")
        .required()
        .key("brokers", &KafkaConfig::brokers,
             text_like("addresses such as kafka1:9092,kafka2:9092", "^[!#-~]+$", is_broker_list),
             "Brokers that are asked first for the others of their cluster.")
        .required()
        .key("topics", &KafkaConfig::topics,
             list_of(section_form(topic_section()), "a list of topics"),
             "Topics, one for each kind of records. One broker takes about a thirtieth of a whole "
             "feed at its highest rate: choose underlyings for quotes.")
        .required()
        .key("prefix", &KafkaConfig::prefix, name_text(), "First part of the topics' names.")
        .key("message_records", &KafkaConfig::message_records,
             integer(message_records_min, message_records_max),
             "Most records in a message. All records of a message are of one underlying, which is "
             "its key.")
        .unit("records")
        .key("linger", &KafkaConfig::linger_ns, duration_ns(0, 10 * second_ns),
             "How long a record waits for others of its underlying before its message is sent with "
             "fewer than message_records.")
        .key("queue", &KafkaConfig::queue_bytes,
             converted<std::size_t>(bytes64(std::uint64_t{1} << 20, std::uint64_t{1} << 31)),
             "Most bytes of messages that wait for the brokers. If they are full, records are "
             "dropped, counted, and stated in the topic. All records of an interval are made at "
             "its end: 80 bytes for each series that changed (cbbo), 56 for each series and venue "
             "that traded (ohlcv).")
        .unit("bytes")
        .key("timeout", &KafkaConfig::timeout_ns, duration_ns(second_ns, 600 * second_ns),
             "How long a message waits for its acknowledgement before it counts as failed or "
             "uncertain.")
        .key("compression", &KafkaConfig::compression,
             word_of({{"none", "as they are"}, {"lz4", "fast"}, {"zstd", "smaller, and slower"}}),
             "Compression of what is sent to the brokers.")
        .key("properties", &KafkaConfig::properties,
             or_word<std::string>("none", "", peer::file_form()),
             "File of further properties of librdkafka, a line NAME=VALUE each, for TLS, SASL and "
             "the like. Readable by its owner alone; relative to the folder of this config.")
        .key("metrics_address", &KafkaConfig::metrics_address,
             or_word<std::string>("none", "", endpoint_form("127.0.0.1:9466")),
             "Address of the endpoint that Prometheus scrapes; none: no endpoint.")
        .key("cpu", &KafkaConfig::cpu, cpu_form(),
             "Processor that the thread is pinned to that makes records; any: not pinned. The "
             "threads of librdkafka are not pinned.")
        .key("wait", &KafkaConfig::wait, wait_form(), "What this thread does when it has no work.");
    return section;
}

/// Rules between keys.
void check_topics(const KafkaConfig& config, const std::string& path, Problems& problems) {
    if (config.topics.empty()) {
        add_problem(problems, path, "topics: found no topic, expected at least one");
    }
    std::set<feed::dbn::Schema> seen;
    for (const TopicConfig& topic : config.topics) {
        if (!seen.insert(topic.schema).second) {
            add_problem(problems, path,
                        fmt::format("topics: found {} twice, expected one topic for each schema",
                                    feed::dbn::name_of(topic.schema)));
        }
    }
}

}  // namespace

const Section<KafkaConfig>& kafka_section() {
    static const Section<KafkaConfig> section = make_section();
    return section;
}

std::optional<KafkaConfig> load_kafka_config(const std::string& path, Problems& problems) {
    const std::size_t before = problems.size();
    KafkaConfig config;
    if (read_file(kafka_section(), path, config, problems)) {
        check_topics(config, path, problems);
    }
    config.properties = beside(path, config.properties);
    return problems.size() == before ? std::optional{config} : std::nullopt;
}

bool is_kafka_config(const std::string& path) {
    Problems ignored;
    const auto text = read_text(path, ignored);
    const auto root = text ? parse_yaml(*text, path, ignored) : std::nullopt;
    return root && root->find("feed") != nullptr && root->find("brokers") != nullptr;
}

std::vector<std::string> kafka_remarks(const KafkaConfig& config) {
    std::vector<std::string> remarks;
    if (config.properties.empty() && !config.brokers.starts_with("127.")) {
        remarks.push_back(
            "properties: without security.protocol, everybody on the way to the brokers can read "
            "and change the data");
    }
    for (const TopicConfig& topic : config.topics) {
        const bool is_of_quotes =
            topic.schema == feed::dbn::Schema::cmbp_1 || topic.schema == feed::dbn::Schema::mbp_1;
        if (is_of_quotes && topic.underlyings.empty()) {
            remarks.push_back(fmt::format(
                "topics: {} of all underlyings is more than a cluster of a few brokers takes at "
                "the highest rates; what does not fit is dropped and counted",
                feed::dbn::name_of(topic.schema)));
        }
    }
    return remarks;
}

std::string topic_name(const KafkaConfig& config, const TopicConfig& topic) {
    return fmt::format("{}.{}.{}", config.prefix, config.feed, feed::dbn::name_of(topic.schema));
}

std::vector<std::string> underlyings_of(const KafkaConfig& config) {
    std::set<std::string> all;
    for (const TopicConfig& topic : config.topics) {
        if (topic.underlyings.empty()) {
            return {};
        }
        all.insert(topic.underlyings.begin(), topic.underlyings.end());
    }
    return {all.begin(), all.end()};
}

bool read_properties(const std::string& path, Properties& properties, Problems& problems) {
    if (path.empty()) {
        return true;
    }
    const std::size_t before = problems.size();
    if (!peer::check_private("properties", path, problems)) {
        return false;
    }
    const auto text = read_text(path, problems);
    std::string_view rest = text ? std::string_view{*text} : std::string_view{};
    for (unsigned line = 1; !rest.empty(); ++line) {
        const std::string_view row = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(row.size() + 1, rest.size()));
        if (row.empty() || row.front() == '#') {
            continue;
        }
        const Place place{path, line, 0};
        const std::size_t sign = row.find('=');
        if (sign == 0 || sign == std::string_view::npos) {
            add_problem(problems, place, "expected NAME=VALUE, without blanks around the name");
            continue;
        }
        const std::string_view name = row.substr(0, sign);
        if (std::find(refused_properties.begin(), refused_properties.end(), name) !=
            refused_properties.end()) {
            add_problem(problems, place,
                        fmt::format("{}: found a property that this program sets itself, expected "
                                    "another one",
                                    name));
            continue;
        }
        properties.emplace_back(name, row.substr(sign + 1));
    }
    return problems.size() == before;
}

}  // namespace pinstrike::actors::kafka
