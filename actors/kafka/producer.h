// path: cold
//
// The producer of librdkafka: an idempotent one, with a bounded queue that never blocks. librdkafka
// sends and retries in threads of its own; everything here is called by one thread, which also gets
// the deliveries.
#pragma once

#include "actors/kafka/kafka_config.h"
#include "actors/kafka/kafka_note.h"
#include "actors/kafka/message.h"
#include "config/histogram.h"
#include "config/problem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// Of librdkafka.
struct rd_kafka_s;
struct rd_kafka_topic_s;
struct rd_kafka_headers_s;
struct rd_kafka_conf_s;
struct rd_kafka_message_s;

namespace pinstrike::actors::kafka {

class Producer final : public MessageQueue {
  public:
    using Delivered = std::function<void(const Delivery& delivery)>;

    Producer(const KafkaConfig& config, Delivered delivered, NoteKafka note);
    ~Producer() override;
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    /// Makes the producer; the brokers are asked later. False, with problems.
    [[nodiscard]] bool open(Problems& problems);

    Offered offer(const Message& message) override;

    [[nodiscard]] bool has_room() const override {
        return waiting_bytes_ < config_.queue_bytes / 2 && waiting_messages_ < messages_max_ / 2;
    }

    /// Gives the deliveries that have come. Returns their number.
    std::size_t poll() override;

    /// Waits at most so long for the deliveries of all messages, and then gives up those that wait.
    void finish(std::int64_t wait_ns);

    /// Why this producer can send nothing more; empty: it can.
    [[nodiscard]] const std::string& fatal() const { return fatal_; }

    /// Why the latest message that was not acknowledged was not.
    [[nodiscard]] const std::string& last_failure() const { return last_failure_; }

    [[nodiscard]] std::size_t waiting_messages() const { return waiting_messages_; }

    [[nodiscard]] std::size_t waiting_bytes() const { return waiting_bytes_; }

    /// No broker can be reached.
    [[nodiscard]] bool brokers_down() const { return brokers_down_; }

    /// From the queue to the acknowledgement. Any thread may read it.
    [[nodiscard]] const Histogram& latency() const { return latency_; }

    /// For tests.
    [[nodiscard]] rd_kafka_s* handle() { return handle_.get(); }

  private:
    struct Destroy {
        void operator()(rd_kafka_s* handle) const;
        void operator()(rd_kafka_topic_s* topic) const;
        void operator()(rd_kafka_headers_s* headers) const;
        void operator()(rd_kafka_conf_s* conf) const;
    };

    /// A topic, and the header that all its messages have.
    struct Topic {
        std::unique_ptr<rd_kafka_topic_s, Destroy> topic;
        std::string encoding;
    };

    [[nodiscard]] std::unique_ptr<rd_kafka_conf_s, Destroy> make_conf(Problems& problems);
    [[nodiscard]] std::unique_ptr<rd_kafka_headers_s, Destroy> headers_of(
        const Message& message) const;
    void on_delivered(const rd_kafka_message_s& message);
    void on_error(int code, const char* reason);

    const KafkaConfig& config_;
    Delivered delivered_;
    NoteKafka note_;
    std::size_t messages_max_;
    std::string life_;  ///< of this producer: different from all others
    std::unique_ptr<rd_kafka_s, Destroy> handle_;
    std::vector<Topic> topics_;
    std::size_t waiting_messages_ = 0;
    std::size_t waiting_bytes_ = 0;
    bool brokers_down_ = false;
    std::string fatal_;
    std::string last_failure_;
    Histogram latency_;
};

}  // namespace pinstrike::actors::kafka
