// path: cold
//
// How records become messages, and how each of them is accounted for.
#include "actors/kafka/packer.h"

#include "config/time_units.h"
#include "tests/actors/market/market_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace pinstrike::actors::kafka::test {
namespace {

using feed::dbn::Schema;
using gateway::test::FeedScene;
using gateway::test::key_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t linger_ns = 5'000'000;

/// Keeps what is offered.
class Queue final : public MessageQueue {
  public:
    struct Taken {
        Message message;
        std::string underlying;
        std::vector<std::byte> bytes;
    };

    Offered offer(const Message& message) override {
        if (answer == Offered::queued) {
            taken.push_back({message,
                             std::string{message.underlying},
                             {message.bytes.begin(), message.bytes.end()}});
        }
        return answer;
    }

    [[nodiscard]] bool has_room() const override { return room; }

    std::size_t poll() override {
        answer = poll_makes_room ? Offered::queued : answer;
        return 0;
    }

    /// "topic underlying: records from first, lost, uncertain, missed" of each message.
    std::vector<std::string> take() {
        std::vector<std::string> out;
        for (const Taken& one : taken) {
            const Message& message = one.message;
            out.push_back(std::to_string(message.key.topic) + " " + one.underlying + ": " +
                          std::to_string(message.records) + " from " +
                          std::to_string(message.first) + ", lost " + std::to_string(message.lost) +
                          ", uncertain " + std::to_string(message.uncertain) + ", missed " +
                          std::to_string(message.missed));
        }
        taken.clear();
        return out;
    }

    Offered answer = Offered::queued;
    bool room = true;
    bool poll_makes_room = false;
    std::vector<Taken> taken;
};

class PackerTest : public testing::Test {
  protected:
    PackerTest() { start({{Schema::trades, {}}}); }

    void start(std::vector<TopicConfig> topics) {
        packer.reset();
        market = std::make_unique<Market>();
        config.topics = std::move(topics);
        config.message_records = 3;
        config.linger_ns = linger_ns;
        packer = std::make_unique<Packer>(config, *market, queue);
        packer->step(now_ns);
    }

    void trade(const std::string& root, InstrumentId id, int times = 1) {
        for (int i = 0; i < times; ++i) {
            ASSERT_TRUE(market->apply(events.trade(key_of(id, root), 100 + i, 1)));
        }
    }

    void step(std::int64_t later_ns) { packer->step(now_ns += later_ns); }

    [[nodiscard]] std::uint64_t count(KafkaCount which, std::size_t topic = 0) const {
        return packer->counters()[topic].read(which);
    }

    /// As a message of a topic, whose first underlying it is.
    void deliver(std::uint32_t records, Outcome outcome, std::uint32_t underlying = 0) {
        packer->on_delivery({{0, underlying}, records, outcome});
    }

    KafkaConfig config;
    Queue queue;
    std::unique_ptr<Market> market;
    std::unique_ptr<Packer> packer;
    FeedScene events;
    std::int64_t now_ns = gateway::test::hour_begin_ns;
};

TEST_F(PackerTest, a_message_has_records_of_one_underlying_one_after_the_other) {
    trade("SPY", 1, 2);
    trade("QQQ", 2, 2);
    EXPECT_THAT(queue.taken, IsEmpty());
    trade("SPY", 3);  // another series of the underlying
    ASSERT_THAT(queue.taken, SizeIs(1));
    EXPECT_EQ(queue.taken[0].underlying, "SPY");
    ASSERT_THAT(queue.taken[0].bytes, SizeIs(3 * sizeof(feed::dbn::TradeRecord)));
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < 3; ++i) {
        feed::dbn::TradeRecord record;
        std::memcpy(&record, queue.taken[0].bytes.data() + i * sizeof record, sizeof record);
        EXPECT_EQ(record.header.type, feed::dbn::RecordType::trade);
        ids.push_back(record.header.instrument);
    }
    EXPECT_THAT(ids, ElementsAre(1, 1, 3));
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 3 from 0, lost 0, uncertain 0, missed 0"));
}

TEST_F(PackerTest, a_record_waits_for_others_no_longer_than_linger) {
    trade("SPY", 1);
    step(linger_ns - 1);
    trade("QQQ", 2);
    EXPECT_THAT(queue.take(), IsEmpty());
    step(1);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 1 from 0, lost 0, uncertain 0, missed 0"));
    trade("SPY", 1, 4);  // a full message, and one that waits anew
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 3 from 1, lost 0, uncertain 0, missed 0"));
    step(linger_ns - 1);
    EXPECT_THAT(queue.take(), ElementsAre("0 QQQ: 1 from 0, lost 0, uncertain 0, missed 0"));
    step(1);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 1 from 4, lost 0, uncertain 0, missed 0"));
}

TEST_F(PackerTest, each_schema_is_a_topic_with_its_underlyings) {
    start({{Schema::trades, {"SPY"}}, {Schema::tcbbo, {}}});
    trade("SPY", 1, 3);
    trade("QQQ", 2, 3);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 3 from 0, lost 0, uncertain 0, missed 0",
                                          "1 SPY: 3 from 0, lost 0, uncertain 0, missed 0",
                                          "1 QQQ: 3 from 0, lost 0, uncertain 0, missed 0"));
    EXPECT_EQ(count(KafkaCount::made, 0), 3U);
    EXPECT_EQ(count(KafkaCount::made, 1), 6U);
}

