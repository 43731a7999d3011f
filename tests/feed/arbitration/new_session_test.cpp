// path: cold
//
// Tests venues with wider numbers than OPRA's, with new sessions that their codec recognises, with
// blocks without a time, and with messages without numbers.
#include "feed/arbitration/arbiter.h"
#include "feed/event/position.h"
#include "tests/feed/arbitration/arbiter_script.h"

#include <gtest/gtest.h>

#include <string>

namespace pinstrike::feed::test {

namespace {

constexpr Numbering wide{.last = number_max, .infers_resets = false};
constexpr std::uint64_t base = std::uint64_t{1} << 33;

/// Records the events of the slow path, with numbers relative to `base`.
class Told final : public ArbiterSink {
  public:
    void deliver(const Block& block, unsigned first, unsigned count, DeliveryFlags flags) override {
        EXPECT_EQ(block.role == BlockRole::unnumbered, flags == flag_unnumbered);
        if (flags == flag_unnumbered) {
            EXPECT_EQ(first, 0U);
            return add("unnumbered" + std::to_string(count));
        }
        for (unsigned i = first; i < first + count; ++i) {
            add(std::to_string(block.sequence + i - base) + ((flags & flag_late) != 0 ? "L" : "") +
                ((flags & flag_retransmitted) != 0 ? "R" : ""));
        }
    }

    void gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages, GapCause cause,
             std::int64_t /*ts_exchange_ns*/, DeliveryFlags /*flags*/) override {
        EXPECT_EQ(messages, last - first + 1);
        add((cause == GapCause::repaired ? "found" : "gap") + std::to_string(first - base) + "-" +
            std::to_string(last - base));
    }

    void reset(const Block& block, Forget forget, bool inferred) override {
        EXPECT_EQ(block.role, BlockRole::new_session);
        EXPECT_EQ(forget, Forget::day);
        EXPECT_FALSE(inferred);
        add("session" + std::to_string(block.sequence - base));
    }

    void add(const std::string& word) { words += (words.empty() ? "" : " ") + word; }

    std::string words;
};

struct Line {
    void data(Stream stream, std::uint64_t number, std::uint16_t messages = 1) {
        Block block;
        block.sequence = base + number;
        block.messages = block.decodable = messages;
        commit(block, stream);
    }

    void session(std::uint64_t last_before) {
        Block block;
        block.role = BlockRole::new_session;
        block.sequence = base + last_before;
        block.messages = block.decodable = 1;
        commit(block, Stream::a);
    }

    void unnumbered(Stream stream, std::uint16_t messages, std::uint16_t decodable) {
        Block block;
        block.role = BlockRole::unnumbered;
        block.messages = messages;
        block.decodable = decodable;
        commit(block, stream);
    }

    void repair(std::uint64_t number) {
        Block block;
        block.sequence = base + number;
        block.messages = block.decodable = 1;
        block.retransmitted = true;
        commit(block, Stream::a);
    }

    void heartbeat(Stream stream, std::uint64_t last) {
        Block block;
        block.role = BlockRole::line_integrity;
        block.sequence = base + last;
        block.messages = block.decodable = 1;
        commit(block, stream);
    }

    void commit(Block block, Stream stream) {
        ++now_ns;
        block.ts_exchange_ns = stamped ? now_ns : 0;
        switch (arbiter.commit(block, stream)) {
            case Verdict::deliver_all:
                return reported.deliver(block, 0, block.messages, 0);
            case Verdict::duplicate_all:
                return;
            case Verdict::slow:
                ++slow_blocks;
                return arbiter.commit_slow(block, stream, now_ns, reported);
        }
    }

    void wait() { arbiter.step(now_ns += 1000, reported); }

    bool stamped = true;  ///< the blocks have times
    unsigned slow_blocks = 0;
    std::int64_t now_ns = 0;
    Arbiter arbiter{{.window_ns = 1000, .hold_bytes = 65536, .gap_ranges = 64}, wide};
    Told reported{};
};

}  // namespace

TEST(WideNumbers, gaps_and_repairs_have_more_than_32_bits) {
    Line line;
    line.data(Stream::a, 1);
    line.data(Stream::a, 4, 2);
    line.data(Stream::b, 2);
    line.wait();
    line.data(Stream::b, 3);
    EXPECT_EQ(line.reported.words, "1 2 gap3-3 4 5 3L found3-3");
    EXPECT_EQ(line.arbiter.expected(), base + 6);
    EXPECT_TRUE(line.arbiter.gaps().empty());
}

TEST(WideNumbers, a_number_beyond_the_venues_highest_is_counted_and_moves_nothing) {
    Line line;
    line.data(Stream::a, 1);
    line.data(Stream::a, number_max - base + 1);
    line.data(Stream::a, 2);
    line.wait();
    EXPECT_EQ(line.reported.words, "1 2");
    EXPECT_EQ(line.arbiter.counters().read(LineCount::invalid_sequence), 1U);
}

