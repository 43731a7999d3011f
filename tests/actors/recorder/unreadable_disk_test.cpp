// path: cold
//
// Segments of which the disk cannot read some bytes (EIO): a repair takes nothing away that may be
// read another time, and readers go on behind such a place.
#include "feed/recording/recorded_packets.h"
#include "tests/actors/recorder/recorder_fixture.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct {
    ino_t file = 0;  ///< 0: all can be read
    off_t from = 0;
    off_t to = 0;
} unreadable;

}  // namespace

/// The program's pread() while these tests run.
extern "C" ssize_t pread_of_tests(int fd, void* to, std::size_t bytes, off_t at) asm("pread64");

extern "C" ssize_t pread_of_tests(int fd, void* to, std::size_t bytes, off_t at) {
    struct stat status {};

    if (unreadable.file != 0 && ::fstat(fd, &status) == 0 && status.st_ino == unreadable.file) {
        if (at >= unreadable.from && at < unreadable.to) {
            errno = EIO;
            return -1;
        }
        if (at < unreadable.from) {
            bytes = std::min(bytes, static_cast<std::size_t>(unreadable.from - at));
        }
    }
    return ::syscall(SYS_pread64, fd, to, bytes, at);
}

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;

class UnreadableDisk : public recorder_fixture::RecordedChunks {
  protected:
    void SetUp() override {
        RecordedChunks::SetUp();
        path_ = segments().front();
    }

    void TearDown() override {
        unreadable = {};
        RecordedChunks::TearDown();
    }

    /// From now on the disk cannot read these bytes of the segment.
    void fail(std::uint64_t from, std::uint64_t bytes) const {
        struct stat status {};

        ASSERT_EQ(::stat(path_.c_str(), &status), 0);
        unreadable = {status.st_ino, static_cast<off_t>(from), static_cast<off_t>(from + bytes)};
    }

    /// A sector within a chunk.
    void fail_in(std::size_t chunk) const { fail(whole_.chunks[chunk].offset + 8192, 4096); }

    /// The chunks without this one.
    [[nodiscard]] std::vector<feed::ChunkRecord> chunks_without(std::size_t chunk) const {
        std::vector<feed::ChunkRecord> chunks = whole_.chunks;
        chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(chunk));
        return chunks;
    }

    void remove_index() const { fs::remove(feed::index_path(path_)); }

    std::string path_;
};

TEST_F(UnreadableDisk, a_sector_costs_one_chunk) {
    fail_in(1);
    remove_index();
    const auto bytes = fs::file_size(path_);
    start_again();
    EXPECT_EQ(fs::file_size(path_), bytes);
    EXPECT_EQ(index().chunks, chunks_without(1));
    ASSERT_EQ(repaired_.size(), 1U);
    EXPECT_NE(repaired_[0].find("the disk cannot read all of it"), std::string::npos);
}

TEST_F(UnreadableDisk, no_packet_is_hidden_from_readers_without_an_index) {
    fail_in(1);
    remove_index();
    Problems problems;
    auto packets = feed::RecordedPackets::open(folder_, problems);
    ASSERT_TRUE(packets);
    packets->select({});
    std::size_t count = 0;
    while (packets->next()) {
        ++count;
    }
    EXPECT_EQ(count, 4000 - whole_.chunks[1].packets);
    EXPECT_EQ(packets->damage().size(), 1U);
}

TEST_F(UnreadableDisk, an_unfinished_segment_is_not_cut) {
    const auto bytes = whole_.chunks.back().offset + 10'000;
    fs::resize_file(path_, bytes);
    fail_in(1);
    start_again();
    EXPECT_EQ(fs::file_size(path_), bytes);
    fail(whole_.chunks.back().offset + 4096, 4096);
    start_again();
    EXPECT_EQ(fs::file_size(path_), bytes);
    unreadable = {};
    start_again();
    EXPECT_EQ(index().chunks.size(), whole_.chunks.size());
}

TEST_F(UnreadableDisk, a_segment_of_which_no_packet_can_be_read_stays) {
    fail(whole_.chunks[0].offset, fs::file_size(path_));
    remove_index();
    start_again();
    ASSERT_EQ(segments().size(), 1U);
    unreadable = {};
    start_again();
    EXPECT_EQ(index().chunks, whole_.chunks);
}

TEST_F(UnreadableDisk, a_compressed_segment_of_which_no_packet_can_be_read_stays) {
    compress(path_);
    path_ = segments().front();
    remove_index();
    std::fstream file{path_, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(4096);
    const auto behind_the_head = static_cast<std::streamoff>(fs::file_size(path_)) - 4096 - 1000;
    const std::string damage(static_cast<std::size_t>(behind_the_head), '?');
    file.write(damage.data(), behind_the_head);
    file.close();
    start_again();
    EXPECT_EQ(segments().size(), 1U);
}

TEST_F(UnreadableDisk, an_index_with_more_chunks_than_can_be_read_stays) {
    Problems problems;
    fail_in(1);
    feed::SegmentScan scan{feed::SegmentFile::open(path_, problems).value(), nullptr};
    while (scan.step()) {
    }
    EXPECT_EQ(scan.index().chunks.size() + 1, whole_.chunks.size());
    EXPECT_NE(scan.repair(problems).find("left as it is"), std::string::npos);
    unreadable = {};
    EXPECT_EQ(index().chunks, whole_.chunks);
}

TEST_F(UnreadableDisk, a_kept_segment_is_neither_cut_nor_removed) {
    ASSERT_TRUE(feed::mark_kept(path_, true));
    const auto bytes = whole_.chunks.back().offset + 10'000;
    fs::resize_file(path_, bytes);
    start_again();
    EXPECT_EQ(fs::file_size(path_), bytes);
    fs::resize_file(path_, whole_.first_chunk_at);
    start_again();
    EXPECT_EQ(segments().size(), 1U);
}

}  // namespace
}  // namespace pinstrike::actors
