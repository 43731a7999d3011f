// path: cold
//
// Packets of a poller through the recorder to segments on disk, and what of them survives damage.
#include "feed/recording/followed_recording.h"
#include "feed/recording/segment_file.h"
#include "tests/actors/recorder/recorder_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;

using namespace recorder_fixture;

TEST_F(Recorder, writes_every_packet_as_it_came) {
    open();
    for (std::size_t i = 0; i < 5000; ++i) {
        record(i % 1501, static_cast<std::uint32_t>(i % 5));
        task_->step(now_ns_);
    }
    finish();
    EXPECT_EQ(replayed(), first_numbers(5000));
    EXPECT_EQ(complaint_, "");
    ASSERT_EQ(segments().size(), 1U);
    const feed::SegmentIndex found = index();
    std::uint64_t packets = 0;
    for (const feed::ChunkRecord& chunk : found.chunks) {
        packets += chunk.packets;
        EXPECT_EQ(chunk.lines.size(), 5U);
        EXPECT_EQ(chunk.offset % nic::chunk_alignment_bytes, 0U);
    }
    EXPECT_EQ(packets, 5000U);
    EXPECT_EQ(recorder_->recorded().read(), 5000U);
    EXPECT_EQ(recorder_->not_recorded().read(), 0U);
    EXPECT_EQ(fs::status(segments().front()).permissions(), fs::perms{0640});
    EXPECT_EQ(fs::status(folder_).permissions(), fs::perms{0750});
}

TEST_F(Recorder, hands_over_a_chunk_that_is_old) {
    open();
    record();
    recorder_->close_if_old(begin_ns + PacketRecorder::oldest_ns - 1);
    for (int i = 0; i < 100; ++i) {
        task_->step(now_ns_);
    }
    EXPECT_EQ(count(RecorderCount::written), 0U);
    recorder_->close_if_old(begin_ns + PacketRecorder::oldest_ns);
    while (count(RecorderCount::written) == 0) {
        task_->step(now_ns_);
    }
    EXPECT_EQ(replayed(), first_numbers(1));  // while the segment is being written
    finish();
}

