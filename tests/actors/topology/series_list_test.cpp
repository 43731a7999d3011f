#include "actors/topology/series_list.h"

#include "actors/book/book.h"
#include "actors/poller/router.h"
#include "tests/actors/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SeriesListTest : public ::testing::Test {
  public:
    ~SeriesListTest() override { std::filesystem::remove_all(folder_); }

  protected:
    SeriesListTest() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directory(folder_);
        config_.series_map = file_.string();
        config_.series_map_place = pinstrike::Place{"feed.yaml", 7, 13};
        config_.actors.get<BookConfig>().series_capacity = 1000;
        for (const std::uint16_t number :
             {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{201}}) {
            feed::LineConfig line;
            line.number = number;
            config_.lines.push_back(line);
        }
        set_cores(1);
    }

    void set_cores(unsigned count) {
        config_.cores.clear();
        for (unsigned i = 0; i < count; ++i) {
            config_.cores.push_back({.name = "core" + std::to_string(i)});
        }
    }

    SeriesList read(const std::string& text) {
        std::ofstream{file_} << text;
        return read_series_list(config_, problems_);
    }

    /// Rows of roots with a hundred strikes each.
    static std::string rows(unsigned count) {
        std::string text;
        for (unsigned i = 0; i < count; ++i) {
            text.append("R").append(std::to_string(i / 100)).append(",A1626,,");
            text.append(std::to_string(i % 100 + 1)).append(".5,1,\n");
        }
        return text;
    }

    [[nodiscard]] std::string reported() const {
        std::string text;
        for (const Problem& problem : problems_) {
            text += problem.place.text() + ": " + problem.text + "\n";
        }
        return text;
    }

    std::filesystem::path folder_ =
        std::filesystem::path{::testing::TempDir()} / ("series_list" + std::to_string(::getpid()));
    std::filesystem::path file_ = folder_ / "map.csv";
    FeedConfig config_;
    Problems problems_;
};

TEST_F(SeriesListTest, no_key_no_series) {
    config_.series_map = "";
    const SeriesList list = read_series_list(config_, problems_);
    EXPECT_EQ(list.file, "");
    EXPECT_EQ(list.by_core.size(), 1U);
    EXPECT_EQ(to_text(list, config_), "");
    EXPECT_EQ(reported(), "");
}

TEST_F(SeriesListTest, takes_the_series_of_its_lines_once) {
    const SeriesList list = read(
        "Symbol,Expiration,Reserved,Strike,Line,Reserved\n"
        "SPY,A1626,,100.0,1,\n"
        "SPY,A1626,,100.0,201,\n"  // of the other session
        "QQQ,A1626,,100.0,3,\n"    // a line that is not configured
        "SPY,A1626,,100.00,2,\n"   // repeated: the lowest line counts
        "ZVZZT,A1626,,100.0,1,\n"  // a test
        "SPY,A1626,,100.0\n");
    EXPECT_EQ(reported(), "");
    ASSERT_EQ(list.by_core.size(), 1U);
    const auto gth = [](const feed::SeriesMap& map) {
        return std::pair{map.series.gth(), map.mapped_line};
    };
    ASSERT_EQ(list.by_core[0].size(), 2U);
    EXPECT_EQ(gth(list.by_core[0][0]), std::pair(false, std::uint16_t{1}));
    EXPECT_EQ(gth(list.by_core[0][1]), std::pair(true, std::uint16_t{201}));
    for (const SeriesRow row :
         {SeriesRow::elsewhere, SeriesRow::repeated, SeriesRow::test, SeriesRow::malformed}) {
        EXPECT_EQ(list.count(row), 1U) << row_of(row).name;
    }
    EXPECT_EQ(list.count(SeriesRow::announced), 2U);
    const std::string text = to_text(list, config_);
    EXPECT_THAT(text, HasSubstr("map.csv: 2 announced, capacity 1000\n"));
    EXPECT_THAT(text, HasSubstr("map.csv:7: found 4 fields, expected 6\n"));
}

TEST_F(SeriesListTest, keeps_test_symbols_where_the_feed_does) {
    config_.test_symbols = true;
    EXPECT_EQ(read("ZVZZT,A1626,,100.0,1,\n").by_core[0].size(), 1U);
}

TEST_F(SeriesListTest, deals_as_the_router_does) {
    constexpr unsigned cores_count = 3;
    for (const Sharding sharding : {Sharding::series, Sharding::underlying}) {
        config_.sharding = sharding;
        set_cores(cores_count);
        const SeriesList list = read(rows(900));
        std::vector<Producer<feed::Event>> producers;
        std::vector<Consumer<feed::Event>> consumers;
        for (unsigned i = 0; i < cores_count; ++i) {
            auto halves = Ring<feed::Event>::make(1024);
            producers.push_back(std::move(halves.producer));
            consumers.push_back(std::move(halves.consumer));
        }
        Router router{{.sharding = sharding, .lines_max = 1},
                      std::move(producers),
                      std::vector<Parking*>(cores_count)};
        router.begin(0);
        std::size_t total = 0;
        for (unsigned i = 0; i < cores_count; ++i) {
            total += list.by_core[i].size();
            EXPECT_EQ(list.counts[i], list.by_core[i].size());
            for (const feed::SeriesMap& map : list.by_core[i]) {
                const feed::Event event = test_events::quote_of(map.series, 1);
                router.push({&event, 1});
            }
            router.publish();
            EXPECT_EQ(router.counters(i).read(RingCount::pushed), list.by_core[i].size());
        }
        EXPECT_EQ(total, 900U);
    }
}

