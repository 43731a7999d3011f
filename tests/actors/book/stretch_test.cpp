// path: cold
//
// The book looks up the entries of many messages before it applies the first message.
#include "tests/actors/book/events.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <vector>

namespace pinstrike::actors::test {
namespace {

constexpr unsigned series_count = 5'000;
constexpr std::uint16_t stretch_line = 4;

feed::SeriesKey key_at(unsigned index) {
    const std::array symbol{static_cast<char>('A' + index / 26 % 26),
                            static_cast<char>('A' + index % 26), '\0'};
    return key_of(symbol.data(), 'A', 16, 27, std::int64_t{1 + index} * 1'00000000);
}

/// One batch of many stretches, with trades and appendages between quotes, fills the table. The
/// first message of a series inserts an entry and thereby moves other entries. Later messages of
/// the same stretch were looked up before that move.
TEST(BookStretches, miss_no_message_whose_entry_moves_within_one) {
    const auto book = std::make_unique<Book>(BookConfig{.series_capacity = series_count}, 1);
    book->on_start({});
    Events events;
    std::mt19937 random{7};
    std::vector<std::uint64_t> quotes(series_count);
    std::vector<std::uint64_t> trades(series_count);
    std::vector<std::int32_t> bids(series_count);
    std::uint32_t sequence = 0;
    unsigned entered = 0;
    while (entered < series_count || sequence < 6 * series_count) {
        const bool enters = entered < series_count && random() % 4 == 0;
        const unsigned index =
            enters || entered == 0 ? entered++ : static_cast<unsigned>(random() % entered);
        if (!enters && random() % 8 == 0) {
            events.trade(key_at(index), stretch_line, ++sequence, ' ', 5, 1);
            ++trades[index];
            continue;
        }
        bids[index] = static_cast<std::int32_t>(++sequence);
        const char indicator = random() % 8 == 0 ? 'G' : 'F';  // own bid, appendage's offer
        events.quote(key_at(index), stretch_line, sequence,
                     {.indicator = indicator, .bid = bids[index]});
        ++quotes[index];
    }
    events.play(*book);
    EXPECT_EQ(book->series_count(), series_count);
    for (unsigned index = 0; index < series_count; ++index) {
        const auto state = book->find(key_at(index));
        ASSERT_TRUE(state.has_value()) << index;
        ASSERT_EQ(state->quotes, quotes[index]) << index;
        ASSERT_EQ(state->trades, trades[index]) << index;
        if (quotes[index] != 0) {
            ASSERT_TRUE(state->bid.has_value()) << index;
            ASSERT_EQ(state->bid->price.value, bids[index]) << index;
        }
    }
}

}  // namespace
}  // namespace pinstrike::actors::test
