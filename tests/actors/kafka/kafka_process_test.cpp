// path: cold
//
// A Kafka producer between a feed and brokers, all in this process.
#include "actors/kafka/kafka_process.h"

#include "actors/telemetry/metrics/side_metrics.h"
#include "config/wall_time.h"
#include "feed/dbn/records.h"
#include "tests/actors/kafka/mock_brokers.h"
#include "tests/actors/publish/published.h"
#include "tests/config/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::actors::kafka::test {
namespace {

using actors::test::Events;
using actors::test::key_of;
using actors::test::PublishedFeed;
using actors::test::PublishFolder;
using feed::dbn::Schema;
using testing::Contains;
using testing::SizeIs;

class KafkaProcessTest : public testing::Test {
  protected:
    void start() {
        process = std::make_unique<KafkaProcess>(
            config, [this](KafkaNote note, const std::string&, const std::string&) {
                const std::lock_guard lock{mutex};
                notes.push_back(note);
            });
        Problems problems;
        ASSERT_TRUE(process->open(problems)) << text_of(problems);
        thread = std::thread{[this] { failure = process->run(stop); }};
    }

    void end() {
        stop = true;
        if (thread.joinable()) {
            thread.join();
        }
    }

    void TearDown() override { end(); }

    void quote(PublishedFeed& feed, const std::string& root) {
        Events quotes;
        quotes.quote(key_of(root), 1, ++sequence);
        quotes.stamp(now_ns += 1000);
        quotes.play(*feed.books[0]);
    }

    [[nodiscard]] std::uint64_t count(KafkaCount which, std::size_t topic = 0) const {
        return process->counters()[topic].read(which);
    }

    [[nodiscard]] std::uint64_t events(MarketCount which) const {
        return process->market_counters().read(which);
    }

    /// Stops or starts all brokers.
    void set_brokers(bool up) {
        rd_kafka_mock_cluster_t* const brokers =
            ::rd_kafka_handle_mock_cluster(process->producer().handle());
        for (const int broker : {1, 2, 3}) {
            up ? ::rd_kafka_mock_broker_set_up(brokers, broker)
               : ::rd_kafka_mock_broker_set_down(brokers, broker);
        }
    }

    bool waits(const std::function<bool()>& done) {
        return wait([] {}, done);
    }