TEST(WideNumbers, low_numbers_with_later_times_are_never_taken_for_a_reset) {
    Line line;
    for (std::uint64_t number = 1; number <= 50; ++number) {
        line.data(Stream::a, number);
    }
    for (std::uint64_t number = 1; number <= 50; ++number) {
        line.data(Stream::b, number);  // the block times grow across all streams
    }
    line.wait();
    line.data(Stream::a, 51);
    EXPECT_EQ(line.arbiter.counters().read(LineCount::resets_inferred), 0U);
    EXPECT_EQ(line.arbiter.counters().read(LineCount::delivered), 51U);
    EXPECT_EQ(line.arbiter.counters(Stream::b).read(StreamCount::duplicate), 50U);
}

TEST(NewSession, gives_up_what_the_old_session_lacks_and_begins_on_both_streams) {
    Line line;
    line.data(Stream::a, 10);
    line.data(Stream::a, 12);
    line.session(0);
    line.data(Stream::b, 1);
    line.data(Stream::a, 1);
    line.data(Stream::a, 3);
    line.wait();
    EXPECT_EQ(line.reported.words, "10 gap11-11 12 session0 1 gap2-2 3");
    EXPECT_EQ(line.arbiter.counters().read(LineCount::resets), 1U);
}

TEST(NewSession, may_begin_at_higher_numbers_and_end_with_a_lost_tail) {
    Line line;
    line.data(Stream::a, 1);
    line.session(1000);
    line.data(Stream::b, 1001);
    line.heartbeat(Stream::a, 1003);
    line.wait();
    EXPECT_EQ(line.reported.words, "1 session1000 1001 gap1002-1003");
}

TEST(NewSession, is_known_before_the_first_message) {
    Line line;
    line.session(0);
    line.data(Stream::a, 2);
    line.wait();
    EXPECT_EQ(line.reported.words, "session0 gap1-1 2") << "the session begins with number 1";
}

TEST(NewSession, takes_repairs_without_a_time_for_the_new_session_alone) {
    Line line{.stamped = false};
    line.data(Stream::a, 1);
    line.data(Stream::a, 3);
    line.wait();
    line.session(0);
    line.data(Stream::a, 1, 2);
    line.data(Stream::b, 5);
    line.repair(2);
    line.repair(3);
    line.wait();
    line.repair(4);
    EXPECT_EQ(line.reported.words, "1 gap2-2 3 session0 1 2 3R gap4-4 5 4LR found4-4");
    EXPECT_EQ(line.arbiter.counters().read(LineCount::unasked), 1U);
    EXPECT_EQ(line.arbiter.counters().read(LineCount::lost), 1U) << "2 of the first session";
}

TEST(NoBlockTimes, both_streams_take_the_fast_path) {
    Line line{.stamped = false};
    line.session(0);
    line.data(Stream::a, 1);
    line.data(Stream::b, 1);
    const unsigned before = line.slow_blocks;
    for (std::uint64_t number = 2; number <= 100; ++number) {
        line.data(Stream::a, number);
        line.data(Stream::b, number);
    }
    EXPECT_EQ(line.slow_blocks, before);
    EXPECT_EQ(line.arbiter.counters(Stream::b).read(StreamCount::duplicate), 100U);
    line.data(Stream::b, 103);
    line.heartbeat(Stream::a, 101);
    line.data(Stream::a, 101);
    line.wait();
    line.data(Stream::a, 102);
    EXPECT_EQ(line.arbiter.counters().read(LineCount::late), 1U);
    EXPECT_EQ(line.arbiter.counters().read(LineCount::delivered), 103U);
    EXPECT_EQ(imbalance(line.arbiter), "");
}

TEST(Unnumbered, is_delivered_as_it_comes_and_moves_nothing) {
    Line line;
    line.unnumbered(Stream::a, 3, 3);
    EXPECT_EQ(line.arbiter.expected(), 0U);
    line.data(Stream::a, 1);
    line.data(Stream::a, 3);
    line.unnumbered(Stream::b, 3, 3);
    line.data(Stream::b, 2);
    line.data(Stream::a, 4);
    EXPECT_EQ(line.reported.words, "unnumbered3 1 unnumbered3 2 3 4");
    EXPECT_EQ(line.arbiter.counters().read(LineCount::unnumbered), 6U);
    EXPECT_EQ(line.arbiter.counters().read(LineCount::delivered), 4U);
    EXPECT_EQ(line.arbiter.committed_at_once(), 4U);
    EXPECT_EQ(line.arbiter.counters(Stream::b).read(StreamCount::messages), 1U);
    EXPECT_EQ(imbalance(line.arbiter), "");
}

TEST(Unnumbered, counts_what_cannot_be_decoded_as_rejected) {
    Line line;
    line.unnumbered(Stream::a, 3, 2);
    line.unnumbered(Stream::a, 2, 0);
    EXPECT_EQ(line.reported.words, "unnumbered2");
    EXPECT_EQ(line.arbiter.counters().read(LineCount::unnumbered), 2U);
    EXPECT_EQ(line.arbiter.counters(Stream::a).read(StreamCount::rejected), 3U);
    EXPECT_EQ(imbalance(line.arbiter), "");
}

TEST(Unnumbered, is_not_taken_from_a_retransmission) {
    Line line;
    Block block;
    block.role = BlockRole::unnumbered;
    block.messages = block.decodable = 1;
    block.retransmitted = true;
    line.commit(block, Stream::a);
    EXPECT_EQ(line.reported.words, "");
    EXPECT_EQ(line.arbiter.counters().read(LineCount::retransmitted_controls), 1U);
}

}  // namespace pinstrike::feed::test
