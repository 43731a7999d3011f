// path: cold
//
// Tests the rules by which a hole is repaired, one rule at a time.
#include "feed/recovery/recovery.h"

#include "config/time_units.h"
#include "tests/feed/numbering.h"
#include "tests/feed/recovery/recovery_fakes.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::feed::test {
namespace {

constexpr Position base = 2 * numbering.last;  // number n is position base + n

struct RecoveryTest : testing::Test {
    RecoveryConfig config{.sources = {},
                          .request_after_ns = 1 * ms_ns,
                          .answer_within_ns = 20 * ms_ns,
                          .give_up_after_ns = 1000 * ms_ns,
                          .requests_per_second = 500,
                          .messages_per_second = 200'000,
                          .ranges_max = 64};
    std::array<Asked, 2> asked;
    bool first_passive = false;
    FakeSink sink;
    Numbering venue;
    std::unique_ptr<Recovery> recovery;
    std::int64_t now_ns = 0;

    void make(std::size_t sources = 1) {
        std::vector<std::unique_ptr<RepairSource>> list;
        for (std::size_t i = 0; i < sources; ++i) {
            list.push_back(std::make_unique<FakeSource>("source" + std::to_string(i), asked[i],
                                                        i == 0 && first_passive));
        }
        const std::array<std::uint16_t, 2> lines{4, 220};
        recovery = std::make_unique<Recovery>(config, lines, std::move(list), sink, venue);
        at(0);
    }

    void at(std::int64_t ns) {
        now_ns = ns;
        recovery->step(now_ns);
        EXPECT_EQ(imbalance(*recovery), "");
    }

    void missing(std::uint32_t first, std::uint32_t last, std::size_t line = 0) {
        recovery->missing(line, base + first, base + last + 1, 5, 9, now_ns);
    }

    void found(std::uint32_t first, std::uint32_t last, std::size_t line = 0) {
        recovery->found(line, base + first, base + last + 1);
    }

    [[nodiscard]] std::uint64_t count(RecoveryCount which) const {
        return recovery->counters().read(which);
    }

    /// The requests since the last call, as "4:2-3 4:7-7" (line:first-last).
    std::string requests(std::size_t source = 0) {
        std::string out;
        for (const RepairRequest& request : asked[source].requests) {
            out.append(out.empty() ? "" : " ").append(std::to_string(request.line)).append(":");
            out.append(std::to_string(request.first)).append("-");
            out.append(
                std::to_string(numbering.number_at(base + request.first + request.messages - 1)));
        }
        asked[source].requests.clear();
        return out;
    }

