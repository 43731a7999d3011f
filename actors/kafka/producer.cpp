// path: cold
#include "actors/kafka/producer.h"

#include "config/time_units.h"
#include "config/wall_time.h"
#include "feed/dbn/values.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace pinstrike::actors::kafka {
namespace {

/// How long messages that were given up may take to be reported.
constexpr int purge_ms = 5000;
/// What a message takes beside its bytes: librdkafka's own memory of it and its headers.
constexpr std::size_t message_bytes_min = 1024;
constexpr std::string_view dbn_version = "3";

/// The key and the number of records of a message, as the pointer that librdkafka keeps for it.
void* packed(const Message& message) {
    static_assert(message_records_max < 1U << 8 && sizeof(void*) == 8);
    const std::uint64_t bits = std::uint64_t{message.key.underlying} |
                               std::uint64_t{message.key.topic} << 32 |
                               std::uint64_t{message.records} << 48;
    return std::bit_cast<void*>(bits);  // an opaque number
}

Delivery unpacked(const void* opaque, Outcome outcome) {
    const auto bits = reinterpret_cast<std::uint64_t>(opaque);  // tidy: an opaque number
    return {.key = {.topic = static_cast<std::uint16_t>(bits >> 32),
                    .underlying = static_cast<std::uint32_t>(bits)},
            .records = static_cast<std::uint32_t>(bits >> 48),
            .outcome = outcome};
}

Outcome outcome_of(const rd_kafka_message_t& message) {
    switch (::rd_kafka_message_status(&message)) {
        case RD_KAFKA_MSG_STATUS_PERSISTED:
            return Outcome::acknowledged;
        case RD_KAFKA_MSG_STATUS_NOT_PERSISTED:
            return Outcome::failed;
        case RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED:
            return Outcome::uncertain;
    }
    return Outcome::uncertain;
}

void add_header(rd_kafka_headers_t& headers, std::string_view name, std::string_view value) {
    ::rd_kafka_header_add(&headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                          static_cast<ssize_t>(value.size()));
}

}  // namespace

void Producer::Destroy::operator()(rd_kafka_s* handle) const {
    ::rd_kafka_destroy(handle);
}

void Producer::Destroy::operator()(rd_kafka_topic_s* topic) const {
    ::rd_kafka_topic_destroy(topic);
}

void Producer::Destroy::operator()(rd_kafka_headers_s* headers) const {
    ::rd_kafka_headers_destroy(headers);
}

void Producer::Destroy::operator()(rd_kafka_conf_s* conf) const {
    ::rd_kafka_conf_destroy(conf);
}

Producer::Producer(const KafkaConfig& config, Delivered delivered, NoteKafka note)
    : config_(config),
      delivered_(std::move(delivered)),
      note_(std::move(note)),
      messages_max_(std::max<std::size_t>(config.queue_bytes / message_bytes_min, 1000)),
      life_(std::to_string(wall_ns())) {}

Producer::~Producer() = default;

std::unique_ptr<rd_kafka_conf_s, Producer::Destroy> Producer::make_conf(Problems& problems) {
    Properties properties{
        {"client.id", "pinstrike-" + config_.feed},
        {"bootstrap.servers", config_.brokers},
        {"enable.idempotence", "true"},
        {"partitioner", "murmur2_random"},  // that of clients in Java
        {"message.timeout.ms", std::to_string(config_.timeout_ns / ms_ns)},
        {"linger.ms", std::to_string(std::min(config_.linger_ns, 5 * ms_ns) / ms_ns)},
        {"compression.codec", config_.compression},
        {"queue.buffering.max.kbytes", std::to_string(config_.queue_bytes / 1024)},
        {"queue.buffering.max.messages", std::to_string(messages_max_)},
    };
    if (!read_properties(config_.properties, properties, problems)) {
        return nullptr;
    }
    std::unique_ptr<rd_kafka_conf_s, Destroy> conf{::rd_kafka_conf_new()};
    std::array<char, 512> why{};
    for (const auto& [name, value] : properties) {
        if (::rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), why.data(), why.size()) !=
            RD_KAFKA_CONF_OK) {
            // The library's text may have the value, which may be a password.
            add_problem(problems, config_.properties,
                        fmt::format("{}: librdkafka {} refuses the property or its value", name,
                                    ::rd_kafka_version_str()));
        }
    }
    ::rd_kafka_conf_set_opaque(conf.get(), this);
    ::rd_kafka_conf_set_dr_msg_cb(conf.get(),
                                  [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
                                      static_cast<Producer*>(self)->on_delivered(*message);
                                  });
    ::rd_kafka_conf_set_error_cb(conf.get(),
                                 [](rd_kafka_t*, int code, const char* reason, void* self) {
                                     static_cast<Producer*>(self)->on_error(code, reason);
                                 });
    // What it logs comes as an error too.
    ::rd_kafka_conf_set_log_cb(conf.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
    return conf;
}

