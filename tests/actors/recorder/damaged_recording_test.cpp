// path: cold
//
// What of recorded segments survives damage, and which are removed.
#include "feed/recording/followed_recording.h"
#include "feed/recording/recorded_packets.h"
#include "feed/recording/segment_file.h"
#include "tests/actors/recorder/recorder_fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;

using namespace recorder_fixture;

class Damaged : public RecordedChunks {
  protected:
    [[nodiscard]] std::uint64_t packets_of(std::size_t chunk) const {
        return whole_.chunks[chunk].packets;
    }
};

TEST_F(Damaged, chunk_is_skipped_and_reported) {
    damage(whole_.chunks[1].offset + 5000, 10);
    EXPECT_EQ(replayed().size(), 4000 - packets_of(1));
    EXPECT_NE(complaint_.find("1 damaged chunks"), std::string::npos) << complaint_;
}

TEST_F(Damaged, head_of_a_chunk_hides_nothing_behind_it) {
    damage(whole_.chunks[1].offset, 64);
    EXPECT_EQ(replayed().size(), 4000 - packets_of(1));
    EXPECT_NE(complaint_.find("damaged"), std::string::npos) << complaint_;
}

/// Type and length of its first block. A reader that passed over it would lose chunks behind it.
TEST_F(Damaged, length_of_a_chunk_head_hides_nothing_behind_it) {
    using namespace std::string_view_literals;
    for (const std::string_view block :
         {"\x50\x48\x43\x80\x0C\0\0\0"sv, "\x50\x48\x43\x80\0\x20\0\0"sv,
          "\x50\x48\x43\x80\0\0\x18\0"sv, "\x06\0\0\0\0\0\x18\0"sv, "<<<<<<<<"sv}) {
        damage(whole_.chunks[0].offset, block);
        complaint_.clear();
        EXPECT_EQ(replayed().size(), 4000 - packets_of(0));
        EXPECT_NE(complaint_.find("1 damaged chunks"), std::string::npos) << complaint_;
    }
}

TEST_F(Damaged, lost_index_is_made_again) {
    fs::remove(feed::index_path(segments().front()));
    start_again();
    EXPECT_EQ(index().chunks, whole_.chunks);
    EXPECT_EQ(repaired_.size(), 1U);
}

TEST_F(Damaged, index_without_its_segment_is_removed) {
    const std::string lost = feed::segment_path(folder_, "poller0", first_packet_ns - 1);
    fs::copy(feed::index_path(segments().front()), feed::index_path(lost));
    start_again();
    EXPECT_FALSE(fs::exists(feed::index_path(lost)));
    EXPECT_TRUE(fs::exists(feed::index_path(segments().front())));
}

