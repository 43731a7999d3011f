// path: cold
#include "actors/kafka/packer.h"

#include "config/check.h"
#include "config/wall_time.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors::kafka {
namespace {

using feed::dbn::Schema;

/// How long a loss waits for a message of its key that states it.
constexpr std::int64_t statement_ns = 1'000'000'000;
/// Definitions that a step makes at most: events come first.
constexpr std::size_t definitions_each_step = 512;

}  // namespace

Packer::Packer(const KafkaConfig& config, Market& market, MessageQueue& queue)
    : config_(config),
      market_(market),
      queue_(queue),
      counters_(config.topics.size()),
      batches_(config.topics.size()) {
    topic_of_.fill(no_topic);
    for (std::size_t i = 0; i < config.topics.size(); ++i) {
        const TopicConfig& topic = config.topics[i];
        topic_of_[static_cast<std::size_t>(topic.schema)] = i;
        if (topic.underlyings.empty()) {
            market.interests().add_all(*this, topic.schema);
        }
        for (const std::string& root : topic.underlyings) {
            market.interests().add_root(*this, topic.schema, root);
        }
    }
}

/// Thousands of series become known at once, and their definitions are larger than the queue.
void Packer::receive(Schema schema, InstrumentId id, std::span<const std::byte> record) {
    if (schema == Schema::definition) {
        to_define_.push_back(id);
    } else {
        add(topic_of_[static_cast<std::size_t>(schema)], id, record);
    }
}

void Packer::add(std::size_t topic, InstrumentId id, std::span<const std::byte> record) {
    Batch& batch = batch_of(topic, underlyings_.of(id, market_.instruments()));
    if (batch.records == 0) {
        batch.opened_ns = now_ns_;
        if (!spare_.empty()) {
            batch.bytes = std::move(spare_.back());
            spare_.pop_back();
        }
        opened_.push_back({&batch, ++batch.opened});
    }
    batch.bytes.insert(batch.bytes.end(), record.begin(), record.end());
    if (++batch.records >= config_.message_records) {
        send(batch);
    }
}

std::uint32_t Underlyings::of(InstrumentId id, Instruments& instruments) {
    if (id >= by_id_.size()) {
        by_id_.resize(std::max<std::size_t>(instruments.end(), id + 1));
    }
    std::uint32_t& known = by_id_[id];
    if (known == 0) {
        const std::string root{name_of(instruments.key_of(id)).root};
        const auto [at, is_new] =
            by_name_.try_emplace(root, static_cast<std::uint32_t>(names_.size()));
        if (is_new) {
            names_.push_back(root);
        }
        known = at->second + 1;
    }
    return known - 1;
}

Packer::Batch& Packer::batch_of(std::size_t topic, std::uint32_t underlying) {
    std::deque<Batch>& of_topic = batches_[topic];
    while (of_topic.size() <= underlying) {
        Batch& made = of_topic.emplace_back();
        made.key = {static_cast<std::uint16_t>(topic),
                    static_cast<std::uint32_t>(of_topic.size() - 1)};
    }
    return of_topic[underlying];
}

void Packer::send(Batch& batch) {
    KafkaCounters& counters = counters_[batch.key.topic];
    counters.bump(KafkaCount::made, batch.records);
    Offered offered = offer(batch);
    if (offered == Offered::full) {  // an interval's end may give more than the queue holds
        queue_.poll();
        offered = offer(batch);
    }
    batch.first += batch.records;
    if (offered != Offered::queued) {
        counters.bump(offered == Offered::full ? KafkaCount::dropped : KafkaCount::failed,
                      batch.records);
        batch.lost += batch.records;
        note_loss(batch);
    }
    batch.records = 0;
    batch.bytes.clear();
    spare_.push_back(std::exchange(batch.bytes, {}));
}

Offered Packer::offer(Batch& batch) {
    const Offered offered = queue_.offer({.key = batch.key,
                                          .underlying = underlyings_.name(batch.key.underlying),
                                          .bytes = batch.bytes,
                                          .records = batch.records,
                                          .first = batch.first,
                                          .lost = batch.lost,
                                          .uncertain = batch.uncertain,
                                          .missed = missed_});
    batch.is_stated = batch.is_stated || offered == Offered::queued;
    return offered;
}

void Packer::note_loss(Batch& batch) {
    batch.is_stated = false;
    if (!std::exchange(batch.is_listed, true)) {
        unstated_.push_back(&batch);
    }
}

std::size_t Packer::step(std::int64_t now_ns) {
    now_ns_ = now_ns;
    const std::size_t done = make_definitions() + send_due();
    if (!unstated_.empty() && since(stated_ns_, now_ns) >= statement_ns) {
        stated_ns_ = now_ns;
        state_losses();
    }
    return done;
}

std::size_t Packer::send_due() {
    std::size_t sent = 0;
    while (!opened_.empty()) {
        const auto [batch, opened] = opened_.front();
        if (batch->opened == opened && batch->records != 0) {
            if (since(batch->opened_ns, now_ns_) < config_.linger_ns) {
                break;
            }
            sent += batch->records;
            send(*batch);
        }
        opened_.pop_front();
    }
    return sent;
}

std::size_t Packer::make_definitions() {
    std::size_t made = 0;
    while (!to_define_.empty() && made < definitions_each_step && queue_.has_room()) {
        const InstrumentId id = to_define_.front();
        to_define_.pop_front();
        market_.give_state(Schema::definition, id, now_ns_, [&](std::span<const std::byte> record) {
            add(topic_of_[static_cast<std::size_t>(Schema::definition)], id, record);
        });
        ++made;
    }
    return made;
}

/// States losses that no later message has stated, by messages without records.
void Packer::state_losses() {
    std::erase_if(unstated_, [this](Batch* batch) {
        if (!batch->is_stated && batch->records == 0) {
            offer(*batch);
        }
        batch->is_listed = !batch->is_stated;
        return batch->is_stated;
    });
}

void Packer::flush() {
    for (std::deque<Batch>& of_topic : batches_) {
        for (Batch& batch : of_topic) {
            if (batch.records != 0) {
                send(batch);
            }
        }
    }
    state_losses();
}

void Packer::on_delivery(const Delivery& delivery) {
    PINSTRIKE_CHECK(delivery.key.topic < batches_.size());
    PINSTRIKE_CHECK(delivery.key.underlying < batches_[delivery.key.topic].size());
    KafkaCounters& counters = counters_[delivery.key.topic];
    Batch& batch = batches_[delivery.key.topic][delivery.key.underlying];
    switch (delivery.outcome) {
        case Outcome::acknowledged:
            counters.bump(KafkaCount::acknowledged, delivery.records);
            counters.bump(KafkaCount::messages);
            return;
        case Outcome::failed:
            counters.bump(KafkaCount::failed, delivery.records);
            batch.lost += delivery.records;
            break;
        case Outcome::uncertain:
            counters.bump(KafkaCount::uncertain, delivery.records);
            batch.uncertain += delivery.records;
            break;
    }
    note_loss(batch);
}

void Packer::forget_series() {
    underlyings_.forget_series();
    to_define_.clear();
}

}  // namespace pinstrike::actors::kafka
