// path: cold
//
// Outputs on file systems that can insert bytes, and on those that cannot.
#include "actors/export/export_file.h"

#include "config/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace pinstrike::actors {
namespace {

class ExportFileTest : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        std::string name = std::string{GetParam()} + "/pinstrike-export-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
    }

    void TearDown() override { std::filesystem::remove_all(folder); }

    static std::span<const std::byte> bytes_of(const std::string& text) {
        return std::as_bytes(std::span{text});
    }

    std::string content() const {
        std::ifstream file{path(), std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    std::string path() const { return folder + "/file"; }

    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator{folder}, {}));
    }

    std::string folder;
    std::atomic<bool> cancelled{false};
};

INSTANTIATE_TEST_SUITE_P(Folders, ExportFileTest, testing::Values("/tmp", "/dev/shm"));

TEST_P(ExportFileTest, the_beginning_comes_before_what_was_written_first) {
    for (const std::size_t beginning : {std::size_t{8}, std::size_t{4096}, std::size_t{20'480}}) {
        for (const std::size_t rest : {std::size_t{0}, std::size_t{100}, std::size_t{9'000'001}}) {
            ExportFile file{path(), true, cancelled};
            std::string records;
            for (std::size_t i = 0; i < rest; ++i) {
                records += static_cast<char>('a' + i % 23);
            }
            const std::string first(beginning, 'M');
            ASSERT_TRUE(file.open());
            ASSERT_TRUE(file.write(bytes_of(records)));
            ASSERT_TRUE(file.write_beginning(bytes_of(first)));
            ASSERT_TRUE(file.finish());
            ASSERT_TRUE(file.commit()) << file.error();
            EXPECT_TRUE(content() == first + records) << beginning << " " << rest;
            EXPECT_EQ(files(), 1U);
        }
    }
}

TEST_P(ExportFileTest, without_a_commit_there_is_no_file) {
    {
        ExportFile file{path(), false, cancelled};
        ASSERT_TRUE(file.open());
        ASSERT_TRUE(file.write(bytes_of("row\n")));
        EXPECT_EQ(files(), 1U);
        EXPECT_FALSE(std::filesystem::exists(path()));
    }
    EXPECT_EQ(files(), 0U);
}

TEST_P(ExportFileTest, a_folder_that_is_missing_is_named) {
    ExportFile file{folder + "/missing/file", false, cancelled};
    EXPECT_FALSE(file.open());
    EXPECT_EQ(file.error(), folder + "/missing/file: No such file or directory");
    EXPECT_FALSE(file.write(bytes_of("row\n")));
    EXPECT_FALSE(file.commit());
}

TEST_P(ExportFileTest, a_pipe_without_a_reader_is_waited_for_until_it_is_cancelled) {
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    ExportFile file{path(), false, cancelled};
    cancelled = true;
    EXPECT_FALSE(file.open());
}

}  // namespace
}  // namespace pinstrike::actors