TEST_F(Damaged, wrong_index_is_made_again) {
    std::fstream file{feed::index_path(segments().front()),
                      std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(100);
    file.write("?", 1);
    file.close();
    start_again();
    EXPECT_EQ(index().chunks, whole_.chunks);
}

TEST_F(Damaged, unfinished_segment_is_cut_behind_its_last_whole_block) {
    const feed::ChunkRecord& last = whole_.chunks.back();
    fs::resize_file(segments().front(), last.offset + 10'000);
    start_again();
    const feed::SegmentIndex found = index();
    ASSERT_EQ(found.chunks.size(), whole_.chunks.size());
    EXPECT_EQ(found.chunks.back().packets, (10'000U - 192) / 1032);
    EXPECT_EQ(replayed().size(), 4000 - last.packets + found.chunks.back().packets);
    EXPECT_EQ(complaint_, "");
}

/// A chunk of this program has space behind its packets. In this one, packet blocks leave none.
TEST_F(Damaged, unfinished_chunk_without_space_behind_its_packets_is_cut) {
    const auto put = [](std::string& bytes, std::uint32_t value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);  // tidy: an integer
    };
    constexpr std::size_t blocks_bytes = nic::chunk_bytes_max - nic::chunk_head_bytes - 8;
    std::string blocks;
    while (blocks.size() < blocks_bytes) {
        const std::size_t left = blocks_bytes - blocks.size();
        const auto bytes = static_cast<std::uint32_t>(left < 2048 ? left : 1024);
        for (const std::uint32_t word : {6U, bytes, 1U, 0U, 1U, bytes - 32, bytes - 32}) {
            put(blocks, word);
        }
        blocks += std::string(bytes - 32, 'x');
        put(blocks, bytes);
    }
    nic::ChunkHead head;
    head.bytes = nic::chunk_bytes_max;
    std::array<std::byte, nic::chunk_head_bytes> head_bytes{};
    nic::store_chunk_head(head_bytes, head);
    const std::string path = segments().front();
    std::ofstream file{path, std::ios::app | std::ios::binary};
    for (const std::byte byte : head_bytes) {
        file.put(static_cast<char>(byte));
    }
    file << blocks;
    file.close();
    start_again();
    const feed::SegmentIndex found = index();
    ASSERT_EQ(found.chunks.size(), whole_.chunks.size() + 1);
    EXPECT_EQ(found.chunks.back().packets, blocks_bytes / 1024 - 1);
}

TEST_F(Damaged, whole_segment_is_left_alone) {
    start_again();
    EXPECT_TRUE(repaired_.empty());
}

/// A recorder that is killed between the making of a segment and the write of its head leaves an
/// empty one. What only looks like a segment is not touched.
TEST_F(Damaged, segment_without_a_head_is_removed_at_the_start) {
    const std::string headless = feed::segment_path(folder_, "poller0", first_packet_ns + 1);
    const std::string kept = feed::segment_path(folder_, "poller0", first_packet_ns + 2);
    const std::string foreign = folder_ + "/ticket.pcapng";
    const std::ofstream made{headless};
    const std::ofstream marked{kept};
    ASSERT_TRUE(feed::mark_kept(kept, true));
    fs::copy(segments().front(), foreign);
    fs::resize_file(foreign, fs::file_size(foreign) - 100);
    fs::last_write_time(foreign, fs::file_time_type::min());
    const auto bytes = fs::file_size(foreign);
    EXPECT_EQ(feed::segment_to_remove(folder_, {INT64_MAX, 0, 0}), segments().front());
    start_again();
    EXPECT_FALSE(fs::exists(headless));
    EXPECT_TRUE(fs::exists(kept));
    EXPECT_EQ(fs::file_size(foreign), bytes);
    ASSERT_EQ(repaired_.size(), 3U);
    EXPECT_NE(repaired_[0].find("its head was not written"), std::string::npos) << repaired_[0];
    EXPECT_NE(repaired_[2].find("does not belong to the recording"), std::string::npos)
        << repaired_[2];
}

TEST_F(Damaged, segment_with_a_damaged_head_stays) {
    damage(0, 100);
    fs::resize_file(segments().front(), whole_.chunks[0].offset + 4096);
    start_again();
    EXPECT_EQ(segments().size(), 1U);
}

/// As after a crash between the rename of the compressed file and the removal of the segment.
TEST_F(Damaged, segment_that_was_compressed_whole_is_removed) {
    const std::string plain = segments().front();
    const std::string kept = folder_ + "/kept";
    fs::copy(plain, kept);
    compress(plain);
    fs::rename(kept, plain);
    const std::string compressed = segments().front();
    const auto bytes = fs::file_size(compressed);
    std::ofstream{compressed, std::ios::app} << "?";  // no seek table
    start_again();
    EXPECT_TRUE(fs::exists(plain));
    fs::resize_file(compressed, bytes);
    start_again();
    EXPECT_FALSE(fs::exists(plain));
    EXPECT_EQ(replayed(), first_numbers(4000));
    EXPECT_EQ(complaint_, "");
}

/// Commands that list the segments open some of them later.
TEST_F(Damaged, segment_is_found_by_its_name_after_it_was_compressed) {
    const std::string plain = segments().front();
    compress(plain);
    Problems problems;
    const auto file = feed::SegmentFile::open(plain, problems);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->path(), plain + ".zst");
    auto reader = nic::CaptureReader::open(plain, problems);
    ASSERT_TRUE(reader);
    std::size_t count = 0;
    for (nic::CapturedFrame frame; reader->next(frame); ++count) {
    }
    EXPECT_EQ(count, 4000U);
    ASSERT_TRUE(feed::remove_segment(plain));
    EXPECT_TRUE(segments().empty());
    EXPECT_FALSE(feed::SegmentFile::open(plain, problems));
    EXPECT_EQ(problems.size(), 1U);
}

TEST_F(Damaged, segments_that_are_read_are_not_removed) {
    const std::string plain = segments().front();
    const feed::KeepLimits none{INT64_MAX, 0, 0};
    for (const std::string& path : {plain, plain + ".zst"}) {
        Problems problems;
        {
            const auto file = feed::SegmentFile::open(path, problems);
            EXPECT_EQ(feed::segment_to_remove(folder_, none), "");
            EXPECT_FALSE(file->is_being_written());
            EXPECT_EQ(feed::segment_to_remove(folder_, none), "");
        }
        {
            const auto reader = nic::CaptureReader::open(path, problems);
            EXPECT_EQ(feed::segment_to_remove(folder_, none), "");
        }
        EXPECT_EQ(feed::segment_to_remove(folder_, none), path);
        if (path == plain) {
            compress(plain);
        }
    }
}

/// The index is whole again after the repair, but packets are missing.
TEST_F(Damaged, hole_that_a_repair_left_is_reported) {
    const feed::ChunkRecord& damaged = whole_.chunks[1];
    damage(damaged.offset + 5000, 10);
    fs::remove(feed::index_path(segments().front()));
    start_again();
    EXPECT_EQ(index().chunks.size() + 1, whole_.chunks.size());
    const std::string text =
        fmt::format("{} bytes from byte {} on are damaged", damaged.bytes, damaged.offset);
    const auto read = [this](std::int64_t from_ns, std::int64_t to_ns) {
        Problems problems;
        auto packets = feed::RecordedPackets::open(folder_, problems);
        feed::PacketRange range;
        range.from_ns = from_ns;
        range.to_ns = to_ns;
        packets->select(range);
        while (packets->next()) {
        }
        return packets->damage();
    };
    const auto all = read(0, INT64_MAX);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_NE(all[0].find(text), std::string::npos) << all[0];
    const std::int64_t before_ns = damaged.first_ts_ns;
    EXPECT_EQ(read(damaged.first_ts_ns + 1, damaged.last_ts_ns - 1), all)
        << "nothing else is in it";
    EXPECT_TRUE(read(0, before_ns - ms_ns).empty());
    EXPECT_TRUE(read(whole_.chunks[2].first_ts_ns + 1, INT64_MAX).empty());
    feed::FollowedRecording followed{folder_, {}};
    now_ns_ += ms_ns;
    open();  // another segment closes this one
    record();
    recorder_->close();
    while (count(RecorderCount::written) == 0) {
        task_->step(now_ns_);
    }
    Problems problems;
    ASSERT_TRUE(followed.look(problems));
    ASSERT_EQ(followed.damage().size(), 1U);
    EXPECT_NE(followed.damage()[0].find(text), std::string::npos) << followed.damage()[0];
    finish();
}

TEST_F(Damaged, oldest_segments_are_removed_beyond_the_limit_but_not_kept_ones) {
    const std::string old = segments().front();
    ASSERT_TRUE(feed::mark_kept(old, true));
    EXPECT_EQ(feed::segment_to_remove(folder_, {INT64_MAX, 0, 0}), "");
    ASSERT_TRUE(feed::mark_kept(old, false));
    EXPECT_EQ(feed::segment_to_remove(folder_, {INT64_MIN, 0, 0}), "");
    EXPECT_EQ(feed::segment_to_remove(folder_, {INT64_MAX, 0, 0}), old);
    EXPECT_EQ(feed::segment_to_remove(folder_, {INT64_MIN, 1, 0}), old);
    EXPECT_EQ(feed::segment_to_remove(folder_, {INT64_MIN, 0, UINT64_MAX}), old);
    RecordConfig config;
    config.keep_bytes = 1;
    open(config);
    step_until([&] { return count(RecorderCount::removed) == 1; });
    finish();
    EXPECT_TRUE(segments().empty());
    EXPECT_FALSE(fs::exists(feed::index_path(old)));
}

/// A folder in the place of a segment is not removed, as is an immutable file.
TEST_F(Damaged, segment_that_cannot_be_removed_does_not_keep_younger_ones) {
    const std::string young = segments().front();
    const std::string old = feed::segment_path(folder_, "poller0", first_packet_ns - 1);
    fs::create_directories(old + "/content");
    fs::last_write_time(old, fs::last_write_time(young) - std::chrono::hours{1});
    RecordConfig config;
    config.keep_bytes = 1;
    open(config);
    // The disk has 4 s for it, before the old one is tried again.
    step_until([&] { return !not_removed_.empty() && count(RecorderCount::removed) == 1; },
               5 * ms_ns);
    std::size_t busy = 0;
    for (int second = 0; second < 40; ++second) {
        now_ns_ += 1000 * ms_ns;
        busy += task_->step(now_ns_);
    }
    EXPECT_EQ(segments(), std::vector<std::string>{old});
    EXPECT_EQ(count(RecorderCount::removed), 1U);
    EXPECT_LT(busy, 10U) << "the thread sleeps between";
    ASSERT_EQ(not_removed_.size(), 1U);
    EXPECT_EQ(not_removed_[0], old + ": Directory not empty");
    fs::remove(old + "/content");
    step_until([&] { return segments().empty(); });
    EXPECT_TRUE(segments().empty());
    finish();
}

/// Removes files when it may.
class HeldDisk final : public DiskQueue {
  public:
    explicit HeldDisk(const bool& may_remove) : may_remove_(may_remove) {}

    void add(const Order& /*order*/) override {}

    void remove(const std::string& path, void* of) override { removal_ = {path, of}; }

    void submit() override {}

    [[nodiscard]] std::optional<Ended> next_ended() override {
        if (!may_remove_ || removal_.first.empty()) {
            return std::nullopt;
        }
        const auto [path, of] = std::exchange(removal_, {});
        return Ended{of, ::unlink(path.c_str()) == 0 ? 0 : -errno};
    }

  private:
    const bool& may_remove_;
    std::pair<std::string, void*> removal_;
};

TEST_F(Damaged, segment_is_either_marked_or_removed) {
    const std::string old = segments().front();
    RecordConfig config;
    config.keep_bytes = 1;
    bool may_remove = false;
    open(config, std::make_unique<HeldDisk>(may_remove));
    const auto steps = [&] {
        for (int i = 0; i < 20; ++i) {
            now_ns_ += 1000 * ms_ns;
            task_->step(now_ns_);
        }
    };
    {
        const nic::FileDescriptor marking{::open(folder_.c_str(), O_RDONLY | O_CLOEXEC)};
        ASSERT_EQ(::flock(marking.get(), LOCK_SH), 0);
        may_remove = true;
        steps();
        EXPECT_TRUE(fs::exists(old));
        may_remove = false;
    }
    steps();  // the removal has begun
    auto marked =
        std::async(std::launch::async, [&] { return feed::mark_kept(old, true) ? 0 : errno; });
    EXPECT_EQ(marked.wait_for(std::chrono::milliseconds{50}), std::future_status::timeout);
    may_remove = true;
    steps();
    EXPECT_EQ(marked.get(), ENOENT);
    EXPECT_FALSE(feed::is_kept(old));
    EXPECT_EQ(count(RecorderCount::removed), 1U);
    finish();
}

TEST_F(Damaged, segments_are_removed_if_the_clock_is_set_back) {
    RecordConfig config;
    config.keep_bytes = 1;
    ASSERT_TRUE(feed::mark_kept(segments().front(), true));
    open(config);
    while (task_->step(now_ns_) != 0) {
    }
    ASSERT_TRUE(feed::mark_kept(segments().front(), false));
    now_ns_ -= 3'600'000 * ms_ns;
    const std::int64_t begin_ns = now_ns_;
    step_until([&] { return segments().empty(); });
    EXPECT_LT(now_ns_, begin_ns + 3'000'000 * ms_ns);
    finish();
}

/// A crash of the host: of the chunks that were under way, the disk has some whole, some in part
/// and some not at all; the file ends anywhere behind the others; the index lacks its end.
class Torn : public Recorder {
  protected:
    /// Chunks of a few frames each. Returns the numbers of the first frame of each chunk.
    std::vector<std::size_t> record_chunks(std::size_t chunks) {
        open();
        std::vector<std::size_t> firsts;
        for (std::size_t i = 0; i < chunks; ++i) {
            firsts.push_back(sent_);
            for (std::size_t left = pick(1, 60); left != 0; --left) {
                record(pick(60, 1500), static_cast<std::uint32_t>(pick(0, 4)));
            }
            recorder_->close();
            while (count(RecorderCount::written) < sent_) {
                task_->step(now_ns_);
            }
        }
        finish();
        firsts.push_back(sent_);
        return firsts;
    }

    std::size_t pick(std::size_t least, std::size_t most) {
        return std::uniform_int_distribution<std::size_t>{least, most}(random_);
    }

    static std::string content_of(const std::string& path) {
        std::ifstream file{path, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    static void write_content(const std::string& path, const std::string& content) {
        std::ofstream{path, std::ios::binary | std::ios::trunc} << content;
    }

    /// Leaves a random part of the sectors of a chunk unwritten. Those of its filler are zero
    /// anyway.
    void tear(std::string& file, const feed::ChunkRecord& chunk) {
        constexpr std::size_t sector_bytes = 512;
        const std::string whole = file.substr(chunk.offset, chunk.bytes);
        std::vector<std::size_t> order = first_numbers(chunk.bytes / sector_bytes);
        while (file.compare(chunk.offset, chunk.bytes, whole) == 0) {
            std::shuffle(order.begin(), order.end(), random_);
            for (std::size_t left = pick(1, order.size()); left != 0; --left) {
                file.replace(chunk.offset + order[left - 1] * sector_bytes, sector_bytes,
                             sector_bytes, '\0');
            }
        }
    }

    std::mt19937_64 random_;
    Problems unread_;
};

TEST_F(Torn, segment_keeps_every_chunk_that_is_whole) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        fs::remove_all(folder_);
        random_.seed(seed);
        sent_ = 0;
        const std::vector<std::size_t> firsts = record_chunks(pick(3, 12));
        const feed::SegmentIndex whole = index();
        ASSERT_EQ(whole.chunks.size() + 1, firsts.size());
        const std::string path = segments().front();
        std::string file = content_of(path);
        std::vector<std::size_t> expected;
        std::uint64_t end = whole.first_chunk_at;
        const std::size_t written = pick(0, whole.chunks.size());
        for (std::size_t i = 0; i < whole.chunks.size(); ++i) {
            const feed::ChunkRecord& chunk = whole.chunks[i];
            const bool is_whole = i < written || pick(0, 2) == 0;
            if (!is_whole) {
                tear(file, chunk);
                continue;
            }
            for (std::size_t number = firsts[i]; number < firsts[i + 1]; ++number) {
                expected.push_back(number);
            }
            end = chunk.offset + chunk.bytes;
        }
        const feed::ChunkRecord& last = whole.chunks[pick(0, whole.chunks.size() - 1)];
        file.resize(std::max<std::uint64_t>(end, last.offset + last.bytes));
        write_content(path, file);
        const std::string index_file = feed::index_path(path);
        const std::string index_bytes = content_of(index_file);
        write_content(index_file, index_bytes.substr(0, pick(0, index_bytes.size())));
        start_again();
        if (expected.empty()) {
            EXPECT_TRUE(segments().empty());
        } else {
            const std::vector<std::size_t> found = replayed();
            EXPECT_EQ(found, expected);
            EXPECT_TRUE(feed::SegmentFile::open(path, unread_)->index());
        }
    }
}

TEST(SegmentIndex, refuses_every_changed_byte) {
    std::vector<std::byte> bytes;
    feed::append_index_head(bytes, 4096);
    feed::append_record(bytes, {4096, 8192, 1, 2, 3, 4, 5, {{1, 0, 2, 3, 4}, {2, 0, 1, 5, 6}}});
    feed::append_record(bytes, {12'288, 4096, 1, 2, 3, 4, 5, {}});
    ASSERT_TRUE(feed::read_index(bytes));
    EXPECT_EQ(feed::read_index(bytes)->end(), 16'384U);
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] ^= std::byte{1};
        EXPECT_FALSE(feed::read_index(bytes));
        bytes[i] ^= std::byte{1};
    }
    for (std::size_t i = 16; i < bytes.size(); ++i) {
        bytes[i] ^= std::byte{1};
        EXPECT_FALSE(feed::read_index(bytes)) << i;
        bytes[i] ^= std::byte{1};
        EXPECT_EQ(feed::read_index(std::span{bytes}.first(i)).has_value(),
                  i == 16 || i == 16 + 8 + 48 + 48);
    }
}

}  // namespace
}  // namespace pinstrike::actors
