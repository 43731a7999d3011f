// path: cold
//
// Records written to Kafka: bench_kafka BROKERS [RUNS]
//
// "bare": a producer of librdkafka, with the same properties, sends messages that were made before.
// "same messages": the producer of actors/kafka sends them, with their headers. "packed": events
// become records, which are packed into the same messages and sent. All wait where the queue is
// full, which the product does not. A rate is that of acknowledged records, from the first message
// to the last acknowledgement. The runs of both alternate; medians of RUNS (5) with the lowest and
// the highest.
#include "actors/kafka/packer.h"
#include "actors/kafka/producer.h"
#include "actors/market/market.h"
#include "config/print_problems.h"
#include "config/wall_time.h"
#include "tests/actors/market/market_scene.h"
#include "tests/bench/measure.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace pinstrike::actors;
using namespace pinstrike::actors::kafka;
using pinstrike::bench::print_row;
using pinstrike::bench::spread_of;
namespace scene = pinstrike::actors::gateway::test;
using Clock = std::chrono::steady_clock;

constexpr std::size_t records_count = 2'000'000;
constexpr std::uint32_t roots_count = 40;
constexpr std::uint32_t series_count = 4000;
constexpr std::size_t step_events = 1000;

/// Of all threads of this process.
double processor_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// What one run takes.
class Taken {
  public:
    /// All records were acknowledged; else the rate is 0.
    void end(std::uint64_t acknowledged, std::uint64_t sent) {
        const auto records = static_cast<double>(acknowledged);
        seconds_ = std::chrono::duration<double>(Clock::now() - begin_).count();
        rate_ = acknowledged == sent ? records / seconds_ / 1e6 : 0;
        cost_ns_ = (processor_seconds() - begin_processor_) * 1e9 / records;
    }

    [[nodiscard]] double rate() const { return rate_; }

    [[nodiscard]] double cost_ns() const { return cost_ns_; }

  private:
    Clock::time_point begin_ = Clock::now();
    double begin_processor_ = processor_seconds();
    double seconds_ = 0;
    double rate_ = 0;
    double cost_ns_ = 0;
};

KafkaConfig config_of(const std::string& brokers) {
    KafkaConfig config;
    config.feed = "bench";
    config.brokers = brokers;
    config.topics = {{pinstrike::feed::dbn::Schema::cmbp_1, {}}};
    config.linger_ns = 10'000'000'000;  // every message is full
    return config;
}

/// Quotes whose prices change, so that they do not compress better than those of a feed.
std::vector<pinstrike_record> make_events() {
    std::vector<pinstrike_record> events;
    events.reserve(records_count);
    scene::FeedScene from;
    std::uint32_t random = 1;
    for (std::size_t i = 0; i < records_count; ++i) {
        random = random * 1664525U + 1013904223U;
        const std::uint32_t series = (random >> 8) % series_count;
        const auto price = static_cast<std::int32_t>(random >> 20);
        events.push_back(from.quote(
            scene::key_of(series + 1, fmt::format("R{}", series % roots_count)),
            scene::best_of(price, random % 100, 'C'), scene::best_of(price + 5, random % 90, 'Z')));
        from.now_ns -= 999'000;  // a million a second, so that no interval ends meanwhile
    }
    return events;
}

/// Keeps messages instead of sending them.
class Kept final : public MessageQueue {
  public:
    struct Made {
        std::string key;
        std::vector<std::byte> bytes;
        std::uint32_t records;
    };

    Offered offer(const Message& message) override {
        made.push_back({std::string{message.underlying},
                        {message.bytes.begin(), message.bytes.end()},
                        message.records});
        return Offered::queued;
    }

    [[nodiscard]] bool has_room() const override { return true; }

    std::size_t poll() override { return 0; }

    std::vector<Made> made;
};

void open(Producer& producer) {
    pinstrike::Problems problems;
    if (!producer.open(problems)) {
        print_problems(problems);
        std::exit(1);
    }
}

