// path: cold
//
// Packets of a poller through the recorder to segments on disk.
#include "feed/recording/followed_recording.h"
#include "feed/recording/segment_file.h"
#include "tests/actors/recorder/recorder_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
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
    recorder_->close_if_old(first_packet_ns + PacketRecorder::oldest_ns - 1);
    for (int i = 0; i < 100; ++i) {
        task_->step(now_ns_);
    }
    EXPECT_EQ(count(RecorderCount::written), 0U);
    recorder_->close_if_old(first_packet_ns + PacketRecorder::oldest_ns);
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

/// Ends no write, or each with this error.
class StuckDisk final : public DiskQueue {
  public:
    explicit StuckDisk(const int& error) : error_(error) {}

    void add(const Order& order) override { writes_.push_back(order.of); }

    void remove(const std::string& /*path*/, void* /*of*/) override {}

    void submit() override {}

    [[nodiscard]] std::optional<Ended> next_ended() override {
        if (error_ == 0 || writes_.empty()) {
            return std::nullopt;
        }
        void* const of = writes_.back();
        writes_.pop_back();
        return Ended{of, -error_};
    }

  private:
    const int& error_;
    std::vector<void*> writes_;
};

TEST_F(Recorder, knows_why_packets_are_not_recorded) {
    int error = 0;
    open({}, std::make_unique<StuckDisk>(error));
    const auto step = [&](std::int64_t away_ns) {
        now_ns_ += 1000 * ms_ns;
        task_->step(now_ns_, away_ns);
    };
    const auto missing_after = [&](std::int64_t away_ns) {
        const std::uint64_t before = recorder_->not_recorded().read();
        while (recorder_->not_recorded().read() == before) {
            record();
        }
        step(away_ns);
        std::vector<std::uint64_t> missing;
        for (std::size_t i = 0; i < MissingReason_count; ++i) {
            missing.push_back(task_->counters().missing.read(static_cast<MissingReason>(i)));
        }
        return missing;  // full, failed, slow, starved
    };
    EXPECT_THAT(missing_after(5 * ms_ns), testing::ElementsAre(0, 0, 0, 1)) << "no write was begun";
    for (int i = 0; i < 10; ++i) {
        step(ms_ns);
    }
    EXPECT_THAT(missing_after(ms_ns), testing::ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(missing_after(60'000 * ms_ns), testing::ElementsAre(0, 0, 1, 2));
    error = ENOSPC;
    step(ms_ns);
    EXPECT_THAT(missing_after(ms_ns), testing::ElementsAre(1, 0, 1, 2));
    error = EIO;
    step(ms_ns);
    step(ms_ns);
    EXPECT_THAT(missing_after(ms_ns), testing::ElementsAre(1, 1, 1, 2));
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
        numbers.push_back(static_cast<std::size_t>((packet->ts_ns - first_packet_ns) / ms_ns));
    }
    return numbers;
}

TEST_F(Recorder, is_followed_while_it_writes) {
    RecordConfig config;
    config.segment_bytes = std::size_t{16} << 20;
    open(config);
    feed::PacketRange from_the_second;
    from_the_second.from_ns = first_packet_ns + ms_ns;
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
    EXPECT_EQ(looked(first_packet_ns), Numbers{1})
        << "the only poller has one, so nothing is earlier";
    EXPECT_EQ(looked(first_packet_ns + 10'000 * ms_ns), Numbers{});
    EXPECT_EQ(followed.complete_ns(),
              first_packet_ns + 10'000 * ms_ns - feed::FollowedRecording::lag_ns);
    record();
    write_all();
    lines_.push_back(9);  // another segment
    record();
    write_all();
    EXPECT_EQ(looked(first_packet_ns + 10'000 * ms_ns), (Numbers{2, 3}));
    record();
    finish();
    EXPECT_EQ(looked(first_packet_ns + 10'000 * ms_ns), Numbers{4});
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
        const std::vector<std::size_t> found = numbers_of(*each, first_packet_ns + 10'000 * ms_ns);
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
    EXPECT_EQ(numbers_of(followed, first_packet_ns), (Numbers{0, 0, 1}));
    EXPECT_EQ(numbers_of(followed, first_packet_ns + ms_ns + feed::FollowedRecording::lag_ns),
              Numbers{});
    EXPECT_EQ(numbers_of(followed, first_packet_ns + ms_ns + feed::FollowedRecording::lag_ns + 1),
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

/// The processors that each of the kernel's threads for the calling thread may use.
std::vector<std::string> processors_of_workers() {
    const std::string name = fmt::format("iou-wrk-{}", ::gettid());
    const std::string key = "Cpus_allowed_list:\t";
    std::vector<std::string> found;
    for (const fs::directory_entry& task : fs::directory_iterator{"/proc/self/task"}) {
        std::string line;
        std::ifstream comm{task.path() / "comm"};
        std::getline(comm, line);
        std::ifstream status{line == name ? task.path() / "status" : fs::path{}};
        while (std::getline(status, line)) {
            if (line.starts_with(key)) {
                found.push_back(line.substr(key.size()));
            }
        }
    }
    return found;
}

TEST_F(Recorder, keeps_threads_of_the_kernel_to_its_processors) {
    const std::string file = fs::path{folder_}.parent_path() / "file";
    const std::ofstream made{file};
    int processor = 0;
    std::vector<std::string> found;
    std::thread{[&] {
        processor = ::sched_getcpu();
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(processor, &only);
        ASSERT_EQ(::sched_setaffinity(0, sizeof only, &only), 0);
        Problems problems;
        const auto queue = make_uring_queue({}, problems);
        ASSERT_NE(queue, nullptr);
        queue->remove(file, nullptr);
        queue->submit();
        auto ended = queue->next_ended();
        for (; !ended; ended = queue->next_ended()) {
            std::this_thread::yield();
        }
        EXPECT_EQ(ended->result, 0);
        found = processors_of_workers();
    }}.join();
    EXPECT_FALSE(fs::exists(file));
    EXPECT_THAT(found, testing::Not(testing::IsEmpty()));
    EXPECT_THAT(found, testing::Each(std::to_string(processor)));
}

TEST_F(Recorder, begins_a_segment_when_one_is_full) {
    RecordConfig config;
    config.segment_bytes = 4 * nic::chunk_bytes_max;
    open(config);
    constexpr std::size_t looks_every = 1000;
    // A slow disk takes fewer packets, so it takes more of them to fill five segments.
    for (std::size_t i = 0; i % looks_every != 0 || segments().size() < 6; ++i) {
        record();
        while (task_->step(now_ns_) != 0) {
            now_ns_ += ms_ns;
        }
        now_ns_ += ms_ns;
    }
    finish();
    EXPECT_EQ(replayed().size(), recorder_->recorded().read());
    for (const std::string& path : segments()) {
        EXPECT_LE(fs::file_size(path), config.segment_bytes);
    }
}

}  // namespace
}  // namespace pinstrike::actors
