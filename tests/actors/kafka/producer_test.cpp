// path: cold
//
// The producer against the brokers of librdkafka's mock cluster: what is acknowledged is in the
// topic once, and what is not counts as failed or uncertain.
#include "actors/kafka/producer.h"

#include "config/time_units.h"
#include "config/wall_time.h"
#include "tests/actors/kafka/mock_brokers.h"
#include "tests/config/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors::kafka::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* topic = "pinstrike.opra.trades";
constexpr int produce_request = 0;  // of Kafka's protocol

class ProducerTest : public testing::Test {
  protected:
    void open() {
        producer = std::make_unique<Producer>(
            config, [this](const Delivery& delivery) { deliveries.push_back(delivery); },
            [this](KafkaNote note, const std::string&, const std::string&) {
                notes.push_back(note);
            });
        Problems problems;
        ASSERT_TRUE(producer->open(problems)) << text_of(problems);
    }

    rd_kafka_mock_cluster_t* brokers() {
        return ::rd_kafka_handle_mock_cluster(producer->handle());
    }

    void set_down(bool down) {
        for (const int broker : {1, 2, 3}) {
            down ? ::rd_kafka_mock_broker_set_down(brokers(), broker)
                 : ::rd_kafka_mock_broker_set_up(brokers(), broker);
        }
    }

    Offered offer(const std::string& underlying, const std::string& text, std::uint64_t first = 0) {
        return producer->offer({.key = {0, static_cast<std::uint32_t>(first)},
                                .underlying = underlying,
                                .bytes = std::as_bytes(std::span{text}),
                                .records = 2,
                                .first = first,
                                .lost = 5,
                                .uncertain = 6,
                                .missed = 7});
    }

    bool wait_for(std::size_t count) {
        return wait([this] { producer->poll(); }, [&] { return deliveries.size() >= count; });
    }

    [[nodiscard]] std::size_t count(Outcome outcome) const {
        return static_cast<std::size_t>(
            std::count_if(deliveries.begin(), deliveries.end(),
                          [&](const Delivery& one) { return one.outcome == outcome; }));
    }

    nic::ScratchDirectory scratch;
    KafkaConfig config{.feed = "opra",
                       .brokers = "127.0.0.1:1",
                       .topics = {{feed::dbn::Schema::trades, {}}},
                       .timeout_ns = 20 * second_ns,
                       .properties = mock_properties(scratch),
                       .metrics_address = ""};
    std::vector<Delivery> deliveries;
    std::vector<KafkaNote> notes;
    std::unique_ptr<Producer> producer;
};

TEST_F(ProducerTest, what_is_acknowledged_is_in_the_topic_with_its_headers) {
    open();
    const std::int64_t begin_ns = wall_ns();
    ASSERT_EQ(offer("SPY", "records", 3), Offered::queued);
    ASSERT_EQ(offer("QQQ", "", 4), Offered::queued);
    EXPECT_EQ(producer->waiting_messages(), 2U);
    EXPECT_EQ(producer->waiting_bytes(), 7U);
    ASSERT_TRUE(wait_for(2));
    EXPECT_EQ(count(Outcome::acknowledged), 2U);
    EXPECT_EQ(deliveries[0].records, 2U);
    EXPECT_EQ(deliveries[0].key.topic, 0U);
    EXPECT_EQ(producer->waiting_messages(), 0U);
    EXPECT_EQ(producer->waiting_bytes(), 0U);
    const Histogram::Snapshot latency = producer->latency().snapshot();
    EXPECT_EQ(latency.count, 2U);
    EXPECT_GT(latency.highest_ns, 1000U) << "microseconds of librdkafka are nanoseconds here";
    EXPECT_LE(latency.highest_ns, static_cast<std::uint64_t>(wall_ns() - begin_ns));
    std::vector<Consumed> got = consume(producer->handle(), topic);
    ASSERT_THAT(got, SizeIs(2));
    std::sort(got.begin(), got.end(),
              [](const Consumed& a, const Consumed& b) { return a.key > b.key; });
    EXPECT_EQ(got[0].key, "SPY");
    EXPECT_EQ(got[0].bytes, "records");
    EXPECT_EQ(got[0].headers["dbn"], "3 OPRA.PILLAR trades");
    EXPECT_EQ(got[0].first, 3U);
    EXPECT_EQ(got[0].records, 2U);
    EXPECT_THAT(got[0].life, SizeIs(19));
    EXPECT_EQ(got[0].headers["lost"], "5");
    EXPECT_EQ(got[0].headers["uncertain"], "6");
    EXPECT_EQ(got[0].headers["missed"], "7");
    EXPECT_EQ(got[1].key, "QQQ");
    EXPECT_EQ(got[1].bytes, "");
}

TEST_F(ProducerTest, sums_that_are_zero_have_no_header) {
    open();
    ASSERT_EQ(producer->offer({.key = {},
                               .underlying = "SPY",
                               .bytes = {},
                               .records = 0,
                               .first = 0,
                               .lost = 0,
                               .uncertain = 1,
                               .missed = 0}),
              Offered::queued);
    ASSERT_TRUE(wait_for(1));
    const std::vector<Consumed> got = consume(producer->handle(), topic);
    ASSERT_THAT(got, SizeIs(1));
    EXPECT_EQ(got[0].first, 0U);
    EXPECT_EQ(got[0].headers.at("uncertain"), "1");
    EXPECT_EQ(got[0].headers.count("lost") + got[0].headers.count("missed"), 0U);
}