Taken run_producer(const KafkaConfig& config, const std::vector<Kept::Made>& messages) {
    std::uint64_t acknowledged = 0;
    Producer producer{config,
                      [&](const Delivery& delivery) {
                          const bool is_there = delivery.outcome == Outcome::acknowledged;
                          acknowledged += is_there ? delivery.records : 0;
                      },
                      [](KafkaNote, const std::string&, const std::string&) {}};
    open(producer);
    std::uint64_t sent = 0;
    Taken taken;
    for (const Kept::Made& message : messages) {
        const Message offered{.key = {},
                              .underlying = message.key,
                              .bytes = message.bytes,
                              .records = message.records,
                              .first = sent};
        while (producer.offer(offered) != Offered::queued) {
            producer.poll();
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        sent += message.records;
        producer.poll();
    }
    producer.finish(60'000'000'000);
    taken.end(acknowledged, sent);
    return taken;
}

Taken run_packed(const KafkaConfig& config, const std::vector<pinstrike_record>& events) {
    Market market;
    Packer* packer = nullptr;
    Producer producer{config, [&](const Delivery& delivery) { packer->on_delivery(delivery); },
                      [](KafkaNote, const std::string&, const std::string&) {}};
    Packer own{config, market, producer};
    packer = &own;
    open(producer);
    Taken taken;
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (i % step_events == 0) {
            own.step(pinstrike::wall_ns());
            producer.poll();
            while (!producer.has_room()) {
                producer.poll();
                std::this_thread::sleep_for(std::chrono::microseconds{50});
            }
        }
        static_cast<void>(market.apply(events[i]));
    }
    own.flush();
    producer.finish(60'000'000'000);
    taken.end(own.counters()[0].read(KafkaCount::acknowledged), events.size());
    return taken;
}

Taken run_bare(const KafkaConfig& config, const std::vector<Kept::Made>& messages) {
    rd_kafka_conf_t* const conf = ::rd_kafka_conf_new();
    const std::vector<std::pair<std::string, std::string>> properties{
        {"bootstrap.servers", config.brokers},
        {"enable.idempotence", "true"},
        {"partitioner", "murmur2_random"},
        {"compression.codec", "lz4"},
        {"queue.buffering.max.kbytes", std::to_string(config.queue_bytes / 1024)},
        {"queue.buffering.max.messages", std::to_string(config.queue_bytes / 1024)}};
    for (const auto& [name, value] : properties) {
        if (::rd_kafka_conf_set(conf, name.c_str(), value.c_str(), nullptr, 0) !=
            RD_KAFKA_CONF_OK) {
            std::exit(1);
        }
    }
    std::uint64_t acknowledged = 0;
    ::rd_kafka_conf_set_opaque(conf, &acknowledged);
    ::rd_kafka_conf_set_dr_msg_cb(conf,
                                  [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
                                      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
                                          *static_cast<std::uint64_t*>(opaque) +=
                                              reinterpret_cast<std::uintptr_t>(message->_private);
                                      }
                                  });
    rd_kafka_t* const producer = ::rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0);
    rd_kafka_topic_t* const topic =
        ::rd_kafka_topic_new(producer, topic_name(config, config.topics[0]).c_str(), nullptr);
    std::uint64_t sent = 0;
    Taken taken;
    for (const Kept::Made& message : messages) {
        while (::rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                                  const_cast<std::byte*>(message.bytes.data()),
                                  message.bytes.size(), message.key.data(), message.key.size(),
                                  reinterpret_cast<void*>(std::uintptr_t{message.records})) != 0) {
            ::rd_kafka_poll(producer, 1);
        }
        sent += message.records;
        ::rd_kafka_poll(producer, 0);
    }
    ::rd_kafka_flush(producer, 60'000);
    taken.end(acknowledged, sent);
    ::rd_kafka_topic_destroy(topic);
    ::rd_kafka_destroy(producer);
    return taken;
}

/// The runs of one kind.
class Runs {
  public:
    explicit Runs(std::string what) : what_("kafka: " + std::move(what)) {}

    void add(const Taken& taken) {
        rates_.push_back(taken.rate());
        costs_ns_.push_back(taken.cost_ns());
    }

    void print() const {
        print_row(what_, spread_of(rates_), "M records/s");
        print_row(what_ + ", processor time", spread_of(costs_ns_), "ns/record");
    }

    /// Also relative to other runs, of which each came just before.
    void print_beside(const Runs& bare) const {
        print();
        std::vector<double> ratios;
        for (std::size_t i = 0; i < rates_.size(); ++i) {
            ratios.push_back(rates_[i] / bare.rates_[i]);
        }
        print_row(what_ + ", of bare", spread_of(ratios), "times");
    }

  private:
    std::string what_;
    std::vector<double> rates_;
    std::vector<double> costs_ns_;
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::fputs("bench_kafka BROKERS [RUNS]\n", stderr);
        return 2;
    }
    const KafkaConfig config = config_of(arguments[1]);
    const int runs = count > 2 ? std::atoi(arguments[2]) : 5;
    const std::vector<pinstrike_record> events = make_events();
    Kept kept;
    {
        Market market;
        Packer packer{config, market, kept};
        for (const pinstrike_record& event : events) {
            static_cast<void>(market.apply(event));
        }
        packer.flush();
    }
    run_bare(config, kept.made);  // the topic is made, and the broker warm
    Runs bare{"bare librdkafka, messages made before"};
    Runs same{"the same messages"};
    Runs packed{"events made into records, packed and sent"};
    for (int i = 0; i < runs; ++i) {
        bare.add(run_bare(config, kept.made));
        same.add(run_producer(config, kept.made));
        packed.add(run_packed(config, events));
    }
    bare.print();
    same.print_beside(bare);
    packed.print_beside(bare);
    return 0;
}