bool Producer::open(Problems& problems) {
    const std::size_t before = problems.size();
    std::unique_ptr<rd_kafka_conf_s, Destroy> conf = make_conf(problems);
    if (problems.size() != before) {
        return false;
    }
    std::array<char, 512> why{};
    handle_.reset(::rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), why.data(), why.size()));
    if (handle_ == nullptr) {
        add_problem(problems, config_.properties,
                    fmt::format("librdkafka cannot make a producer: {}", why.data()));
        return false;
    }
    [[maybe_unused]] const auto* const owned = conf.release();  // by the producer
    for (const TopicConfig& of : config_.topics) {
        Topic& topic = topics_.emplace_back();
        topic.topic.reset(
            ::rd_kafka_topic_new(handle_.get(), topic_name(config_, of).c_str(), nullptr));
        topic.encoding =
            fmt::format("{} {} {}", dbn_version, feed::dbn::dataset, feed::dbn::name_of(of.schema));
        if (topic.topic == nullptr) {
            add_problem(problems, "",
                        fmt::format("librdkafka refuses the topic {}", topic_name(config_, of)));
        }
    }
    return problems.size() == before;
}

/// Few headers: each is memory that another processor reads, and costs as much as some records.
std::unique_ptr<rd_kafka_headers_s, Producer::Destroy> Producer::headers_of(
    const Message& message) const {
    std::unique_ptr<rd_kafka_headers_s, Destroy> headers{::rd_kafka_headers_new(2)};
    add_header(*headers, "dbn", topics_[message.key.topic].encoding);
    add_header(*headers, "position",
               fmt::format("{} {} {}", life_, message.first, message.records));
    for (const auto& [name, value] :
         {std::pair{"lost", message.lost}, std::pair{"uncertain", message.uncertain},
          std::pair{"missed", message.missed}}) {
        if (value != 0) {
            add_header(*headers, name, std::to_string(value));
        }
    }
    return headers;
}

Offered Producer::offer(const Message& message) {
    std::unique_ptr<rd_kafka_headers_s, Destroy> headers = headers_of(message);
    std::array<rd_kafka_vu_t, 6> parts{};
    parts[0].vtype = RD_KAFKA_VTYPE_RKT;
    parts[0].u.rkt = topics_[message.key.topic].topic.get();
    parts[1].vtype = RD_KAFKA_VTYPE_KEY;
    parts[1].u.mem = {const_cast<char*>(message.underlying.data()), message.underlying.size()};
    parts[2].vtype = RD_KAFKA_VTYPE_VALUE;
    // A statement has an empty value, not none: a compacted topic would take none for a deletion.
    const void* const bytes =
        message.bytes.empty() ? "" : static_cast<const void*>(message.bytes.data());
    parts[2].u.mem = {const_cast<void*>(bytes), message.bytes.size()};
    parts[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[3].u.i = RD_KAFKA_MSG_F_COPY;
    parts[4].vtype = RD_KAFKA_VTYPE_HEADERS;
    parts[4].u.headers = headers.get();
    parts[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
    parts[5].u.ptr = packed(message);
    rd_kafka_error_t* const error = ::rd_kafka_produceva(handle_.get(), parts.data(), parts.size());
    if (error == nullptr) {
        [[maybe_unused]] const auto* const owned = headers.release();  // by librdkafka
        ++waiting_messages_;
        waiting_bytes_ += message.bytes.size();
        return Offered::queued;
    }
    const bool is_full = ::rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL;
    if (!is_full) {
        last_failure_ = ::rd_kafka_error_string(error);
    }
    ::rd_kafka_error_destroy(error);
    return is_full ? Offered::full : Offered::refused;
}

std::size_t Producer::poll() {
    return static_cast<std::size_t>(std::max(::rd_kafka_poll(handle_.get(), 0), 0));
}

void Producer::on_delivered(const rd_kafka_message_s& message) {
    const Outcome outcome = outcome_of(message);
    --waiting_messages_;
    waiting_bytes_ -= message.len;
    if (outcome == Outcome::acknowledged) {
        latency_.record(std::max<std::int64_t>(::rd_kafka_message_latency(&message), 0) * 1000);
        if (std::exchange(brokers_down_, false)) {
            note_(KafkaNote::brokers_back, "brokers", "messages are acknowledged again");
        }
    } else {
        last_failure_ = ::rd_kafka_err2str(message.err);
    }
    delivered_(unpacked(message._private, outcome));
}

void Producer::on_error(int code, const char* reason) {
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        std::array<char, 512> why{};
        ::rd_kafka_fatal_error(handle_.get(), why.data(), why.size());
        fatal_ = fmt::format("the producer cannot go on: {}", why.data());
    } else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        if (!std::exchange(brokers_down_, true)) {
            note_(KafkaNote::brokers_down, "brokers", reason);
        }
    } else {
        note_(KafkaNote::library_error, "librdkafka", reason);
    }
}

void Producer::finish(std::int64_t wait_ns) {
    ::rd_kafka_flush(handle_.get(), static_cast<int>(wait_ns / ms_ns));
    if (waiting_messages_ != 0) {
        ::rd_kafka_purge(handle_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        ::rd_kafka_flush(handle_.get(), purge_ms);
    }
}

}  // namespace pinstrike::actors::kafka