TEST_F(SeriesListTest, as_many_as_the_books_hold_are_taken) {
    EXPECT_EQ(read(rows(1000)).counts, std::vector<std::size_t>{1000});
    EXPECT_EQ(reported(), "");
}

TEST_F(SeriesListTest, more_series_than_the_books_hold_are_refused) {
    read(rows(1001));
    EXPECT_EQ(reported(), "feed.yaml:7:13: series_map: found 1001 series in " + file_.string() +
                              ", expected at most 1000: book.series_capacity\n");
}

TEST_F(SeriesListTest, far_more_are_not_all_kept) {
    const SeriesList list = read(rows(50'000));
    EXPECT_THAT(reported(), HasSubstr("found at least 2001 series"));
    EXPECT_EQ(list.by_core[0].size(), 2001U);
}

TEST_F(SeriesListTest, repeated_rows_are_no_series) {
    std::string text;
    for (int i = 0; i < 20; ++i) {
        text += rows(600);
    }
    const SeriesList list = read(text);
    EXPECT_EQ(reported(), "");
    EXPECT_EQ(list.count(SeriesRow::announced), 600U);
    EXPECT_EQ(list.count(SeriesRow::repeated), 19U * 600U);
}

/// Line 7 is not taken by the feed, but its series have ids, so that another host has the same.
TEST_F(SeriesListTest, an_id_is_the_position_in_the_sorted_list) {
    config_.publish.memory = PublishMemory::shm;
    const SeriesList list = read(
        "SPX,A1626,,200.0,1,\n"
        "QQQ,M1626,,50.0,7,\n"
        "SPX,M1626,,200.0,1,\n"
        "SPX,A1626,,100.0,1,\n"
        "QQQ,A1626,,50.0,1,\n"
        "SPX,A1626,,200.0,1,\n");
    EXPECT_EQ(reported(), "");
    EXPECT_EQ(list.listed.size(), 5U);
    std::map<std::uint32_t, std::string> found;
    for (const feed::SeriesMap& map : list.by_core[0]) {
        const auto bytes = map.series.bytes();
        found[map.id] = std::string{bytes.data(), 3} + (map.series.call() ? 'C' : 'P') +
                        std::to_string(map.series.strike_e8 / 100'000'000);
    }
    const std::map<std::uint32_t, std::string> expected{
        {1, "QQQC50"}, {3, "SPXC100"}, {4, "SPXC200"}, {5, "SPXP200"}};
    EXPECT_EQ(found, expected);
}

TEST_F(SeriesListTest, a_core_that_gets_more_than_its_share_is_refused) {
    set_cores(4);
    config_.sharding = Sharding::underlying;
    std::string text;
    for (unsigned i = 0; i < 900; ++i) {
        text.append("SPX,A1626,,").append(std::to_string(i + 1)).append(".0,1,\n");
    }
    read(text);
    EXPECT_EQ(problems_.size(), 1U);
    EXPECT_THAT(reported(), HasSubstr("found 900 series of core"));
    EXPECT_THAT(reported(),
                HasSubstr(std::to_string(series_share(config_.actors.get<BookConfig>(), 4, true))));
}

TEST_F(SeriesListTest, a_file_without_a_series_is_refused_and_says_why) {
    read("Symbol,Expiration\nwhat,is,this\n");
    ASSERT_EQ(problems_.size(), 2U);
    EXPECT_EQ(problems_[0].place.text(), "feed.yaml:7:13");
    EXPECT_THAT(problems_[0].text, HasSubstr("found no series in"));
    EXPECT_EQ(problems_[1].place.text(), file_.string() + ":2");
}

TEST_F(SeriesListTest, what_cannot_be_read_is_refused) {
    static_cast<void>(read_series_list(config_, problems_));
    EXPECT_THAT(reported(), ::testing::StartsWith("feed.yaml:7:13: series_map: " + file_.string() +
                                                  " cannot be read: "));
}

TEST_F(SeriesListTest, of_a_folder_the_newest_file_is_read) {
    config_.series_map = folder_.string();
    static_cast<void>(read_series_list(config_, problems_));
    EXPECT_THAT(reported(), HasSubstr("feed.yaml:7:13: series_map: found no such file"));
    problems_.clear();
    std::ofstream{folder_ / "OPRASymbolMapping_20260219_230000.csv"} << rows(3);
    std::ofstream{folder_ / "OPRASymbolMapping_20260220_230000.csv"} << rows(5);
    const SeriesList list = read_series_list(config_, problems_);
    EXPECT_EQ(reported(), "");
    EXPECT_THAT(list.counts, ElementsAre(5));
    EXPECT_THAT(list.file, HasSubstr("20260220"));
}

}  // namespace
}  // namespace pinstrike::actors
