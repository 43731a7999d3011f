// path: cold
#include "feed/opra/traffic/universe.h"

#include "feed/opra/lines.h"
#include "feed/opra/test_symbols.h"
#include "feed/opra/traffic/reserved_symbols.h"
#include "tests/feed/opra/traffic/collected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace pinstrike::feed::opra::traffic {
namespace {

TEST(ActivityCurve, HasTheSkewOfTheDesignLoad) {
    constexpr std::size_t series_count = 1'500'000;
    constexpr int picks = 400'000;
    const ActivityCurve curve{series_count};
    Random random{7};

    struct {
        std::size_t rank;
        double share;
        int seen = 0;
    } points[] = {{1'000, 0.09}, {10'000, 0.23}, {100'000, 0.59}, {300'000, 0.82}};

    for (int i = 0; i < picks; ++i) {
        const SeriesIndex index = curve.pick(random);
        ASSERT_LT(index, series_count);
        for (auto& point : points) {
            point.seen += index < point.rank ? 1 : 0;
        }
    }
    for (const auto& point : points) {
        EXPECT_NEAR(static_cast<double>(point.seen) / picks, point.share, 0.005) << point.rank;
    }
}

TEST(ActivityCurve, ReachesEverySeriesOfAFew) {
    const ActivityCurve curve{3};
    Random random{1};
    std::set<SeriesIndex> seen;
    for (int i = 0; i < 1'000; ++i) {
        seen.insert(curve.pick(random));
    }
    EXPECT_EQ(seen.size(), 3U);
}

TEST(Universe, ListsEverySeriesOnce) {
    TrafficConfig config = small_day();
    config.series_count = 60'000;
    config.roots_count = 1'000;
    const std::vector<std::uint16_t> numbers{1, 2, 3, 201, 204};
    const auto lines = published_lines(numbers);
    const Universe universe{config, lines};
    EXPECT_EQ(universe.tests_begin(), config.series_count);
    std::set<std::tuple<bool, std::string_view, char, int, int, std::int32_t>> keys;
    std::set<std::string_view> symbols;
    for (std::size_t i = 0; i < universe.series().size(); ++i) {
        const Series& series = universe.series()[i];
        const Root& root = universe.root_of(series);
        const bool gth = i >= universe.gth_begin();
        const bool test = i >= universe.tests_begin() && !gth;
        EXPECT_TRUE(
            keys.emplace(gth, root.text(), series.letter, series.day, series.year, series.strike_e3)
                .second);
        EXPECT_EQ(is_test_symbol(symbol_word_of(root.text())), test) << root.text();
        EXPECT_EQ(use_of_line(lines[series.line].number), gth ? LineUse::gth : LineUse::regular);
        EXPECT_GT(series.strike_e3, 0);
        EXPECT_TRUE(series.letter >= 'A' && series.letter <= 'X');
        EXPECT_TRUE(series.day >= 1 && series.day <= 31 && series.year <= 99);
        symbols.insert(root.text());
    }
    EXPECT_GT(symbols.size(), 900U);
}

TEST(Universe, RootsDifferInActivity) {
    TrafficConfig config = small_day();
    config.series_count = 60'000;
    config.roots_count = 1'000;
    const std::vector<std::uint16_t> numbers{1, 2};
    const Universe universe{config, published_lines(numbers)};
    const ActivityCurve curve{config.series_count};
    Random random{3};
    std::vector<int> by_root(universe.roots().size());
    for (int i = 0; i < 100'000; ++i) {
        ++by_root[universe.series()[curve.pick(random)].root];
    }
    std::ranges::sort(by_root, std::greater{});
    int top_ten = 0;
    for (int i = 0; i < 10; ++i) {
        top_ten += by_root[static_cast<std::size_t>(i)];
    }
    EXPECT_GT(top_ten, 15'000);
    EXPECT_GT(by_root[500], 0);
    EXPECT_LT(by_root[500], 100);
}

TEST(ReservedSymbols, AgreeWithTheFilter) {
    for (const std::string_view symbol : reserved_symbols) {
        EXPECT_TRUE(is_test_symbol(symbol_word_of(symbol))) << symbol;
    }
    for (const std::string_view symbol :
         {"01N", "12P", "07V", "13A", "00A", "SPXW", "CB", "2SPY"}) {
        EXPECT_EQ(is_reserved_symbol(symbol), is_test_symbol(symbol_word_of(symbol))) << symbol;
    }
}

}  // namespace
}  // namespace pinstrike::feed::opra::traffic
