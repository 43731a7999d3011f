// A write of the busiest series during a read, and a read during a write, at each place of the
// ranking. A weave point inside the loop of one side runs the other side, so the order is always
// the same.
#include "actors/book/busiest.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace pinstrike::actors::test {
namespace {

BusiestBoard::Ranking ranking_of(std::uint64_t number) {
    BusiestBoard::Ranking ranking;
    for (BusySeries& series : ranking) {
        series.key.name = number;
        series.quotes = number;
    }
    return ranking;
}

std::string_view point;
std::size_t visits_left = 0;
std::function<void()> meanwhile;

/// Runs `meanwhile` once, when the thread passes `where` for the `visit`-th time during `body`.
void run_at(std::string_view where, std::size_t visit, std::function<void()> other,
            const std::function<void()>& body) {
    point = where;
    visits_left = visit;
    meanwhile = std::move(other);
    weave_point = [](const char* here) {
        if (here == point && --visits_left == 0) {
            weave_point = nullptr;
            meanwhile();
        }
    };
    body();
    ASSERT_EQ(visits_left, 0U);
}

class WeaveBoard : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(EachPlace, WeaveBoard,
                         testing::Range(std::size_t{1}, BusiestBoard::places + 1));

TEST_P(WeaveBoard, a_write_during_a_read_is_read_whole) {
    BusiestBoard board;
    board.publish(ranking_of(1));
    std::optional<BusiestBoard::Ranking> read;
    run_at(
        "board:place_read", GetParam(), [&] { board.publish(ranking_of(2)); },
        [&] { read = board.read(); });
    ASSERT_TRUE(read);
    for (const BusySeries& series : *read) {
        EXPECT_EQ(series.key.name, 2U);
        EXPECT_EQ(series.quotes, 2U);
    }
}

TEST_P(WeaveBoard, a_read_during_a_write_gets_nothing) {
    BusiestBoard board;
    board.publish(ranking_of(1));
    std::optional<BusiestBoard::Ranking> read = ranking_of(0);
    run_at(
        "board:place_written", GetParam(), [&] { read = board.read(); },
        [&] { board.publish(ranking_of(2)); });
    EXPECT_FALSE(read);
    ASSERT_TRUE(board.read());
    EXPECT_EQ(board.read()->back().quotes, 2U);
}

}  // namespace
}  // namespace pinstrike::actors::test
