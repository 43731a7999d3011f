// path: cold
//
// Two threads write and read the board of busiest series at the same time. Each read returns one
// whole ranking. Also run under the thread sanitizer.
#include "actors/book/busiest.h"

#include <gtest/gtest.h>

#include <thread>

namespace pinstrike::actors::test {
namespace {

BusiestBoard::Ranking ranking_of(std::uint64_t number) {
    BusiestBoard::Ranking ranking;
    for (BusySeries& series : ranking) {
        const auto price = static_cast<std::int64_t>(number);
        series = {{number, price}, number, price, -price};
    }
    return ranking;
}

TEST(BusiestBoard, ReadsOneWritingWhole) {
    constexpr std::uint64_t writings = 20'000;
    BusiestBoard board;
    board.publish(ranking_of(1));
    std::atomic<bool> reading{false};
    std::thread writer{[&board, &reading] {
        while (!reading.load()) {
            std::this_thread::yield();
        }
        for (std::uint64_t number = 2; number <= writings; ++number) {
            board.publish(ranking_of(number));
        }
    }};
    std::uint64_t latest = 0;
    while (latest < writings) {
        const auto ranking = board.read();
        reading.store(true);
        if (!ranking) {
            continue;  // it is being written: no ranking instead of a mixture
        }
        const std::uint64_t number = ranking->front().quotes;
        EXPECT_GE(number, latest);
        latest = number;
        for (const BusySeries& series : *ranking) {
            EXPECT_EQ(series.key.name, number);
            EXPECT_EQ(series.quotes, number);
            EXPECT_EQ(series.bid_e8, static_cast<std::int64_t>(number));
            EXPECT_EQ(series.offer_e8, -static_cast<std::int64_t>(number));
        }
    }
    writer.join();
}

}  // namespace
}  // namespace pinstrike::actors::test
