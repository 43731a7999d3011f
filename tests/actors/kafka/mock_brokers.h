// path: cold
//
// The brokers of librdkafka's own mock cluster, for tests: a producer that talks to them, and a
// reader of what its topics have.
#pragma once

#include "tests/nic/frames.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::actors::kafka::test {

/// A file of properties by which a producer makes brokers of its own.
[[nodiscard]] inline std::string mock_properties(const nic::ScratchDirectory& scratch) {
    const std::string path = scratch.file("mock.properties");
    std::ofstream{path} << "test.mock.num.brokers=3\nlinger.ms=1\n";
    std::filesystem::permissions(path, std::filesystem::perms{0600});
    return path;
}

/// A message as a consumer gets it.
struct Consumed {
    std::string key;
    std::string bytes;
    std::map<std::string, std::string> headers;
    int partition = 0;
    // Of the header `position`.
    std::string life;
    std::uint64_t first = 0;
    std::uint64_t records = 0;
};

/// Reads all partitions of a topic from their begin to their end.
[[nodiscard]] inline std::vector<Consumed> consume(rd_kafka_t* producer, const std::string& topic) {
    constexpr int partitions = 4;  // of the mock cluster
    constexpr int patience_ms = 60'000;
    rd_kafka_conf_t* const conf = ::rd_kafka_conf_new();
    const std::string brokers =
        ::rd_kafka_mock_cluster_bootstraps(::rd_kafka_handle_mock_cluster(producer));
    const std::vector<std::pair<const char*, const char*>> properties{
        {"bootstrap.servers", brokers.c_str()},
        {"group.id", "test"},
        {"enable.partition.eof", "true"},
        {"fetch.wait.max.ms", "50"},
        {"auto.offset.reset", "earliest"}};
    for (const auto& [name, value] : properties) {
        EXPECT_EQ(::rd_kafka_conf_set(conf, name, value, nullptr, 0), RD_KAFKA_CONF_OK) << name;
    }
    rd_kafka_t* const consumer = ::rd_kafka_new(RD_KAFKA_CONSUMER, conf, nullptr, 0);
    EXPECT_NE(consumer, nullptr);
    ::rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t* const list = ::rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; ++i) {
        ::rd_kafka_topic_partition_list_add(list, topic.c_str(), i)->offset =
            RD_KAFKA_OFFSET_BEGINNING;
    }
    ::rd_kafka_assign(consumer, list);
    ::rd_kafka_topic_partition_list_destroy(list);
    std::vector<Consumed> out;
    std::set<int> ended;  // partitions
    while (static_cast<int>(ended.size()) < partitions) {
        rd_kafka_message_t* const message = ::rd_kafka_consumer_poll(consumer, patience_ms);
        if (message == nullptr) {
            ADD_FAILURE() << ended.size() << " of " << partitions << " partitions have ended";
            break;
        }
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            ended.insert(message->partition);
        } else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            Consumed& got = out.emplace_back();
            got.key = {static_cast<const char*>(message->key), message->key_len};
            got.bytes = {static_cast<const char*>(message->payload), message->len};
            got.partition = message->partition;
            rd_kafka_headers_t* headers = nullptr;
            ::rd_kafka_message_headers(message, &headers);
            const char* name = nullptr;
            const void* value = nullptr;
            std::size_t size = 0;
            for (std::size_t i = 0;
                 ::rd_kafka_header_get_all(headers, i, &name, &value, &size) == 0; ++i) {
                got.headers[name] = {static_cast<const char*>(value), size};
            }
            std::istringstream{got.headers["position"]} >> got.life >> got.first >> got.records;
        }
        ::rd_kafka_message_destroy(message);
    }
    ::rd_kafka_consumer_close(consumer);
    ::rd_kafka_destroy(consumer);
    return out;
}

/// Calls `step` until `done`; false: it took too long.
inline bool wait(const std::function<void()>& step, const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!done()) {
        if (std::chrono::steady_clock::now() > until) {
            return false;
        }
        step();
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

}  // namespace pinstrike::actors::kafka::test