    [[nodiscard]] std::uint64_t last_id(std::size_t source = 0) const {
        return asked[source].in_flight.rbegin()->first;
    }
};

TEST_F(RecoveryTest, AsksInTheNumbersOfTheVenue) {
    venue.last = number_max;
    make();
    constexpr std::uint64_t number = (std::uint64_t{1} << 33) + 7;
    const Position begin = 2 * venue.last + number;
    recovery->missing(0, begin, begin + 3, 5, 9, now_ns);
    at(1 * ms_ns);
    ASSERT_EQ(asked[0].requests.size(), 1U);
    EXPECT_EQ(asked[0].requests[0].first, number);
    EXPECT_EQ(asked[0].requests[0].messages, 3U);
}

TEST_F(RecoveryTest, AHoleIsLeftToTheOtherStreamFirst) {
    make();
    missing(2, 3);
    EXPECT_EQ(recovery->next_deadline_ns(), 1 * ms_ns);
    at(1 * ms_ns - 1);
    EXPECT_EQ(requests(), "");
    found(2, 3);
    at(10 * ms_ns);
    EXPECT_EQ(requests(), "");
    EXPECT_EQ(count(RecoveryCount::filled), 2U);
    EXPECT_EQ(recovery->next_deadline_ns(), Recovery::never_ns);
}

TEST_F(RecoveryTest, ThenItIsAskedForOnceAndExactly) {
    make();
    missing(2, 3);
    missing(220, 220, 1);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:2-3 220:220-220");
    at(20 * ms_ns);
    EXPECT_EQ(requests(), "");
    EXPECT_EQ(asked[0].in_flight.size(), 2U);
    found(2, 3);
    EXPECT_EQ(asked[0].in_flight.size(), 1U) << "what is found is cancelled";
    EXPECT_EQ(count(RecoveryCount::repaired), 2U);
    EXPECT_EQ(count(RecoveryCount::answered), 1U);
}

TEST_F(RecoveryTest, ARequestNamesItsStamps) {
    make();
    recovery->missing(0, base + 2, base + 3, 50, 70, 0);
    recovery->missing(0, base + 3, base + 4, 60, 90, 0);
    at(1 * ms_ns);
    ASSERT_EQ(asked[0].requests.size(), 1U);
    EXPECT_EQ(asked[0].requests[0].ts_before_ns, 50);
    EXPECT_EQ(asked[0].requests[0].ts_behind_ns, 90);
}

TEST_F(RecoveryTest, WhatAdjoinsIsOneRequest) {
    make();
    missing(2, 3);
    missing(4, 9);
    missing(11, 11);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:2-9 4:11-11");
}

TEST_F(RecoveryTest, ButNotBeforeItsTime) {
    make();
    missing(2, 3);
    at(ms_ns / 2);
    missing(4, 9);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:2-3");
    at(2 * ms_ns);
    EXPECT_EQ(requests(), "4:4-9");
}

TEST_F(RecoveryTest, ALongHoleIsSeveralRequests) {
    make();
    missing(1, 2500);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:1-1000 4:1001-2000 4:2001-2500");
}

TEST_F(RecoveryTest, ARequestLeadsOverTheWrap) {
    make();
    recovery->missing(0, base + numbering.last - 1, base + numbering.last + 2, 5, 9, 0);
    at(1 * ms_ns);
    ASSERT_EQ(asked[0].requests.size(), 1U);
    EXPECT_EQ(asked[0].requests[0].first, 4'294'967'294U);
    EXPECT_EQ(asked[0].requests[0].messages, 3U);
}

TEST_F(RecoveryTest, WhatARequestStillLacksIsAskedOfTheNextSource) {
    make(2);
    missing(1, 10);
    at(1 * ms_ns);
    EXPECT_EQ(requests(0), "4:1-10");
    found(4, 5);
    asked[0].next_answers.push_back([&](RepairAnswers& answers) { answers.finished(last_id()); });
    at(2 * ms_ns);
    found(9, 9);  // the block arrived after the source had finished
    at(10 * ms_ns);
    EXPECT_EQ(requests(1), "4:1-3 4:6-8 4:10-10");
    EXPECT_EQ(recovery->refused(0).read(Refusal::incomplete), 1U);
    EXPECT_EQ(requests(0), "");
}

TEST_F(RecoveryTest, ARefusalMovesOn) {
    make(2);
    missing(1, 10);
    at(1 * ms_ns);
    EXPECT_EQ(requests(0), "4:1-10");
    asked[0].next_answers.push_back(
        [&](RepairAnswers& answers) { answers.refused(last_id(), Refusal::not_kept); });
    at(2 * ms_ns);
    EXPECT_EQ(requests(1), "4:1-10");
    EXPECT_EQ(recovery->refused(0).read(Refusal::not_kept), 1U);
}

TEST_F(RecoveryTest, SoDoesSilence) {
    make(2);
    missing(1, 10);
    at(1 * ms_ns);
    at(21 * ms_ns - 1);
    EXPECT_EQ(requests(1), "");
    EXPECT_EQ(recovery->next_deadline_ns(), 21 * ms_ns);
    at(21 * ms_ns);
    EXPECT_EQ(requests(1), "4:1-10");
    EXPECT_EQ(recovery->refused(0).read(Refusal::no_answer), 1U);
    EXPECT_TRUE(asked[0].in_flight.empty());
}

TEST_F(RecoveryTest, AndASourceThatCannotBeAsked) {
    make(2);
    asked[0].refuses = Refusal::not_connected;
    missing(1, 10);
    at(1 * ms_ns);
    EXPECT_EQ(requests(1), "4:1-10");
    EXPECT_EQ(recovery->refused(0).read(Refusal::not_connected), 1U);
    EXPECT_EQ(count(RecoveryCount::requests), 1U);
}

TEST_F(RecoveryTest, AfterTheLastSourceTheFirstAgainAfterPausesThatDouble) {
    make();
    asked[0].refuses = Refusal::not_connected;
    missing(1, 1);
    std::vector<std::int64_t> tried_ms;
    std::uint64_t refusals = 0;
    for (std::int64_t time = 0; time <= 200 * ms_ns; time += ms_ns) {
        at(time);
        const std::uint64_t now_refused = recovery->refused(0).read(Refusal::not_connected);
        if (now_refused != refusals) {
            tried_ms.push_back(time / ms_ns);
        }
        refusals = now_refused;
    }
    EXPECT_EQ(tried_ms, (std::vector<std::int64_t>{1, 21, 61, 141}));
}

TEST_F(RecoveryTest, AHoleIsGivenUpInTheEnd) {
    config.give_up_after_ns = 50 * ms_ns;
    make();
    missing(1, 3);
    at(1 * ms_ns);
    at(50 * ms_ns);
    EXPECT_EQ(count(RecoveryCount::abandoned), 3U);
    EXPECT_EQ(recovery->in_flight(), 0U);
    EXPECT_TRUE(asked[0].in_flight.empty());
    EXPECT_EQ(recovery->next_deadline_ns(), Recovery::never_ns);
}

TEST_F(RecoveryTest, AndSaysIfNobodyWasEverAsked) {
    config.give_up_after_ns = 50 * ms_ns;
    make();
    asked[0].refuses = Refusal::not_connected;
    missing(1, 3);
    at(1 * ms_ns);
    at(50 * ms_ns);
    EXPECT_EQ(count(RecoveryCount::never_asked), 3U);
}

TEST_F(RecoveryTest, APassiveSourceIsWaitedForAndCostsNothing) {
    first_passive = true;
    make(2);
    missing(1, 3);
    at(1 * ms_ns);
    EXPECT_EQ(requests(0), "");
    at(21 * ms_ns - 1);
    EXPECT_EQ(requests(1), "");
    at(21 * ms_ns);
    EXPECT_EQ(requests(1), "4:1-3");
    EXPECT_EQ(count(RecoveryCount::requests), 1U);
}

TEST_F(RecoveryTest, TheBudgetOfMessagesHoldsBack) {
    config.messages_per_second = 10'000;  // 1000 at once, then 9 per millisecond
    config.answer_within_ns = 500 * ms_ns;
    make();
    missing(1, 2000);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:1-1000");
    EXPECT_EQ(count(RecoveryCount::postponed), 1U);
    const std::int64_t next_ns = recovery->next_deadline_ns();
    EXPECT_NEAR(static_cast<double>(next_ns), 1e6 + 1e9 * 1000 / 9000, 1.0);
    at(next_ns - 1);
    EXPECT_EQ(requests(), "");
    at(next_ns);
    EXPECT_EQ(requests(), "4:1001-2000");
}

TEST_F(RecoveryTest, SoDoesThatOfRequests) {
    config.requests_per_second = 20;  // 2 at once
    make();
    missing(1, 1);
    missing(3, 3);
    missing(5, 5);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:1-1 4:3-3");
    at(1 * ms_ns + 1000 * ms_ns / 18 + ms_ns);
    EXPECT_NE(requests().find("4:5-5"), std::string::npos);
}

TEST_F(RecoveryTest, RangesAreBoundedAndSaidToBe) {
    config.ranges_max = 2;
    make();
    missing(1, 3);
    missing(5, 3000);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:1-3 4:5-1004");
    EXPECT_EQ(count(RecoveryCount::untracked), 1996U);
    found(2, 2);  // would split them into three ranges
    EXPECT_EQ(imbalance(*recovery), "");
    EXPECT_EQ(count(RecoveryCount::repaired), 1U);
    EXPECT_EQ(count(RecoveryCount::untracked), 1997U);
}

TEST_F(RecoveryTest, WhatIsNotedTwiceIsTrackedOnce) {
    make();
    missing(4, 6);
    missing(2, 9);
    at(1 * ms_ns);
    EXPECT_EQ(requests(), "4:2-9");
    EXPECT_EQ(count(RecoveryCount::missing), 8U);
}

TEST_F(RecoveryTest, BlocksTakeTheRing) {
    make();
    missing(1, 3);
    const std::array<std::byte, 34> bytes{};
    asked[0].next_answers.push_back([&](RepairAnswers& answers) { answers.block(4, bytes); });
    at(1 * ms_ns);
    sink.full = true;
    asked[0].next_answers.push_back([&](RepairAnswers& answers) { answers.block(4, bytes); });
    at(2 * ms_ns);
    EXPECT_EQ(sink.carried, (std::vector<std::pair<std::uint16_t, std::size_t>>{{4, 34}}));
    EXPECT_EQ(count(RecoveryCount::repairs), 2U);
    EXPECT_EQ(count(RecoveryCount::repairs_dropped), 1U);
}

TEST_F(RecoveryTest, AnAnswerToNothingIsLetPass) {
    make();
    asked[0].next_answers.push_back([](RepairAnswers& answers) {
        answers.finished(77);
        answers.refused(78, Refusal::not_kept);
    });
    at(1 * ms_ns);
    EXPECT_EQ(recovery->refused(0).sum(), 0U);
}

TEST_F(RecoveryTest, TheEndGivesUpWhatIsOpen) {
    make();
    missing(1, 3);
    at(1 * ms_ns);
    missing(7, 7);
    recovery->finish();
    EXPECT_EQ(imbalance(*recovery), "");
    EXPECT_EQ(count(RecoveryCount::open), 0U);
    EXPECT_EQ(count(RecoveryCount::abandoned), 3U);
    EXPECT_EQ(count(RecoveryCount::never_asked), 1U);
    EXPECT_TRUE(asked[0].in_flight.empty());
}

}  // namespace
}  // namespace pinstrike::feed::test
