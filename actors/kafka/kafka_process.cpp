// path: cold
#include "actors/kafka/kafka_process.h"

#include "config/time_units.h"
#include "config/wall_time.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <chrono>
#include <thread>
#include <utility>

namespace pinstrike::actors::kafka {
namespace {

constexpr std::int64_t status_turn_ns = 100'000'000;
/// How long the brokers may take to acknowledge the last messages when the process ends.
constexpr std::int64_t finish_ns = 10 * second_ns;

}  // namespace

KafkaProcess::KafkaProcess(KafkaConfig config, NoteKafka note)
    : config_(std::move(config)),
      note_(std::move(note)),
      source_(config_.feed, underlyings_of(config_), *this),
      producer_(
          config_, [this](const Delivery& delivery) { packer_.on_delivery(delivery); }, note_),
      packer_(config_, market_, producer_) {}

std::string KafkaProcess::run(const std::atomic<bool>& stop) {
    ::prctl(PR_SET_TIMERSLACK, 1);  // by default a sleep lasts 50 us longer
    note_(KafkaNote::opened, "brokers", config_.brokers);
    Nap nap;
    while (!stop.load(std::memory_order_relaxed) && producer_.fatal().empty()) {
        if (step() != 0) {
            nap.worked(now_ns_);
        } else if (config_.wait == WaitStrategy::park) {
            std::this_thread::sleep_for(std::chrono::nanoseconds{nap.next(now_ns_)});
        }
    }
    source_.drop_waiting();
    packer_.flush();
    producer_.finish(producer_.fatal().empty() ? finish_ns : 0);
    log_losses();
    take_status();
    return producer_.fatal();
}

std::size_t KafkaProcess::step() {
    now_ns_ = wall_ns();
    const std::size_t events = source_.poll(now_ns_);
    time_.advance(now_ns_);
    const std::size_t sent = packer_.step(now_ns_);
    const std::size_t delivered = producer_.poll();
    if (since(status_ns_, now_ns_) >= status_turn_ns) {
        status_ns_ = now_ns_;
        take_status();
    }
    if (since(logged_ns_, now_ns_) >= second_ns) {
        logged_ns_ = now_ns_;
        log_losses();
    }
    return events + sent + delivered;
}

void KafkaProcess::on_state(std::span<const pinstrike_value> values, StatePart part) {
    if (part.is_fresh) {
        time_.begin();
        market_.forget_values();
        note_(KafkaNote::feed_attached, "feed " + config_.feed,
              fmt::format("{} series", values.size()));
    } else if (part.begins) {
        market_.begin_state(part.core);
    }
    if (!market_.take_state(values, part.is_complete)) {
        forget_series();
        static_cast<void>(market_.take_state(values, part.is_complete));
    }
    if (part.is_complete && !part.is_fresh) {
        static_cast<void>(market_.end_state(part.core));
    }
}

/// Ids name other series than before.
void KafkaProcess::forget_series() {
    market_.clear();
    packer_.forget_series();
}

void KafkaProcess::on_event(const pinstrike_record& record) {
    time_.note(record, now_ns_);
    if (!market_.apply(record)) {  // counts it as filtered
        forget_series();
        static_cast<void>(market_.apply(record));
    }
}

void KafkaProcess::on_dropped() {
    market_.counters().bump(MarketCount::read);
    market_.counters().bump(MarketCount::without_id);
    packer_.on_missed(1);
}

void KafkaProcess::on_missed(std::uint64_t records) {
    market_.counters().bump(MarketCount::missed, records);
    packer_.on_missed(records);
    note_(KafkaNote::missed, "feed " + config_.feed,
          fmt::format("{} records of the feed were overwritten before they were read", records));
}

void KafkaProcess::on_lost(const std::string& why) {
    note_(KafkaNote::feed_lost, "feed " + config_.feed, why);
}

void KafkaProcess::log_losses() {
    log_loss(KafkaNote::dropped, KafkaCount::dropped, "the queue is full");
    log_loss(KafkaNote::failed, KafkaCount::failed, producer_.last_failure());
    log_loss(KafkaNote::uncertain, KafkaCount::uncertain, producer_.last_failure());
}

void KafkaProcess::log_loss(KafkaNote note, KafkaCount which, const std::string& why) {
    std::uint64_t all = 0;
    for (const KafkaCounters& topic : counters()) {
        all += topic.read(which);
    }
    const std::uint64_t before = std::exchange(logged_[which], all);
    if (all != before) {
        note_(note, "topics", fmt::format("{} records: {}", all - before, why));
    }
}

void KafkaProcess::take_status() {
    // Only an acknowledgement shows that a broker is back, so this says nothing while none is due.
    const bool brokers_down = producer_.brokers_down() && producer_.waiting_messages() != 0;
    const KafkaStatus status{.instruments = market_.instruments().count(),
                             .waiting_events = source_.waiting(),
                             .waiting_messages = producer_.waiting_messages(),
                             .waiting_bytes = producer_.waiting_bytes(),
                             .waiting_definitions = packer_.waiting_definitions(),
                             .feed_live = source_.is_live(),
                             .brokers_down = brokers_down,
                             .stepped_ns = now_ns_};
    const std::lock_guard lock{status_mutex_};
    status_ = status;
}

KafkaStatus KafkaProcess::status() const {
    const std::lock_guard lock{status_mutex_};
    return status_;
}

}  // namespace pinstrike::actors::kafka
