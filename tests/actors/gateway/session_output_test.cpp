// path: cold
//
// What a session sends to a client that reads too slowly, and its counts.
#include "actors/gateway/session_output.h"

#include "config/time_units.h"
#include "tests/actors/gateway/session_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using feed::dbn::Schema;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::int64_t start_ns = 1000 * second_ns;

class OutputTest : public testing::Test {
  protected:
    static constexpr std::size_t record_bytes = sizeof(feed::dbn::ConsolidatedRecord);
    static constexpr std::size_t queue_bytes = std::size_t{1} << 20;

    void start(OutputSettings settings = {}) {
        settings.queue_bytes = queue_bytes;
        output.start(settings, now_ns);
        drain(output.queue());
    }

    /// Offers a record; true if it was put.
    bool offer(Schema schema) {
        const bool admitted = output.admit(schema);
        if (admitted) {
            feed::dbn::ConsolidatedRecord record;
            record.header = feed::dbn::header_of<feed::dbn::ConsolidatedRecord>(
                feed::dbn::RecordType::cmbp_1, 30, 7, 1);
            output.put(feed::dbn::bytes_of(record));
        }
        return admitted;
    }

    /// Offers records until more than `bytes` wait.
    void fill(Schema schema, std::size_t bytes) {
        while (output.queue().bytes() <= bytes) {
            ASSERT_TRUE(offer(schema));
        }
    }

    /// True if a time of skipped records has ended.
    bool step(std::int64_t later_ns) {
        const bool skipping = output.is_skipping();
        output.step(now_ns += later_ns);
        return skipping && !output.is_skipping();
    }

    /// The texts of system and error records that wait; others are passed over.
    std::vector<std::string> read() {
        std::vector<std::string> texts;
        const auto records = split_records(drain(output.queue()));
        EXPECT_TRUE(records);
        for (const ReadRecord& record : *records) {
            if (record.as<feed::dbn::RecordHeader>().type != feed::dbn::RecordType::cmbp_1) {
                texts.push_back(record.text());
            }
        }
        return texts;
    }

    [[nodiscard]] std::uint64_t count(SessionCount which) { return output.counters().read(which); }

    void expect_balance() {
        output.give_up();
        EXPECT_EQ(
            count(SessionCount::records),
            count(SessionCount::sent) + count(SessionCount::skipped) + count(SessionCount::unsent));
    }

    ChunkPool pool;
    SessionOutput output{pool};
    std::int64_t now_ns = start_ns;
};

TEST_F(OutputTest, own_records_have_their_text_and_code) {
    start();
    output.put_error(ErrorCode::internal, "Internal error: a|b\n");
    output.put_system(SystemCode::heartbeat, std::string(400, 'x'));
    const auto records = split_records(drain(output.queue()));
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 2U);
    const auto error = (*records)[0].as<feed::dbn::ErrorRecord>();
    EXPECT_EQ(error.header.length, 80U);
    EXPECT_EQ(error.header.type, feed::dbn::RecordType::error);
    EXPECT_EQ(error.header.event_ns, static_cast<std::uint64_t>(start_ns));
    EXPECT_STREQ(error.text.data(), "Internal error: a b ");
    EXPECT_EQ(error.code, 6U);
    EXPECT_EQ(error.is_last, 1U);
    const auto system = (*records)[1].as<feed::dbn::SystemRecord>();
    EXPECT_EQ(system.header.type, feed::dbn::RecordType::system);
    EXPECT_EQ(std::string{system.text.data()}, std::string(302, 'x'));
    EXPECT_EQ(system.code, 0U);
}

TEST_F(OutputTest, records_are_skipped_at_half_of_the_queue_until_the_client_is_current) {
    start();
    fill(Schema::cmbp_1, queue_bytes / 2);
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(offer(Schema::cmbp_1));
    }
    EXPECT_FALSE(step(1));  // still behind
    EXPECT_EQ(output.queue().oldest_ns(), start_ns);
    const auto waiting = output.queue().next();
    output.queue().sent(waiting.size());
    EXPECT_FALSE(offer(Schema::cbbo_1s));  // still skipping
    EXPECT_FALSE(step(1));
    EXPECT_THAT(read(), IsEmpty());
    EXPECT_FALSE(offer(Schema::mbp_1));
    EXPECT_TRUE(step(1));
    EXPECT_THAT(read(), ElementsAre("error 7: Slow client detected for OPRA.PILLAR: 7 records "
                                    "skipped"));
    EXPECT_FALSE(step(1));
    EXPECT_THAT(read(), IsEmpty());
    EXPECT_TRUE(offer(Schema::cmbp_1));
    EXPECT_EQ(count(SessionCount::skipped), 7U);
    expect_balance();
}

