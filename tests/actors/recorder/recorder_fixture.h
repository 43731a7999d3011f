// path: cold
//
// A poller's recorder and the task that writes its chunks, in a folder of the test.
#pragma once

#include "actors/recorder/recorder_task.h"
#include "config/time_units.h"
#include "feed/recording/segment_compressor.h"
#include "feed/recording/segment_file.h"
#include "feed/venue_services.h"
#include "nic/capture/capture_reader.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors::recorder_fixture {

constexpr std::int64_t first_packet_ns = 1'764'426'600'123'456'789;

/// A frame whose bytes identify it.
inline std::vector<std::byte> frame_of(std::size_t number, std::size_t bytes) {
    std::vector<std::byte> frame(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        frame[i] = static_cast<std::byte>(number + i * 3);
    }
    return frame;
}

class Recorder : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "recorder-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name + "/record";
    }

    void TearDown() override {
        std::filesystem::remove_all(std::filesystem::path{folder_}.parent_path());
    }

    /// `disk`: null: the real one.
    void open(RecordConfig config = {}, std::unique_ptr<DiskQueue> disk = nullptr) {
        config.folder = folder_;
        config.free_bytes = 0;
        config.memory_bytes = 4 * nic::chunk_bytes_max;
        auto [recorder, input] = make_recorder_ends("poller0", config, lines_);
        recorder_ = std::move(recorder);
        input.lines = [this] { return lines_; };
        std::vector<RecorderInput> inputs;
        inputs.push_back(std::move(input));
        Problems problems;
        RecorderSetup setup{"test", config, feed::venue_services("opra").numbers_of,
                            [this](RecorderNote note, const std::string& text) {
                                const bool repaired = note == RecorderNote::repaired;
                                (repaired ? repaired_ : not_removed_).push_back(text);
                            }};
        setup.disk = std::move(disk);
        task_ = RecorderTask::open(std::move(setup), std::move(inputs), problems);
        ASSERT_TRUE(problems.empty());
    }

    /// Records one more frame.
    void record(std::size_t bytes = 1000, std::uint32_t interface = 1) {
        std::vector<std::byte> frame = frame_of(sent_, bytes);
        frame.reserve(1);  // a packet of a port has an address, also without bytes
        nic::Packet packet;
        packet.bytes = frame.data();
        packet.length_bytes = static_cast<std::uint32_t>(bytes);
        packet.ts_receive_ns = first_packet_ns + static_cast<std::int64_t>(sent_++) * ms_ns;
        recorder_->record({&packet, 1}, {&interface, 1});
    }

    /// Steps until everything that was recorded is on disk.
    void write_all() {
        recorder_->close();
        while (task_->counters().read(RecorderCount::written) != sent_) {
            now_ns_ += ms_ns;
            task_->step(now_ns_);
        }
    }

    /// Steps until done() is true. Removals take time of their own, at least 1 ms for each step.
    template <class Done>
    void step_until(Done&& done, std::int64_t each_ns = 1000 * ms_ns) {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!done() && std::chrono::steady_clock::now() < give_up) {
            now_ns_ += each_ns;
            task_->step(now_ns_);
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }

    void finish() {
        recorder_->close();
        task_->finish(now_ns_);
        task_.reset();
    }

    /// Starts again, until the recorder has checked what it found.
    void start_again() {
        open();
        while (task_->step(now_ns_) != 0) {
        }
        finish();
    }

    [[nodiscard]] std::vector<std::string> segments() const {
        Problems problems;
        return feed::segments_in(folder_, problems);
    }

    /// The numbers of the frames that a capture reader finds, and its complaints.
    [[nodiscard]] std::vector<std::size_t> replayed() {
        std::vector<std::size_t> numbers;
        for (const std::string& path : segments()) {
            Problems problems;
            auto reader = nic::CaptureReader::open(path, problems);
            EXPECT_TRUE(reader) << path;
            nic::CapturedFrame frame;
            while (reader && reader->next(frame)) {
                const auto number =
                    static_cast<std::size_t>((frame.ts_ns - first_packet_ns) / ms_ns);
                const auto expected = frame_of(number, frame.bytes.size());
                EXPECT_TRUE(std::equal(frame.bytes.begin(), frame.bytes.end(), expected.begin()));
                numbers.push_back(number);
            }
            complaint_ += reader ? reader->complaint() : "";
        }
        return numbers;
    }

    /// Overwrites bytes of the only segment.
    void damage(std::uint64_t offset, std::string_view bytes) const {
        std::fstream file{segments().front(), std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }

    void damage(std::uint64_t offset, std::size_t bytes) const {
        damage(offset, std::string(bytes, '?'));
    }

    /// As the compressor's thread does it.
    static void compress(const std::string& path) {
        Problems problems;
        auto file = feed::SegmentFile::open(path, problems);
        ASSERT_TRUE(file);
        const auto index = file->index();
        ASSERT_TRUE(index);
        auto compressor = feed::SegmentCompressor::begin(std::move(*file), *index, 1, problems);
        while (compressor->step(problems)) {
        }
        ASSERT_TRUE(compressor->finish(problems));
    }

    [[nodiscard]] feed::SegmentIndex index() const {
        Problems problems;
        return feed::SegmentFile::open(segments().front(), problems)->index().value();
    }

    [[nodiscard]] std::uint64_t count(RecorderCount row) const {
        return task_->counters().read(row);
    }

    std::string folder_;
    std::vector<std::uint16_t> lines_{1, 2};
    std::unique_ptr<PacketRecorder> recorder_;
    std::unique_ptr<RecorderTask> task_;
    std::vector<std::string> repaired_;
    std::vector<std::string> not_removed_;
    std::string complaint_;
    std::size_t sent_ = 0;
    std::int64_t now_ns_ = first_packet_ns;
};

/// 0, 1, ... count - 1
inline std::vector<std::size_t> first_numbers(std::size_t count) {
    std::vector<std::size_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = i;
    }
    return numbers;
}

/// A recording of several chunks, whose frames are 1000 bytes long.
class RecordedChunks : public Recorder {
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
        ASSERT_GE(whole_.chunks.size(), 4U);
    }

    feed::SegmentIndex whole_;
};

}  // namespace pinstrike::actors::recorder_fixture
