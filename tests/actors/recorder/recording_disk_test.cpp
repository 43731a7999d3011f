// path: cold
#include "actors/recorder/recording_disk.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;

class Disk : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "disk-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }

    void TearDown() override { fs::remove_all(folder_); }

    std::string folder_;
};

TEST_F(Disk, is_found_by_the_nearest_folder_that_exists) {
    const auto disk = find_recording_disk(folder_ + "/none/record");
    ASSERT_TRUE(disk);
    EXPECT_EQ(disk->folder, folder_);
    EXPECT_NE(disk->file_system, "");
    EXPECT_EQ(disk->total_bytes, fs::space(folder_).capacity);
    EXPECT_LE(disk->free_bytes, disk->total_bytes);
    EXPECT_EQ(disk->recorded_bytes, 0U);
}

TEST_F(Disk, knows_what_was_recorded) {
    const std::string path = folder_ + "/poller0-20261129T143000.123456789Z.pcapng";
    std::ofstream{path} << std::string(1000, '?');
    std::ofstream{folder_ + "/other"} << "?";
    EXPECT_EQ(find_recording_disk(folder_)->recorded_bytes, 1000U);
}

/// As sysfs has them: a link for each device, and a queue of whole devices only.
TEST_F(Disk, of_a_partition_has_the_cache_of_its_device) {
    const auto add = [&](const std::string& number, const std::string& device,
                         const std::string& cache) {
        fs::create_directories(folder_ + "/devices/" + device);
        fs::create_directories(folder_ + "/dev/block");
        fs::create_symlink("../../devices/" + device, folder_ + "/dev/block/" + number);
        if (cache.empty()) {
            std::ofstream{folder_ + "/devices/" + device + "/partition"} << "1\n";
        } else {
            fs::create_directories(folder_ + "/devices/" + device + "/queue");
            std::ofstream{folder_ + "/devices/" + device + "/queue/write_cache"} << cache << "\n";
        }
    };
    add("8:0", "pci/block/sda", "write back");
    add("8:1", "pci/block/sda/sda1", "");
    add("259:300", "virtual/block/dm-0", "write through");
    EXPECT_EQ(write_cache_of(makedev(8, 0), folder_), "write back");
    EXPECT_EQ(write_cache_of(makedev(8, 1), folder_), "write back");
    EXPECT_EQ(write_cache_of(makedev(259, 300), folder_), "write through");
    EXPECT_EQ(write_cache_of(makedev(0, 42), folder_), "");  // a file system without a device
}

TEST_F(Disk, is_measured_without_leaving_a_file) {
    constexpr std::uint64_t bytes = 4 << 20;
    const MeasuredWrites writes = measure_writes(*find_recording_disk(folder_), bytes, 0);
    EXPECT_EQ(writes.obstacle, "");
    EXPECT_EQ(writes.bytes, bytes);
    EXPECT_GT(writes.bytes_per_second, 0);
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Disk, is_not_measured_where_space_is_short_or_nothing_can_be_written) {
    auto disk = *find_recording_disk(folder_);
    EXPECT_EQ(measure_writes(disk, 1 << 20, disk.free_bytes).obstacle, "too little free space");
    disk.folder += "/none";
    const MeasuredWrites writes = measure_writes(disk, 1 << 20, 0);
    EXPECT_NE(writes.obstacle.find("No such file"), std::string::npos) << writes.obstacle;
    EXPECT_EQ(writes.bytes_per_second, 0);
}

}  // namespace
}  // namespace pinstrike::actors