    const PublishFolder folder;
    nic::ScratchDirectory scratch;
    KafkaConfig config{.feed = "test",
                       .brokers = "127.0.0.1:1",
                       .topics = {{Schema::mbp_1, {}}, {Schema::definition, {"SPY"}}},
                       .message_records = 50,
                       .timeout_ns = 20'000'000'000,
                       .properties = mock_properties(scratch),
                       .metrics_address = ""};
    std::unique_ptr<KafkaProcess> process;
    std::atomic<bool> stop = false;
    std::string failure;
    std::thread thread;
    std::mutex mutex;
    std::vector<KafkaNote> notes;
    std::uint32_t sequence = 0;
    std::int64_t now_ns = 1'795'000'000'000'000'000;
};

TEST_F(KafkaProcessTest, the_topics_have_the_records_of_the_feed_and_the_account_balances) {
    PublishedFeed feed{1, 4096};
    start();
    ASSERT_TRUE(waits([&] { return process->status().feed_live; }));
    const std::int64_t before_ns = wall_ns();
    const double stalled = stalled_seconds(before_ns - 7'000'000'000);
    EXPECT_GE(stalled, 7);
    EXPECT_LE(stalled, 7 + static_cast<double>(wall_ns() - before_ns) * 1e-9);
    for (int i = 0; i < 120; ++i) {
        quote(feed, i % 3 == 0 ? "QQQ" : "SPY");
    }
    feed.file->give_ids();
    ASSERT_TRUE(waits([&] { return events(MarketCount::read) == 120; }));
    ASSERT_TRUE(waits([&] { return count(KafkaCount::acknowledged, 1) == 1; }));
    end();
    EXPECT_EQ(failure, "");
    EXPECT_EQ(events(MarketCount::served), 120U);
    EXPECT_EQ(count(KafkaCount::acknowledged), count(KafkaCount::made));
    EXPECT_EQ(count(KafkaCount::failed) + count(KafkaCount::uncertain) + count(KafkaCount::dropped),
              0U);
    std::map<std::string, std::uint64_t> records;
    for (const Consumed& message : consume(process->producer().handle(), "pinstrike.test.mbp-1")) {
        EXPECT_EQ(message.bytes.size() % sizeof(feed::dbn::VenueRecord), 0U);
        EXPECT_EQ(message.first, records[message.key]);
        records[message.key] += message.bytes.size() / sizeof(feed::dbn::VenueRecord);
    }
    EXPECT_GE(records["SPY"], 80U);
    EXPECT_GE(records["QQQ"], 40U);
    EXPECT_EQ(records["SPY"] + records["QQQ"], count(KafkaCount::acknowledged));
    const auto definitions = consume(process->producer().handle(), "pinstrike.test.definition");
    ASSERT_THAT(definitions, SizeIs(1));
    EXPECT_EQ(definitions[0].key, "SPY");
}

TEST_F(KafkaProcessTest, goes_on_when_the_feed_has_started_anew_with_other_series) {
    config.topics = {{Schema::mbp_1, {}}};
    auto feed = std::make_unique<PublishedFeed>(1, 4096, true);
    start();
    ASSERT_TRUE(waits([&] { return process->status().feed_live; }));
    quote(*feed, "SPY");
    feed->file->give_ids();
    ASSERT_TRUE(waits([&] { return count(KafkaCount::acknowledged) != 0; }));
    const std::uint64_t before = count(KafkaCount::acknowledged);
    feed.reset();
    PublishedFeed next{1, 4096, true};
    ASSERT_TRUE(waits([&] {
        const std::lock_guard lock{mutex};
        return std::count(notes.begin(), notes.end(), KafkaNote::feed_attached) == 2;
    }));
    quote(next, "QQQ");
    next.file->give_ids();
    ASSERT_TRUE(waits([&] { return count(KafkaCount::acknowledged) > before; }));
    end();
    std::vector<std::string> keys;
    for (const Consumed& message : consume(process->producer().handle(), "pinstrike.test.mbp-1")) {
        keys.push_back(message.key);
    }
    EXPECT_THAT(keys, Contains("SPY"));
    EXPECT_THAT(keys, Contains("QQQ"));
}

TEST_F(KafkaProcessTest, brokers_that_are_gone_cost_the_feed_nothing_and_records_are_dropped) {
    config.topics = {{Schema::mbp_1, {}}};
    config.queue_bytes = std::size_t{1} << 20;
    config.timeout_ns = 600'000'000'000;
    PublishedFeed feed{1, std::size_t{1} << 16};
    start();
    ASSERT_TRUE(waits([&] { return process->status().feed_live; }));
    set_brokers(false);
    ASSERT_TRUE(waits([&] {
        if (events(MarketCount::read) == sequence) {  // so that it misses none, however slow it is
            for (int i = 0; i < 2000; ++i) {
                quote(feed, "SPY");
            }
            feed.file->give_ids();
        }
        return count(KafkaCount::dropped) > 0;
    }));
    EXPECT_LE(process->status().waiting_bytes, config.queue_bytes);
    EXPECT_EQ(events(MarketCount::missed), 0U) << "it reads on";
    set_brokers(true);
    ASSERT_TRUE(waits([&] {
        return count(KafkaCount::acknowledged) + count(KafkaCount::dropped) ==
               count(KafkaCount::made);
    }));
    ASSERT_TRUE(waits([&] { return process->status().waiting_messages == 0; }));
    std::this_thread::sleep_for(std::chrono::milliseconds{1500});  // until a loss is stated
    end();
    EXPECT_THAT(notes, Contains(KafkaNote::dropped));
    EXPECT_EQ(count(KafkaCount::acknowledged) + count(KafkaCount::dropped),
              count(KafkaCount::made));
    std::uint64_t records = 0;
    std::uint64_t missing = 0;
    std::uint64_t next = 0;
    std::string lost;
    for (const Consumed& message : consume(process->producer().handle(), "pinstrike.test.mbp-1")) {
        missing += message.first - next;
        next = message.first + message.records;
        records += message.records;
        lost = message.headers.contains("lost") ? message.headers.at("lost") : "0";
    }
    EXPECT_EQ(records, count(KafkaCount::acknowledged));
    EXPECT_EQ(missing, count(KafkaCount::dropped)) << "a consumer sees each record that is missing";
    EXPECT_EQ(lost, std::to_string(count(KafkaCount::dropped)));
}

TEST_F(KafkaProcessTest, brokers_are_down_only_while_records_wait_for_them) {
    config.topics = {{Schema::mbp_1, {}}};
    PublishedFeed feed{1, 4096};
    start();
    ASSERT_TRUE(waits([&] { return process->status().feed_live; }));
    set_brokers(false);
    quote(feed, "SPY");
    feed.file->give_ids();
    ASSERT_TRUE(waits([&] { return process->status().brokers_down; }));
    set_brokers(true);
    ASSERT_TRUE(waits([&] { return count(KafkaCount::acknowledged) != 0; }));
    set_brokers(false);
    ASSERT_TRUE(waits([&] {
        const std::lock_guard lock{mutex};
        return std::count(notes.begin(), notes.end(), KafkaNote::brokers_down) == 2;
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    EXPECT_TRUE(waits([&] { return !process->status().brokers_down; }));
}

TEST_F(KafkaProcessTest, events_that_wait_for_an_id_at_the_end_are_counted) {
    PublishedFeed feed{1, 4096};
    start();
    ASSERT_TRUE(waits([&] { return process->status().feed_live; }));
    quote(feed, "SPY");
    ASSERT_TRUE(waits([&] { return process->status().waiting_events == 1; }));
    end();
    EXPECT_EQ(events(MarketCount::read), 1U);
    EXPECT_EQ(events(MarketCount::without_id), 1U);
}

TEST_F(KafkaProcessTest, a_fatal_error_of_the_producer_ends_it) {
    PublishedFeed feed{1, 4096};
    start();
    ASSERT_TRUE(waits([&] { return process->status().feed_live; }));
    ::rd_kafka_test_fatal_error(process->producer().handle(),
                                RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "made by a test");
    thread.join();
    EXPECT_THAT(failure, testing::HasSubstr("made by a test"));
}

}  // namespace
}  // namespace pinstrike::actors::kafka::test
