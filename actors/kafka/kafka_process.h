// path: cold
//
// Writes the records of one feed to Kafka, in one thread. It reads the feed as any other program on
// the host does, so nothing that happens here can reach the feed.
#pragma once

#include "actors/kafka/kafka_config.h"
#include "actors/kafka/kafka_note.h"
#include "actors/kafka/packer.h"
#include "actors/kafka/producer.h"
#include "actors/market/feed_source.h"
#include "actors/market/market.h"
#include "actors/market/market_time.h"
#include "actors/threads/nap.h"
#include "config/problem.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace pinstrike::actors::kafka {

/// Figures of the process at one moment.
struct KafkaStatus {
    std::size_t instruments = 0;
    std::size_t waiting_events = 0;  ///< of series without an id
    std::size_t waiting_messages = 0;
    std::size_t waiting_bytes = 0;
    std::size_t waiting_definitions = 0;
    bool feed_live = false;
    bool brokers_down = false;
    std::int64_t stepped_ns = 0;  ///< when the thread last took it
};

class KafkaProcess final : private FeedEvents {
  public:
    KafkaProcess(KafkaConfig config, NoteKafka note);

    /// Makes the producer. False, with problems.
    [[nodiscard]] bool open(Problems& problems) { return producer_.open(problems); }

    /// Runs until `stop`, and then waits for the brokers for at most some seconds. Returns why it
    /// could not go on; empty: it could. Relaxed: no data depends on `stop`.
    [[nodiscard]] std::string run(const std::atomic<bool>& stop);

    // Any thread may call these.

    [[nodiscard]] KafkaStatus status() const;

    [[nodiscard]] const MarketCounters& market_counters() const { return market_.counters(); }

    /// By the config's topics.
    [[nodiscard]] const std::deque<KafkaCounters>& counters() const { return packer_.counters(); }

    [[nodiscard]] const Histogram& latency() const { return producer_.latency(); }

    [[nodiscard]] const KafkaConfig& config() const { return config_; }

    /// For tests, before run().
    [[nodiscard]] Producer& producer() { return producer_; }

  private:
    // FeedEvents
    void on_state(std::span<const pinstrike_value> values, StatePart part) override;
    void on_event(const pinstrike_record& record) override;
    void on_dropped() override;

    void prefetch_ahead(std::uint32_t id) override { market_.instruments().prefetch(id); }

    void on_missed(std::uint64_t records) override;
    void on_lost(const std::string& why) override;

    std::size_t step();
    void forget_series();
    void take_status();
    void log_losses();
    void log_loss(KafkaNote note, KafkaCount which, const std::string& why);

    KafkaConfig config_;
    NoteKafka note_;
    Market market_;
    MarketTime time_{market_};
    FeedSource source_;
    Producer producer_;
    Packer packer_;
    std::int64_t now_ns_ = 0;
    std::int64_t status_ns_ = 0;  ///< when the status was taken
    std::int64_t logged_ns_ = 0;
    std::map<KafkaCount, std::uint64_t> logged_;  ///< records that did not arrive
    mutable std::mutex status_mutex_;
    KafkaStatus status_;
};

}  // namespace pinstrike::actors::kafka