TEST_F(ProducerTest, errors_of_brokers_that_pass_cost_nothing_and_repeat_nothing) {
    open();
    ::rd_kafka_mock_push_request_errors(
        brokers(), produce_request, 3, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
    for (unsigned i = 0; i < 50; ++i) {
        ASSERT_EQ(offer("SPY", "record " + std::to_string(i), i), Offered::queued);
    }
    ASSERT_TRUE(wait_for(50));
    EXPECT_EQ(count(Outcome::acknowledged), 50U);
    const std::vector<Consumed> got = consume(producer->handle(), topic);
    ASSERT_THAT(got, SizeIs(50));
    for (unsigned i = 0; i < 50; ++i) {
        EXPECT_EQ(got[i].bytes, "record " + std::to_string(i)) << "in order";
    }
}

TEST_F(ProducerTest, a_message_that_was_never_sent_has_failed) {
    config.timeout_ns = second_ns;
    open();
    set_down(true);
    ASSERT_EQ(offer("SPY", "records"), Offered::queued);
    ASSERT_TRUE(wait_for(1));
    EXPECT_EQ(deliveries[0].outcome, Outcome::failed);
    EXPECT_THAT(producer->last_failure(), HasSubstr("timed out"));
    ASSERT_TRUE(wait([this] { producer->poll(); }, [this] { return producer->brokers_down(); }));
    set_down(false);
    ASSERT_TRUE(wait([this] { offer("SPY", "records"); },
                     [this] {
                         producer->poll();
                         return count(Outcome::acknowledged) != 0;
                     }));
    EXPECT_FALSE(producer->brokers_down());
    EXPECT_THAT(notes, testing::Contains(KafkaNote::brokers_back));
}

TEST_F(ProducerTest, a_message_that_was_sent_and_not_answered_is_uncertain) {
    config.timeout_ns = 6 * second_ns;  // a busy machine needs some for sending the message
    open();
    ASSERT_EQ(offer("SPY", "first"), Offered::queued);
    ASSERT_TRUE(wait_for(1));
    for (const int broker : {1, 2, 3}) {
        ::rd_kafka_mock_broker_set_rtt(brokers(), broker, 30'000);
    }
    ASSERT_EQ(offer("SPY", "second"), Offered::queued);
    ASSERT_TRUE(wait_for(2));
    EXPECT_EQ(deliveries[0].outcome, Outcome::acknowledged);
    EXPECT_EQ(deliveries[1].outcome, Outcome::uncertain);
}

TEST_F(ProducerTest, messages_of_a_topic_that_may_not_be_written_have_failed) {
    open();
    ::rd_kafka_mock_push_request_errors(brokers(), produce_request, 1,
                                        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    ASSERT_EQ(offer("SPY", "records"), Offered::queued);
    ASSERT_TRUE(wait_for(1));
    EXPECT_EQ(deliveries[0].outcome, Outcome::failed);
}

TEST_F(ProducerTest, the_queue_is_bounded_and_refuses_at_once) {
    config.queue_bytes = std::size_t{1} << 20;
    open();
    set_down(true);
    EXPECT_TRUE(producer->has_room());
    const std::string block(100'000, 'x');
    unsigned queued = 0;
    while (queued < 100 && offer("SPY", block) == Offered::queued) {
        ++queued;
    }
    EXPECT_EQ(queued, 10U) << "1 MiB";
    EXPECT_FALSE(producer->has_room());
    EXPECT_EQ(offer("SPY", block), Offered::full);
    producer->finish(0);
    EXPECT_EQ(count(Outcome::failed), 10U);
}

TEST_F(ProducerTest, the_end_gives_up_what_cannot_be_sent) {
    open();
    set_down(true);
    ASSERT_EQ(offer("SPY", "records"), Offered::queued);
    producer->finish(second_ns / 10);
    EXPECT_EQ(count(Outcome::failed), 1U);
    EXPECT_EQ(producer->waiting_messages(), 0U);
}

TEST_F(ProducerTest, a_fatal_error_ends_its_life) {
    open();
    EXPECT_EQ(producer->fatal(), "");
    ::rd_kafka_test_fatal_error(producer->handle(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
                                "made by a test");
    ASSERT_TRUE(wait([this] { producer->poll(); }, [this] { return !producer->fatal().empty(); }));
    EXPECT_THAT(producer->fatal(), HasSubstr("made by a test"));
    EXPECT_EQ(offer("SPY", "records"), Offered::refused);
}

TEST_F(ProducerTest, a_property_that_the_library_refuses_is_named_without_its_value) {
    std::ofstream{config.properties} << "ssl.no.such=secret\nsecurity.protocol=none\n";
    Producer wrong{config, [](const Delivery&) {},
                   [](KafkaNote, const std::string&, const std::string&) {}};
    Problems problems;
    EXPECT_FALSE(wrong.open(problems));
    EXPECT_THAT(text_of(problems), HasSubstr("ssl.no.such: librdkafka "));
    EXPECT_THAT(text_of(problems), HasSubstr("security.protocol: librdkafka "));
    EXPECT_THAT(text_of(problems), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace pinstrike::actors::kafka::test
