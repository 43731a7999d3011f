// path: cold
//
// Checks the unit of every metric in seconds against times that the test measures itself.
#include "actors/appliance/appliance.h"
#include "actors/book/book_config.h"
#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/metrics/appliance_metrics.h"
#include "actors/telemetry/metrics/metric_rows.h"
#include "feed/opra/lines.h"
#include "feed/opra/traffic/generator.h"
#include "tests/actors/publish/published.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace pinstrike::actors {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

FeedConfig config(const std::string& secret_file, const std::string& record_folder) {
    FeedConfig made;
    made.lines = feed::opra::published_lines(std::vector<std::uint16_t>{1, 2});
    nic::PortConfig port;
    port.name = "sim";
    port.kind = nic::PortKind::sim;
    made.ports.push_back(port);
    PollerConfig poller;
    poller.name = "poller0";
    poller.wait = WaitStrategy::park;
    poller.ports = {"sim"};
    poller.lines = {1, 2};
    made.pollers.push_back(poller);
    CoreConfig core;
    core.name = "core0";
    core.wait = WaitStrategy::park;
    made.cores.push_back(core);
    made.ring_slots = 1 << 16;
    made.actors.get<BookConfig>().series_capacity = 10'000;
    feed::opra::TrafficConfig traffic;
    traffic.lines_count = 2;
    traffic.roots_count = 20;
    traffic.series_count = 1'000;
    traffic.rate_messages_per_second = 20'000;
    traffic.b.skew_ns = 300'000;
    made.traffic = feed::opra::traffic::settings_of(traffic);
    made.history.memory_bytes = 16U << 20;
    made.peer.listen.port = 0;
    made.peer.connect = {{nic::Ipv4{0x7F00'0001}, 1}};  // nobody listens
    made.peer.secret_file = secret_file;
    made.record.on = true;
    made.record.folder = record_folder;
    made.record.segment_bytes = 4U << 20;
    made.record.free_bytes = 0;
    made.record.snapshot_interval_ns = 200'000'000;
    made.publish.memory = PublishMemory::shm;
    made.publish.stream = true;
    made.publish.stream_records = 1024;
    return made;
}

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// An appliance that ran for a second or longer and has stopped, so its figures no longer change.
class MetricValues : public testing::Test {
  protected:
    void SetUp() override {
        std::string name =
            testing::TempDir() + "metric_values-XXXXXX";  // other builds test as well
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        here_ = name;
        const auto secret = here_ / "secret";
        std::ofstream(secret) << "known to nobody else, and 32 characters long";
        std::filesystem::permissions(
            secret, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        Problems problems;
        appliance_ = Appliance::build(config(secret, here_ / "record"), problems);
        ASSERT_TRUE(appliance_) << (problems.empty() ? "" : problems.front().text);
        const auto begin = std::chrono::steady_clock::now();
        started_at_ = wall_seconds();
        appliance_->start();
        constexpr double patience_s = 60;
        std::this_thread::sleep_for(std::chrono::seconds(1));
        while (!has_begun() && appliance_->seconds() < patience_s) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        appliance_->stop();
        stopped_at_ = wall_seconds();
        const std::chrono::duration<double> ran = std::chrono::steady_clock::now() - begin;
        ran_ = ran.count();
        families_ = appliance_metrics(take_counter_snapshot(*appliance_), LogCounters{}, nullptr);
    }

    void TearDown() override { std::filesystem::remove_all(here_); }

    static double value_of(Metric metric, const ClientMetric& series) {
        return row_of(metric).kind == MetricKind::counter ? series.counter.value
                                                          : series.gauge.value;
    }

    /// Whether each stream had a packet, and the disk has some of them and a snapshot.
    bool has_begun() {
        const auto families =
            appliance_metrics(take_counter_snapshot(*appliance_), LogCounters{}, nullptr);
        const auto has_value = [&](Metric metric) {
            const std::string name = std::string{metric_prefix}.append(row_of(metric).name);
            return std::ranges::all_of(families, [&](const MetricFamily& family) {
                return family.name != name ||
                       std::ranges::all_of(family.metric, [&](const ClientMetric& series) {
                           return value_of(metric, series) > 0;
                       });
            });
        };
        return has_value(Metric::stream_last_packet_timestamp_seconds) &&
               has_value(Metric::history_oldest_timestamp_seconds) &&
               has_value(Metric::recorder_longest_write_seconds) &&
               has_value(Metric::recorder_snapshot_timestamp_seconds);
    }

    /// All series of the metric.
    void each(Metric metric, const std::function<void(const ClientMetric&)>& judge) {
        const std::string name = std::string{metric_prefix}.append(row_of(metric).name);
        std::size_t found = 0;
        for (const MetricFamily& family : families_) {
            if (family.name == name) {
                std::ranges::for_each(family.metric, judge);
                found += family.metric.size();
            }
        }
        EXPECT_NE(found, 0U) << name;
        judged_[name] = true;
    }

    /// Checks all series of a gauge or counter.
    void within(Metric metric, double least, double most) {
        each(metric, [&](const ClientMetric& series) {
            const double value = value_of(metric, series);
            EXPECT_GE(value, least) << row_of(metric).name;
            EXPECT_LE(value, most) << row_of(metric).name;
        });
    }

    /// Checks that the sum of a histogram agrees with its buckets, and that no value is longer than
    /// the run.
    void in_its_buckets(Metric metric) {
        each(metric, [&](const ClientMetric& series) {
            double least = 0;
            double most = 0;
            double below = 0;
            std::uint64_t before = 0;
            for (const ClientMetric::Bucket& bucket : series.histogram.bucket) {
                const auto count = static_cast<double>(bucket.cumulative_count - before);
                least += count * below;
                most += count * std::min(bucket.upper_bound, ran_);
                below = bucket.upper_bound;
                before = bucket.cumulative_count;
            }
            EXPECT_EQ(before, series.histogram.sample_count) << row_of(metric).name;
            EXPECT_GE(series.histogram.sample_sum, least * 0.93) << row_of(metric).name;
            EXPECT_LE(series.histogram.sample_sum, most + 1e-9) << row_of(metric).name;
        });
    }

    test::PublishFolder folder_;
    std::filesystem::path here_;
    std::unique_ptr<Appliance> appliance_;
    std::vector<MetricFamily> families_;
    std::map<std::string, bool> judged_;
    double started_at_ = 0;
    double stopped_at_ = 0;
    double ran_ = 0;
};

TEST_F(MetricValues, seconds_are_seconds) {
    within(Metric::running_seconds, 0.95, ran_);
    within(Metric::stream_last_packet_timestamp_seconds, started_at_, stopped_at_);
    within(Metric::history_oldest_timestamp_seconds, started_at_ - 1, stopped_at_);
    const double published_at = static_cast<double>(appliance_->published()->start_ns()) * 1e-9;
    within(Metric::published_start_timestamp_seconds, published_at, published_at);
    EXPECT_NEAR(published_at, started_at_, 60);
    within(Metric::loop_busy_seconds_total, 1e-6, ran_);
    within(Metric::loop_idle_seconds_total, 1e-6, ran_);
    within(Metric::loop_longest_step_seconds, 1e-8, ran_);
    within(Metric::clock_error_seconds, 0, 0.01);
    within(Metric::recorder_longest_write_seconds, 1e-6, ran_);
    within(Metric::recorder_longest_pause_seconds, 0, ran_);
    within(Metric::recorder_snapshot_timestamp_seconds, started_at_, stopped_at_);
    within(Metric::recorder_snapshot_interval_seconds, 0.2, 0.2);
    if (appliance_->clock().uses_tsc()) {
        within(Metric::clock_tick_seconds, 1e-10, 1e-8);  // 0.1 to 10 GHz
    }
    for (const Metric histogram : {Metric::stream_lead_seconds, Metric::loop_stop_seconds,
                                   Metric::latency_seconds, Metric::latency_disturbed_seconds,
                                   Metric::actor_waiting_seconds, Metric::actor_service_seconds}) {
        in_its_buckets(histogram);
    }
    each(Metric::stream_lead_seconds, [&](const ClientMetric& series) {
        if (series.label.back().value == "A") {  // B comes 0.3 ms later
            EXPECT_GT(series.histogram.sample_count, 0U);
            std::uint64_t near = 0;
            std::uint64_t before = 0;
            for (const ClientMetric::Bucket& bucket : series.histogram.bucket) {
                const std::uint64_t count = bucket.cumulative_count - before;
                near += bucket.upper_bound > 100e-6 && bucket.upper_bound < 600e-6 ? count : 0;
                before = bucket.cumulative_count;
            }
            EXPECT_GT(2 * near, before) << "only what waits while the poller stops is longer apart";
        }
    });
    for (const MetricRow& row : Metric_rows) {
        const std::string name = std::string{metric_prefix}.append(row.name);
        const bool absent =
            row_of(Metric::clock_tick_seconds).name == row.name && !appliance_->clock().uses_tsc();
        // Those of other processes: tests/commands/gateway_test.py judges those of a gateway,
        // tests/live/bridge_test.py those of a bridge, and tests/actors/kafka those of a Kafka
        // producer.
        const bool elsewhere = row.name.starts_with("gateway_") ||
                               row.name.starts_with("bridge_") || row.name.starts_with("kafka_");
        if (name.find("seconds") != std::string::npos && !absent && !elsewhere) {
            EXPECT_TRUE(judged_[name]) << name << " is held against nothing";
        }
    }
}

TEST_F(MetricValues, the_stream_has_every_event_of_its_core) {
    within(Metric::published_bytes, static_cast<double>(appliance_->published()->bytes()),
           static_cast<double>(appliance_->topology().published_bytes));
    const double events =
        static_cast<double>(take_counter_snapshot(*appliance_).cores[0].actors[0].events);
    EXPECT_GT(events, 0);
    within(Metric::published_stream_records_total, events, 10 * events);  // quotes may have two
}

TEST_F(MetricValues, the_time_of_a_run_ends_with_it) {
    const double seconds = appliance_->seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(appliance_->seconds(), seconds);
}

TEST_F(MetricValues, clock_error_is_that_of_the_snapshot) {
    CounterSnapshot counters = take_counter_snapshot(*appliance_);
    counters.clock_error_ns = 250'000;
    families_ = appliance_metrics(counters, LogCounters{}, nullptr);
    within(Metric::clock_error_seconds, 250e-6 - 1e-12, 250e-6 + 1e-12);
}

}  // namespace
}  // namespace pinstrike::actors
