// path: cold
#include "actors/control/kafka_service.h"

#include "actors/control/side_process.h"
#include "actors/kafka/kafka_process.h"
#include "actors/telemetry/metrics/kafka_metrics.h"
#include "config/output_file.h"
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

class KafkaService {
  public:
    KafkaService(const kafka::KafkaConfig& config, const KafkaOptions& options)
        : config_(config),
          options_(options),
          process_({.name = "kafka",
                    .cpu = config.cpu,
                    .metrics_address = config.metrics_address,
                    .for_ns = options.for_ns,
                    .metrics =
                        [this](const LogCounters& log, const EndpointCounters* endpoint) {
                            return kafka_metrics_page(kafka_, log, endpoint);
                        },
                    .stepped_ns = [this] { return kafka_.status().stepped_ns; },
                    .status = [this] { return status(); },
                    .serve = [this] { return kafka_.run(stop_); },
                    .reload = [] {},
                    // Relaxed: the thread is joined before anything that it wrote is read.
                    .stop = [this](int) { stop_.store(true, std::memory_order_relaxed); }}),
          kafka_(config, [this](KafkaNote note, std::string subject, std::string sentence) {
              process_.log(code_of(note), std::move(subject), std::move(sentence));
          }) {}

    Exit run() {
        Problems problems;
        if (!kafka_.open(problems) || !process_.open(problems)) {
            print_problems(problems);
            return exit_of(problems);
        }
        const Exit ended = process_.run();
        const Exit reported = report();
        return ended == Exit::ok ? reported : ended;
    }

  private:
    [[nodiscard]] std::string status() const {
        const kafka::KafkaStatus status = kafka_.status();
        return fmt::format("{} messages wait, feed {} {}, {} series", status.waiting_messages,
                           config_.feed, status.feed_live ? "live" : "not live",
                           status.instruments);
    }

    [[nodiscard]] std::uint64_t events(MarketCount which) const {
        return kafka_.market_counters().read(which);
    }

    [[nodiscard]] std::uint64_t records(KafkaCount which) const {
        std::uint64_t sum = 0;
        for (const kafka::KafkaCounters& topic : kafka_.counters()) {
            sum += topic.read(which);
        }
        return sum;
    }

    [[nodiscard]] bool balances() const {
        return records(KafkaCount::made) ==
                   records(KafkaCount::acknowledged) + records(KafkaCount::failed) +
                       records(KafkaCount::uncertain) + records(KafkaCount::dropped) &&
               events(MarketCount::read) ==
                   events(MarketCount::served) + events(MarketCount::filtered) +
                       events(MarketCount::of_lines) + events(MarketCount::without_id);
    }

    [[nodiscard]] nlohmann::ordered_json account() const {
        nlohmann::ordered_json account;
        for (std::size_t i = 0; i < MarketCount_rows.size(); ++i) {
            account["kafka"][std::string{MarketCount_rows[i].name}] =
                events(static_cast<MarketCount>(i));
        }
        for (std::size_t topic = 0; topic < config_.topics.size(); ++topic) {
            nlohmann::ordered_json& row =
                account["topics"][kafka::topic_name(config_, config_.topics[topic])];
            for (std::size_t i = 0; i < kafka::KafkaCount_rows.size(); ++i) {
                row[std::string{kafka::KafkaCount_rows[i].name}] =
                    kafka_.counters()[topic].read(static_cast<KafkaCount>(i));
            }
        }
        const Histogram::Snapshot latency = kafka_.latency().snapshot();
        account["acknowledge"] = {{"messages", latency.count},
                                  {"p50_ns", latency.quantile_ns(0.5)},
                                  {"p99_ns", latency.quantile_ns(0.99)},
                                  {"p999_ns", latency.quantile_ns(0.999)}};
        account["balances"] = balances();
        return account;
    }

    Exit report() {
        if (!options_.account_file.empty() &&
            !write_text(options_.account_file, account().dump(1) + '\n')) {
            return Exit::failed;
        }
        fmt::print(
            "kafka of {}: {} events read = {} served + {} filtered + {} of lines + {} without id; "
            "{} records made = {} acknowledged + {} failed + {} uncertain + {} dropped\n"
            "the account {}\n",
            config_.feed, grouped(events(MarketCount::read)), grouped(events(MarketCount::served)),
            grouped(events(MarketCount::filtered)), grouped(events(MarketCount::of_lines)),
            grouped(events(MarketCount::without_id)), grouped(records(KafkaCount::made)),
            grouped(records(KafkaCount::acknowledged)), grouped(records(KafkaCount::failed)),
            grouped(records(KafkaCount::uncertain)), grouped(records(KafkaCount::dropped)),
            balances() ? "balances" : "does not balance");
        return balances() ? Exit::ok : Exit::failed;
    }

    const kafka::KafkaConfig& config_;
    const KafkaOptions& options_;
    SideProcess process_;
    kafka::KafkaProcess kafka_;
    std::atomic<bool> stop_ = false;
};

}  // namespace

Exit run_kafka(const kafka::KafkaConfig& config, const KafkaOptions& options) {
    ::prctl(PR_SET_DUMPABLE, 0UL);  // a core dump would hold passwords
    for (const std::string& remark : kafka::kafka_remarks(config)) {
        complain("remark: {}", remark);
    }
    return KafkaService{config, options}.run();
}

}  // namespace pinstrike::actors
