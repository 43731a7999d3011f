// path: cold
#include "actors/control/side_account.h"
#include "actors/control/side_process.h"
#include "actors/control/side_services.h"
#include "actors/kafka/kafka_process.h"
#include "actors/telemetry/metrics/kafka_metrics.h"
#include "config/print_problems.h"
#include "config/units.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <utility>

namespace pinstrike::actors {
namespace {

using kafka::KafkaCount;
using kafka::KafkaNote;

LogCode code_of(KafkaNote note) {
    constexpr std::array codes{LogCode::kafka_open,      LogCode::kafka_missed,
                               LogCode::kafka_dropped,   LogCode::kafka_failed,
                               LogCode::kafka_uncertain, LogCode::kafka_brokers_down,
                               LogCode::kafka_back,      LogCode::kafka_error,
                               LogCode::feed_attached,   LogCode::feed_lost};
    return codes[static_cast<std::size_t>(note)];
}

class KafkaService final : public SideProcess {
  public:
    KafkaService(const kafka::KafkaConfig& config, const SideOptions& options)
        : SideProcess("kafka", config.cpu, config.metrics_address, options.for_ns),
          config_(config),
          options_(options),
          kafka_(config, [this](KafkaNote note, std::string subject, std::string sentence) {
              log(code_of(note), std::move(subject), std::move(sentence));
          }) {}

    Exit run() {
        Problems problems;
        if (!kafka_.open(problems) || !open(problems)) {
            print_problems(problems);
            return exit_of(problems);
        }
        const Exit ended = run_thread();
        const Exit reported = report();
        return ended == Exit::ok ? reported : ended;
    }

  private:
    std::string metrics(const LogCounters& log, const EndpointCounters* endpoint) override {
        return kafka_metrics_page(kafka_, log, endpoint);
    }

    [[nodiscard]] std::int64_t stepped_ns() const override { return kafka_.status().stepped_ns; }

    [[nodiscard]] std::string status() const override {
        const kafka::KafkaStatus status = kafka_.status();
        return fmt::format("{} messages wait, feed {} {}, {} series", status.waiting_messages,
                           config_.feed, status.feed_live ? "live" : "not live",
                           status.instruments);
    }

    std::string serve() override { return kafka_.run(stop_); }

    /// Relaxed: the thread is joined before anything that it wrote is read.
    void stop(int /*signal*/) override { stop_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t records(KafkaCount which) const {
        std::uint64_t sum = 0;
        for (const kafka::KafkaCounters& topic : kafka_.counters()) {
            sum += topic.read(which);
        }
        return sum;
    }

    Exit report() {
        const auto made = records(KafkaCount::made);
        const auto acknowledged = records(KafkaCount::acknowledged);
        const auto failed = records(KafkaCount::failed);
        const auto uncertain = records(KafkaCount::uncertain);
        const auto dropped = records(KafkaCount::dropped);
        nlohmann::ordered_json account;
        account["kafka"] = counts_json(kafka_.market_counters());
        for (std::size_t topic = 0; topic < config_.topics.size(); ++topic) {
            account["topics"][kafka::topic_name(config_, config_.topics[topic])] =
                counts_json(kafka_.counters()[topic]);
        }
        account["acknowledge"] = times_json("messages", kafka_.latency());
        return report_account(
            options_, std::move(account),
            made == acknowledged + failed + uncertain + dropped &&
                events_balance(kafka_.market_counters()),
            fmt::format("kafka of {}: {}; {} records made = {} acknowledged + {} failed + {} "
                        "uncertain + {} dropped\n",
                        config_.feed, events_text(kafka_.market_counters()), grouped(made),
                        grouped(acknowledged), grouped(failed), grouped(uncertain),
                        grouped(dropped)));
    }

    const kafka::KafkaConfig& config_;
    const SideOptions& options_;
    kafka::KafkaProcess kafka_;
    std::atomic<bool> stop_ = false;
};

}  // namespace

Exit run_kafka(const kafka::KafkaConfig& config, const SideOptions& options) {
    ::prctl(PR_SET_DUMPABLE, 0UL);  // a core dump would hold passwords
    for (const std::string& remark : kafka::kafka_remarks(config)) {
        complain("remark: {}", remark);
    }
    return KafkaService{config, options}.run();
}

}  // namespace pinstrike::actors