TEST_F(PackerTest, what_the_queue_refuses_is_dropped_and_the_next_message_states_it) {
    queue.answer = Offered::full;
    trade("SPY", 1, 3);
    EXPECT_EQ(count(KafkaCount::dropped), 3U);
    queue.answer = Offered::refused;
    trade("SPY", 1, 3);
    EXPECT_EQ(count(KafkaCount::failed), 3U);
    queue.answer = Offered::queued;
    trade("SPY", 1, 3);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 3 from 6, lost 6, uncertain 0, missed 0"));
    step(2 * second_ns);
    EXPECT_THAT(queue.take(), IsEmpty()) << "it was stated";
    EXPECT_EQ(count(KafkaCount::made), 9U);
}

TEST_F(PackerTest, a_loss_that_no_message_follows_is_stated_by_one_without_records) {
    queue.answer = Offered::full;
    trade("SPY", 1, 3);
    step(second_ns);
    queue.answer = Offered::queued;
    step(second_ns - 1);
    EXPECT_THAT(queue.take(), IsEmpty());
    step(1);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 0 from 3, lost 3, uncertain 0, missed 0"));
    deliver(0, Outcome::failed);
    step(second_ns);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 0 from 3, lost 3, uncertain 0, missed 0"))
        << "the statement did not arrive";
    deliver(0, Outcome::acknowledged);
    step(second_ns);
    EXPECT_THAT(queue.take(), IsEmpty());
    EXPECT_EQ(count(KafkaCount::made), 3U) << "a statement is no record";
}

TEST_F(PackerTest, deliveries_are_accounted_for_and_those_that_lost_records_stated) {
    trade("QQQ", 2, 3);
    trade("SPY", 1, 9);
    EXPECT_THAT(queue.take(), SizeIs(4));
    deliver(3, Outcome::acknowledged, 1);
    deliver(3, Outcome::failed, 1);
    deliver(3, Outcome::uncertain, 1);
    deliver(3, Outcome::acknowledged, 0);
    EXPECT_EQ(count(KafkaCount::made), 12U);
    EXPECT_EQ(count(KafkaCount::acknowledged), 6U);
    EXPECT_EQ(count(KafkaCount::failed), 3U);
    EXPECT_EQ(count(KafkaCount::uncertain), 3U);
    EXPECT_EQ(count(KafkaCount::messages), 2U);
    step(second_ns);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 0 from 9, lost 3, uncertain 3, missed 0"));
}

TEST_F(PackerTest, events_that_were_missed_are_stated_in_every_message) {
    packer->on_missed(7);
    trade("SPY", 1, 3);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 3 from 0, lost 0, uncertain 0, missed 7"));
}

TEST_F(PackerTest, a_full_queue_is_asked_for_deliveries_before_a_message_is_dropped) {
    queue.answer = Offered::full;
    queue.poll_makes_room = true;
    trade("SPY", 1, 3);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 3 from 0, lost 0, uncertain 0, missed 0"));
    queue.answer = Offered::full;
    queue.poll_makes_room = false;
    trade("SPY", 1, 3);
    EXPECT_EQ(count(KafkaCount::dropped), 3U);
}

TEST_F(PackerTest, definitions_wait_until_the_queue_has_room) {
    start({{Schema::definition, {}}});
    queue.room = false;
    trade("SPY", 1);
    trade("SPY", 2);
    trade("SPY", 3);
    step(second_ns);
    EXPECT_THAT(queue.take(), IsEmpty());
    EXPECT_EQ(packer->waiting_definitions(), 3U);
    queue.room = true;
    step(0);
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 3 from 0, lost 0, uncertain 0, missed 0"));
    EXPECT_EQ(packer->waiting_definitions(), 0U);
}

TEST_F(PackerTest, an_id_may_name_a_series_of_another_underlying_after_the_list_has_changed) {
    trade("SPY", 1, 2);
    market->clear();
    packer->forget_series();
    trade("QQQ", 1, 3);
    packer->flush();
    EXPECT_THAT(queue.take(), ElementsAre("0 QQQ: 3 from 0, lost 0, uncertain 0, missed 0",
                                          "0 SPY: 2 from 0, lost 0, uncertain 0, missed 0"));
}

TEST_F(PackerTest, the_end_sends_what_waits_and_states_losses_at_once) {
    queue.answer = Offered::full;
    trade("QQQ", 2, 3);
    queue.answer = Offered::queued;
    trade("SPY", 1, 2);
    packer->flush();
    EXPECT_THAT(queue.take(), ElementsAre("0 SPY: 2 from 0, lost 0, uncertain 0, missed 0",
                                          "0 QQQ: 0 from 3, lost 3, uncertain 0, missed 0"));
}

}  // namespace
}  // namespace pinstrike::actors::kafka::test
