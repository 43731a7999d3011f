// path: cold
#include "actors/recorder/compressor_task.h"

#include "feed/recording/segment_file.h"
#include "tests/actors/recorder/recorder_fixture.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;

using namespace recorder_fixture;

/// Three closed segments. The names of their pollers do not sort by age.
class Compressor : public Recorder {
  protected:
    void SetUp() override {
        Recorder::SetUp();
        open();
        record();
        finish();
        const std::string made = segments().front();
        constexpr std::array<const char*, 3> pollers{"c", "b", "a"};
        for (std::size_t i = 0; i < paths_.size(); ++i) {
            paths_[i] = feed::segment_path(folder_, pollers[i],
                                           first_packet_ns + static_cast<std::int64_t>(i) * ms_ns);
            fs::copy(made, paths_[i]);
            fs::copy(feed::index_path(made), feed::index_path(paths_[i]));
        }
        ASSERT_TRUE(feed::remove_segment(made));
    }

    /// Steps until another segment was compressed, or could not be.
    void work(CompressorTask& task) {
        const std::uint64_t before = counters_.sum_of_ends();
        for (int i = 0; i < 1000 && counters_.sum_of_ends() == before; ++i) {
            now_ns_ += 100 * ms_ns;
            task.step(now_ns_);
        }
        EXPECT_EQ(counters_.sum_of_ends(), before + 1);
    }

    /// Which of the segments are compressed, from the oldest one on.
    [[nodiscard]] std::string compressed() const {
        std::string marks;
        for (const std::string& path : paths_) {
            marks += fs::exists(path) ? '-' : '+';
        }
        return marks;
    }

    struct Ends : RecorderCounters {
        [[nodiscard]] std::uint64_t sum_of_ends() const {
            return read(RecorderCount::compressed) + read(RecorderCount::compress_failures);
        }
    };

    Ends counters_;
    std::array<std::string, 3> paths_;
};

TEST_F(Compressor, begins_with_the_oldest_of_all_pollers) {
    CompressorTask task{folder_, 1, counters_};
    work(task);
    EXPECT_EQ(compressed(), "+--");
    work(task);
    EXPECT_EQ(compressed(), "++-");
}

TEST_F(Compressor, gets_past_one_that_cannot_be_compressed) {
    CompressorTask task{folder_, 1, counters_};
    const std::string obstacle = paths_[0] + ".zst.part";
    fs::create_directory(obstacle);
    work(task);
    EXPECT_EQ(counters_.read(RecorderCount::compress_failures), 1U);
    EXPECT_NE(task.failure().find(obstacle), std::string::npos) << task.failure();
    work(task);
    work(task);
    EXPECT_EQ(compressed(), "-++");
    work(task);
    EXPECT_EQ(counters_.read(RecorderCount::compress_failures), 2U);
    fs::remove(obstacle);
    work(task);
    EXPECT_EQ(compressed(), "+++");
}

/// The recorder removes the oldest segments, and may choose one just before it is opened.
TEST_F(Compressor, passes_over_one_that_is_removed_meanwhile) {
    CompressorTask task{folder_, 1, counters_};
    ASSERT_TRUE(task.step(now_ns_));
    ASSERT_TRUE(feed::remove_segment(paths_[0]));
    work(task);
    EXPECT_EQ(counters_.read(RecorderCount::compress_failures), 0U);
    EXPECT_EQ(counters_.read(RecorderCount::compressed), 1U);
    EXPECT_EQ(compressed(), "++-") << "the first is gone, the second compressed";
    EXPECT_FALSE(fs::exists(paths_[0] + ".zst"));
    EXPECT_FALSE(fs::exists(paths_[0] + ".zst.part"));
}

TEST_F(Compressor, goes_on_if_the_clock_is_set_back) {
    CompressorTask task{folder_, 1, counters_};
    work(task);
    now_ns_ -= 3'600'000 * ms_ns;
    work(task);
    work(task);
    EXPECT_EQ(compressed(), "+++");
}

}  // namespace
}  // namespace pinstrike::actors