TEST_F(OutputTest, values_that_no_later_record_replaces_are_not_skipped) {
    start();
    fill(Schema::cmbp_1, queue_bytes / 2);
    for (const Schema schema : {Schema::cmbp_1, Schema::mbp_1, Schema::cbbo_1s, Schema::cbbo_1m}) {
        EXPECT_FALSE(offer(schema));
    }
    for (const Schema schema :
         {Schema::trades, Schema::tcbbo, Schema::tbbo, Schema::ohlcv_1s, Schema::ohlcv_1m,
          Schema::ohlcv_1h, Schema::definition, Schema::statistics}) {
        EXPECT_TRUE(offer(schema));
    }
}

TEST_F(OutputTest, a_client_that_asked_for_warnings_gets_them_now_and_then) {
    start({.slow_reader = SlowReader::warn});
    fill(Schema::cmbp_1, queue_bytes / 4);
    EXPECT_TRUE(offer(Schema::cmbp_1));
    EXPECT_TRUE(offer(Schema::cmbp_1));
    EXPECT_FALSE(step(second_ns));
    EXPECT_TRUE(offer(Schema::cmbp_1));
    EXPECT_FALSE(step(1));
    EXPECT_TRUE(offer(Schema::cmbp_1));
    const auto texts = read();
    ASSERT_EQ(texts.size(), 2U);
    for (const std::string& text : texts) {
        EXPECT_THAT(text, StartsWith("system 2: Warning: slow reading"));
    }
    expect_balance();
}

TEST_F(OutputTest, a_record_that_may_not_be_skipped_overflows_the_queue) {
    start();
    fill(Schema::trades, queue_bytes);
    EXPECT_FALSE(output.overflowed());
    EXPECT_FALSE(offer(Schema::trades));
    EXPECT_TRUE(output.overflowed());
    EXPECT_FALSE(offer(Schema::trades));
    EXPECT_EQ(count(SessionCount::skipped), 2U);
    expect_balance();
}

TEST_F(OutputTest, records_above_the_rate_of_the_key_are_skipped_until_the_next_second) {
    start({.records_per_second = 3});
    step(0);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(offer(Schema::trades));
    }
    EXPECT_FALSE(offer(Schema::trades));
    EXPECT_FALSE(offer(Schema::cmbp_1));
    EXPECT_FALSE(step(second_ns - 1));
    EXPECT_FALSE(offer(Schema::trades));
    EXPECT_THAT(read(), IsEmpty());
    EXPECT_TRUE(step(1));
    EXPECT_THAT(read(), ElementsAre(AllOf(StartsWith("error 7: Slow client detected for "),
                                          HasSubstr("3: 3 records skipped"))));
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(offer(Schema::trades));
    }
    EXPECT_FALSE(offer(Schema::trades));
    expect_balance();
}

/// A busy feed always has a record before the gateway looks at its sessions.
TEST_F(OutputTest, the_rate_is_free_again_although_a_record_came_first_in_the_next_second) {
    start({.records_per_second = 1});
    step(0);
    EXPECT_TRUE(offer(Schema::trades));
    EXPECT_FALSE(offer(Schema::trades));
    output.set_time(output.now_ns() + second_ns, 0);
    EXPECT_FALSE(offer(Schema::trades));
    EXPECT_TRUE(step(second_ns));
    EXPECT_THAT(read(), ElementsAre(HasSubstr("1: 2 records skipped")));
    EXPECT_TRUE(offer(Schema::trades));
    expect_balance();
}

TEST_F(OutputTest, a_heartbeat_comes_when_nothing_else_did) {
    start({.heartbeat_seconds = 5});
    step(5 * second_ns - 1);
    EXPECT_THAT(read(), IsEmpty());
    step(1);
    EXPECT_THAT(read(), ElementsAre("system 0: Heartbeat"));
    step(4 * second_ns);
    EXPECT_TRUE(offer(Schema::trades));
    step(second_ns);
    EXPECT_THAT(read(), IsEmpty());
    step(4 * second_ns);
    EXPECT_THAT(read(), ElementsAre("system 0: Heartbeat"));
}

TEST_F(OutputTest, each_record_is_counted_as_sent_skipped_or_unsent) {
    start();
    fill(Schema::cmbp_1, queue_bytes / 2);
    EXPECT_FALSE(offer(Schema::cmbp_1));
    output.put_system(SystemCode::subscribed, "Subscription request 0 for trades data succeeded");
    output.put_error(ErrorCode::symbol_failed, "Failed");
    output.queue().sent(output.queue().next().size());
    const std::uint64_t sent = Chunk::capacity / record_bytes;
    EXPECT_EQ(count(SessionCount::sent), sent);
    EXPECT_EQ(count(SessionCount::bytes), feed::dbn::metadata_bytes + sent * record_bytes);
    EXPECT_EQ(count(SessionCount::skipped), 1U);
    expect_balance();
    EXPECT_EQ(count(SessionCount::unsent), output.queue().records_appended() - sent);
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
