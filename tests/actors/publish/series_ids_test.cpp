// path: cold
#include "actors/publish/series_ids.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace pinstrike::actors {
namespace {

constexpr std::uint32_t today = 20261127;

class Ids : public ::testing::Test {
  public:
    ~Ids() override { std::filesystem::remove(file_); }

  protected:
    Ids() { std::filesystem::remove(file_); }

    [[nodiscard]] static feed::SeriesKey key(std::uint64_t name) { return {name, 100}; }

    /// A list of `count` series with high names.
    [[nodiscard]] static std::vector<feed::SeriesKey> list_of(std::uint64_t count) {
        std::vector<feed::SeriesKey> list;
        for (std::uint64_t i = 0; i < count; ++i) {
            list.push_back(key(1000 + i));
        }
        std::ranges::sort(list, feed::comes_before);
        return list;
    }

    const std::string file_ =
        ::testing::TempDir() + "pinstrike-ids-test" + std::to_string(::getpid());
};

TEST_F(Ids, follow_those_of_the_list_and_stay_after_a_restart) {
    {
        SeriesIds ids{file_, today, list_of(10)};
        EXPECT_EQ(ids.id_of(key(5)), 11U);
        EXPECT_EQ(ids.id_of(key(3)), 12U);
        EXPECT_EQ(ids.id_of(key(5)), 11U);
    }
    SeriesIds again{file_, today, list_of(10)};
    EXPECT_EQ(again.id_of(key(9)), 13U);
    EXPECT_EQ(again.id_of(key(3)), 12U);
    EXPECT_EQ(again.id_of(key(5)), 11U);
}

TEST_F(Ids, begin_anew_on_another_day_or_with_another_list) {
    SeriesIds{file_, today, list_of(10)}.id_of(key(5));
    EXPECT_EQ((SeriesIds{file_, today + 1, list_of(10)}.id_of(key(3))), 11U);
    EXPECT_EQ((SeriesIds{file_, today + 1, list_of(20)}.id_of(key(7))), 21U);
}

TEST_F(Ids, survive_a_file_whose_last_series_is_cut) {
    {
        SeriesIds ids{file_, today, list_of(0)};
        ids.id_of(key(5));
        ids.id_of(key(3));
    }
    std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);
    {
        SeriesIds ids{file_, today, list_of(0)};
        EXPECT_EQ(ids.id_of(key(5)), 1U);
        EXPECT_EQ(ids.id_of(key(8)), 2U) << "the cut one is not known any more";
    }
    EXPECT_EQ((SeriesIds{file_, today, list_of(0)}.id_of(key(8))), 2U);
}

TEST_F(Ids, of_listed_series_are_their_positions) {
    const auto list = list_of(10);
    SeriesIds ids{file_, today, list};
    EXPECT_EQ(ids.id_of(key(5)), 11U);
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_EQ(ids.id_of(list[i]), i + 1);
    }
    EXPECT_EQ(ids.id_of(key(6)), 12U);
}

TEST_F(Ids, are_given_without_a_file_too) {
    SeriesIds ids{"/no/such/folder/ids", today, list_of(4)};
    EXPECT_EQ(ids.error(), ENOENT);
    EXPECT_EQ(ids.id_of(key(5)), 5U);
    EXPECT_EQ(ids.id_of(key(6)), 6U);
}

TEST_F(Ids, say_that_they_are_not_kept_any_more) {
    std::filesystem::create_symlink("/dev/full", file_ + ".link");
    SeriesIds refused{file_ + ".link", today, list_of(4)};
    EXPECT_EQ(refused.error(), ELOOP);
    std::filesystem::remove(file_ + ".link");
    SeriesIds full{"/dev/full", today, list_of(4)};
    EXPECT_NE(full.error(), 0);
    SeriesIds kept{file_, today, list_of(4)};
    EXPECT_EQ(kept.id_of(key(5)), 5U);
    EXPECT_EQ(kept.error(), 0);
    EXPECT_EQ((SeriesIds{"", today, list_of(4)}.error()), 0) << "nobody wants them kept";
}

/// The limit of a file's size stands for a disk that becomes full.
TEST_F(Ids, say_when_a_write_fails_later) {
    SeriesIds ids{file_, today, list_of(4)};
    EXPECT_EQ(ids.id_of(key(5)), 5U);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{std::filesystem::file_size(file_), before.rlim_max};
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_EQ(ids.id_of(key(6)), 6U);
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(ids.error(), EFBIG);
    EXPECT_EQ(ids.id_of(key(7)), 7U);
}

}  // namespace
}  // namespace pinstrike::actors