TEST_F(Recorder, counts_and_states_what_finds_its_memory_full) {
    open();
    while (recorder_->not_recorded().read() < 7) {
        record();
    }
    const std::uint64_t recorded = recorder_->recorded().read();
    EXPECT_EQ(recorded + 7, sent_);
    while (count(RecorderCount::written) < recorded) {
        task_->step(now_ns_);
    }
    record();
    finish();
    std::uint64_t missing = 0;
    for (const feed::ChunkRecord& chunk : index().chunks) {
        missing += chunk.not_recorded;
    }
    EXPECT_EQ(missing, 7U);
    EXPECT_EQ(index().chunks.back().not_recorded, 7U);
    EXPECT_EQ(replayed().size(), recorded + 1);
    std::ifstream file{segments().front(), std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_NE(bytes.find("7 packets before this place were not recorded"), std::string::npos);
}

TEST_F(Recorder, counts_and_states_what_its_config_does_not_want) {
    RecordConfig config;
    config.lines = {2};
    open(config);
    constexpr std::size_t interfaces = 1 + 2 * interfaces_each_line;  // the last ones are of line 2
    constexpr std::size_t unwanted = interfaces - interfaces_each_line;
    for (std::size_t i = 0; i < 10 * interfaces; ++i) {
        record(1000, static_cast<std::uint32_t>(i % interfaces));
    }
    finish();
    EXPECT_EQ(recorder_->recorded().read(), 10 * interfaces_each_line);
    EXPECT_EQ(recorder_->filtered().read(), 10 * unwanted);
    const std::vector<std::size_t> numbers = replayed();
    EXPECT_EQ(numbers.size(), 10 * interfaces_each_line);
    EXPECT_TRUE(std::ranges::all_of(
        numbers, [](std::size_t number) { return number % interfaces >= unwanted; }));
    std::ifstream file{segments().front(), std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    const std::string options{
        "\x04\0\x08\0\x04\0\0\0\0\0\0\0"  // isb_ifrecv: 4 before the first that was recorded
        "\x06\0\x08\0\0\0\0\0\0\0\0\0",   // isb_filteraccept
        24};
    EXPECT_NE(bytes.find(options), std::string::npos);
}

TEST_F(Recorder, keeps_what_it_has_while_the_disk_fails_and_resumes_by_itself) {
    open();
    fs::remove(folder_);
    record();
    recorder_->close();
    for (int i = 0; i < 5; ++i) {
        now_ns_ += 1000 * ms_ns;
        task_->step(now_ns_);
    }
    EXPECT_EQ(task_->counters().error.read(), static_cast<std::uint64_t>(ENOENT));
    EXPECT_EQ(count(RecorderCount::failures), 5U);
    fs::create_directory(folder_);
    now_ns_ += 1000 * ms_ns;
    while (count(RecorderCount::written) == 0) {
        task_->step(now_ns_);
    }
    EXPECT_EQ(task_->counters().error.read(), 0U);
    finish();
    EXPECT_EQ(replayed(), first_numbers(1));
}

TEST_F(Recorder, counts_what_a_failed_disk_never_took) {
    open();
    fs::remove(folder_);
    record();
    record();
    recorder_->close();
    task_->finish(now_ns_);
    EXPECT_EQ(count(RecorderCount::unwritten), 2U);
    EXPECT_EQ(count(RecorderCount::written), 0U);
}

/// The bytes that the file system has for a file.
std::uint64_t reserved_bytes(const std::string& path) {
    struct stat status {};

    return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512
                                              : 0;
}

/// As after `ctl record stop`.
TEST_F(Recorder, gives_back_the_space_of_a_segment_that_gets_no_packets) {
    RecordConfig config;
    config.segment_bytes = std::size_t{16} << 20;
    open(config);
    record();
    write_all();
    const std::string path = segments().at(0);
    if (reserved_bytes(path) < config.segment_bytes) {
        GTEST_SKIP() << "this file system reserves no space";
    }
    for (int second = 0; second < 12; ++second) {
        now_ns_ += 1000 * ms_ns;
        task_->step(now_ns_);
    }
    EXPECT_LT(reserved_bytes(path), config.segment_bytes / 2);
    record();
    write_all();
    EXPECT_GE(reserved_bytes(path), config.segment_bytes) << "packets come again";
    finish();
    EXPECT_EQ(segments().size(), 1U);
    EXPECT_EQ(replayed(), (std::vector<std::size_t>{0, 1}));
}

/// The numbers of the frames that a follower returns at this time.
std::vector<std::size_t> numbers_of(feed::FollowedRecording& followed, std::int64_t now_ns) {
    std::vector<std::size_t> numbers;
    while (const auto packet = followed.next(now_ns)) {
        numbers.push_back(static_cast<std::size_t>((packet->ts_ns - begin_ns) / ms_ns));
    }
    return numbers;
}

TEST_F(Recorder, is_followed_while_it_writes) {
    RecordConfig config;
    config.segment_bytes = std::size_t{16} << 20;
    open(config);
    feed::PacketRange from_the_second;
    from_the_second.from_ns = begin_ns + ms_ns;
    feed::FollowedRecording followed{folder_, from_the_second};
    const auto looked = [&followed](std::int64_t now_ns) {
        Problems problems;
        EXPECT_TRUE(followed.look(problems));
        return numbers_of(followed, now_ns);
    };
    using Numbers = std::vector<std::size_t>;
    record();
    record();
    write_all();
    EXPECT_EQ(looked(begin_ns), Numbers{1}) << "the only poller has one, so nothing is earlier";
    EXPECT_EQ(looked(begin_ns + 10'000 * ms_ns), Numbers{});
    EXPECT_EQ(followed.complete_ns(), begin_ns + 10'000 * ms_ns - feed::FollowedRecording::lag_ns);
    record();
    write_all();
    lines_.push_back(9);  // another segment
    record();
    write_all();
    EXPECT_EQ(looked(begin_ns + 10'000 * ms_ns), (Numbers{2, 3}));
    record();
    finish();
    EXPECT_EQ(looked(begin_ns + 10'000 * ms_ns), Numbers{4});
    EXPECT_TRUE(followed.damage().empty());
}

TEST_F(Recorder, is_followed_if_the_clock_is_set_back) {
    open();
    record();
    write_all();
    feed::FollowedRecording followed{folder_, {}};
    Problems problems;
    ASSERT_TRUE(followed.look(problems));
    now_ns_ -= 3'600'000 * ms_ns;
    lines_.push_back(9);  // another segment, whose name is older
    record();
    write_all();
    ASSERT_EQ(segments().size(), 2U);
    feed::FollowedRecording other{folder_, {}};
    ASSERT_TRUE(other.look(problems));
    record();
    write_all();
    for (feed::FollowedRecording* const each : {&followed, &other}) {
        ASSERT_TRUE(each->look(problems));
        const std::vector<std::size_t> found = numbers_of(*each, begin_ns + 10'000 * ms_ns);
        EXPECT_THAT(found, testing::IsSupersetOf({1U, 2U}));
    }
    finish();
}

/// A poller that is quiet must not hold the others back.
TEST_F(Recorder, is_followed_in_the_order_of_time) {
    open();
    record();
    record();
    finish();
    const std::string quiet = feed::segment_path(folder_, "poller1", now_ns_);
    fs::copy(segments().at(0), quiet);
    fs::copy(feed::index_path(segments().at(0)), feed::index_path(quiet));
    feed::FollowedRecording followed{folder_, {}};
    Problems problems;
    ASSERT_TRUE(followed.look(problems));
    using Numbers = std::vector<std::size_t>;
    // Both have packets until one has returned its last.
    EXPECT_EQ(numbers_of(followed, begin_ns), (Numbers{0, 0, 1}));
    EXPECT_EQ(numbers_of(followed, begin_ns + ms_ns + feed::FollowedRecording::lag_ns), Numbers{});
    EXPECT_EQ(numbers_of(followed, begin_ns + ms_ns + feed::FollowedRecording::lag_ns + 1),
              Numbers{1});
}

TEST_F(Recorder, begins_a_segment_for_added_lines) {
    open();
    record(100, interface_of(1, feed::Stream::b));
    recorder_->close();
    while (count(RecorderCount::written) == 0) {
        task_->step(now_ns_);
    }
    now_ns_ += ms_ns;
    lines_.push_back(3);
    record(100, interface_of(2, feed::Stream::b));
    finish();
    ASSERT_EQ(segments().size(), 2U);
    Problems problems;
    const auto file = feed::SegmentFile::open(segments()[1], problems);
    EXPECT_EQ(file->head().interfaces.at(8).name(), "line 3 B");
    EXPECT_EQ(file->head().interfaces.back().name(), "line 3 repaired");
    EXPECT_EQ(replayed(), first_numbers(2));
}

TEST_F(Recorder, begins_a_segment_when_one_is_full) {
    RecordConfig config;
    config.segment_bytes = 4 * nic::chunk_bytes_max;
    open(config);
    for (std::size_t i = 0; i < 20'000; ++i) {
        record();
        while (task_->step(now_ns_) != 0) {
            now_ns_ += ms_ns;
        }
        now_ns_ += ms_ns;
    }
    finish();
    EXPECT_GE(segments().size(), 6U);
    EXPECT_EQ(replayed().size(), recorder_->recorded().read());
    for (const std::string& path : segments()) {
        EXPECT_LE(fs::file_size(path), config.segment_bytes);
    }
}

/// A recording of several chunks, whose frames are 1000 bytes long.
class Damaged : public Recorder {
  protected:
    void SetUp() override {
        Recorder::SetUp();
        open();
        for (std::size_t i = 0; i < 4000; ++i) {
            record();
            task_->step(now_ns_);
        }
        finish();
        whole_ = index();
        ASSERT_GE(whole_.chunks.size(), 3U);
    }

    [[nodiscard]] std::uint64_t packets_of(std::size_t chunk) const {
        return whole_.chunks[chunk].packets;
    }

    feed::SegmentIndex whole_;
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

TEST_F(Damaged, lost_index_is_made_again) {
    fs::remove(feed::index_path(segments().front()));
    start_again();
    EXPECT_EQ(index().chunks, whole_.chunks);
    EXPECT_EQ(repaired_.size(), 1U);
}

TEST_F(Damaged, index_without_its_segment_is_removed) {
    const std::string lost = feed::segment_path(folder_, "poller0", begin_ns - 1);
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

TEST_F(Damaged, whole_segment_is_left_alone) {
    start_again();
    EXPECT_TRUE(repaired_.empty());
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
    while (task_->step(now_ns_) != 0) {
    }
    finish();
    EXPECT_TRUE(segments().empty());
    EXPECT_FALSE(fs::exists(feed::index_path(old)));
}

/// A folder in the place of a segment is not removed, as is an immutable file.
TEST_F(Damaged, segment_that_cannot_be_removed_does_not_keep_younger_ones) {
    const std::string young = segments().front();
    const std::string old = feed::segment_path(folder_, "poller0", begin_ns - 1);
    fs::create_directories(old + "/content");
    fs::last_write_time(old, fs::last_write_time(young) - std::chrono::hours{1});
    RecordConfig config;
    config.keep_bytes = 1;
    open(config);
    std::size_t busy = 0;
    for (int second = 0; second < 50; ++second) {
        now_ns_ += 1000 * ms_ns;
        busy += task_->step(now_ns_);
    }
    EXPECT_EQ(segments(), std::vector<std::string>{old});
    EXPECT_EQ(count(RecorderCount::removed), 1U);
    EXPECT_LT(busy, 10U) << "the thread sleeps between";
    ASSERT_EQ(not_removed_.size(), 1U);
    EXPECT_EQ(not_removed_[0], old + ": Directory not empty");
    fs::remove(old + "/content");
    for (int second = 0; second < 50; ++second) {
        now_ns_ += 1000 * ms_ns;
        task_->step(now_ns_);
    }
    EXPECT_TRUE(segments().empty());
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
    for (int second = 0; second < 5; ++second) {
        now_ns_ += 1000 * ms_ns;
        task_->step(now_ns_);
    }
    EXPECT_TRUE(segments().empty());
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
