// path: cold
//
// Packs records into messages, by topic and underlying, and accounts for each of them.
#pragma once

#include "actors/kafka/kafka_config.h"
#include "actors/kafka/kafka_counts.h"
#include "actors/kafka/message.h"
#include "actors/market/market.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors::kafka {

/// The underlyings by their indices, and of which each instrument is.
class Underlyings {
  public:
    std::uint32_t of(InstrumentId id, Instruments& instruments);

    [[nodiscard]] const std::string& name(std::uint32_t index) const { return names_[index]; }

    /// Ids may name other series from now on.
    void forget_series() { by_id_.clear(); }

  private:
    std::unordered_map<std::string, std::uint32_t> by_name_;
    std::vector<std::string> names_;
    std::vector<std::uint32_t> by_id_;  ///< 0: not known yet, else the index + 1
};

class Packer final : public RecordReceiver {
  public:
    /// Subscribes to the records of the config's topics.
    Packer(const KafkaConfig& config, Market& market, MessageQueue& queue);

    void receive(feed::dbn::Schema schema, InstrumentId id,
                 std::span<const std::byte> record) override;

    void interval_ended(feed::dbn::Schema /*schema*/, std::int64_t /*end_ns*/) override {}

    /// Sends what has waited long enough. Returns the number of records that it sent or made.
    std::size_t step(std::int64_t now_ns);

    /// Sends all records that wait here for others.
    void flush();

    void on_delivery(const Delivery& delivery);

    /// Events of the feed were overwritten before they were read.
    void on_missed(std::uint64_t events) { missed_ += events; }

    /// Ids may name other series from now on.
    void forget_series();

    /// By the config's topics. Any thread may read them.
    [[nodiscard]] const std::deque<KafkaCounters>& counters() const { return counters_; }

    /// Definitions that wait until the queue has room.
    [[nodiscard]] std::size_t waiting_definitions() const { return to_define_.size(); }

  private:
    /// The records of one underlying in one topic.
    struct Batch {
        MessageKey key;
        std::vector<std::byte> bytes;
        std::uint32_t records = 0;
        std::int64_t opened_ns = 0;  ///< when the first of them was added
        std::uint64_t opened = 0;    ///< how often it was
        std::uint64_t first = 0;     ///< records of all messages so far
        std::uint64_t lost = 0;
        std::uint64_t uncertain = 0;
        bool is_stated = true;   ///< a message after the last loss is queued or acknowledged
        bool is_listed = false;  ///< in unstated_
    };

    /// A batch that was opened, unless it has been sent since.
    struct Opened {
        Batch* batch;
        std::uint64_t opened;
    };

    void add(std::size_t topic, InstrumentId id, std::span<const std::byte> record);
    Batch& batch_of(std::size_t topic, std::uint32_t underlying);
    void send(Batch& batch);
    Offered offer(Batch& batch);
    void note_loss(Batch& batch);
    std::size_t send_due();
    std::size_t make_definitions();
    void state_losses();

    static constexpr std::size_t no_topic = SIZE_MAX;

    const KafkaConfig& config_;
    Market& market_;
    MessageQueue& queue_;
    std::array<std::size_t, feed::dbn::schemas_count> topic_of_{};  ///< by schema
    std::deque<KafkaCounters> counters_;                            ///< by topic
    std::vector<std::deque<Batch>> batches_;                        ///< by topic and underlying
    Underlyings underlyings_;
    std::deque<Opened> opened_;                  ///< the earliest first
    std::vector<std::vector<std::byte>> spare_;  ///< memory for the records of a batch
    std::deque<InstrumentId> to_define_;
    std::vector<Batch*> unstated_;
    std::int64_t now_ns_ = 0;
    std::int64_t stated_ns_ = 0;
    std::uint64_t missed_ = 0;
};

}  // namespace pinstrike::actors::kafka
