// path: cold
#include "nic/capture/read_ahead.h"

#include "nic/capture/frame_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::nic {
namespace {

/// Frames of different lengths, each of which is filled with its number.
class NumberedFrames final : public FrameStream {
  public:
    NumberedFrames(std::uint64_t count, std::shared_ptr<std::atomic<std::uint64_t>> read)
        : count_(count), read_(std::move(read)), bytes_(200'000) {}

    [[nodiscard]] static std::size_t bytes_of(std::uint64_t number) {
        return number % 1000 == 999 ? 200'000 : 64 + number * 37 % 1400;
    }

    [[nodiscard]] bool next(CapturedFrame& out) override {
        if (next_ == count_) {
            return false;
        }
        const std::size_t bytes = bytes_of(next_);
        std::memset(bytes_.data(), static_cast<int>(next_ % 251), bytes);
        out = {{bytes_.data(), bytes}, static_cast<std::int64_t>(next_)};
        out.record = ++next_;
        read_->store(next_, std::memory_order_relaxed);
        return true;
    }

    [[nodiscard]] std::string path_of(std::uint32_t /*file*/) const override { return "numbers"; }

    /// As if each hundredth frame stood for a part that cannot be read.
    [[nodiscard]] std::uint64_t unread_count() const override { return next_ / 100; }

    [[nodiscard]] std::vector<std::string> unread() const override {
        return {std::to_string(next_)};
    }

  private:
    std::uint64_t count_;
    std::shared_ptr<std::atomic<std::uint64_t>> read_;
    std::uint64_t next_ = 0;
    std::vector<std::byte> bytes_;
};

struct Opened {
    explicit Opened(std::uint64_t count)
        : read(std::make_shared<std::atomic<std::uint64_t>>(0)),
          frames(std::make_unique<NumberedFrames>(count, read)) {}

    std::shared_ptr<std::atomic<std::uint64_t>> read;  ///< from the stream, by the thread
    ReadAhead frames;
};

bool is_whole(const CapturedFrame& frame) {
    const std::uint64_t number = frame.record - 1;
    const auto expected = static_cast<std::byte>(number % 251);
    const std::size_t bytes = std::min(NumberedFrames::bytes_of(number), replayed_frame_bytes_max);
    return frame.ts_ns == static_cast<std::int64_t>(number) && frame.bytes.size() == bytes &&
           frame.bytes.front() == expected && frame.bytes.back() == expected;
}

/// Each frame stays as it is until the call after one that returned false.
TEST(ReadAhead, GivesEachFrameOnceAndKeepsABatch) {
    constexpr std::uint64_t count = 50'000;
    Opened opened{count};
    std::uint64_t received = 0;
    std::uint64_t batches = 0;
    do {
        std::vector<CapturedFrame> batch;
        CapturedFrame frame;
        while (opened.frames.next(frame)) {
            ASSERT_EQ(frame.record, ++received);
            batch.push_back(frame);
        }
        for (const CapturedFrame& kept : batch) {
            ASSERT_TRUE(is_whole(kept)) << "frame " << kept.record;
        }
        EXPECT_EQ(opened.frames.unread_count(), received / 100);
        ++batches;
    } while (opened.frames.waits_from());
    EXPECT_EQ(received, count);
    EXPECT_GT(batches, 100U);
    EXPECT_EQ(opened.frames.unread(), std::vector{std::to_string(count)});
    CapturedFrame frame;
    EXPECT_FALSE(opened.frames.next(frame)) << "nothing comes behind the end";
    EXPECT_EQ(opened.frames.waits_from(), std::nullopt);
}

TEST(ReadAhead, EndsAtOnceWithoutFrames) {
    Opened opened{0};
    CapturedFrame frame;
    EXPECT_FALSE(opened.frames.next(frame));
    EXPECT_EQ(opened.frames.waits_from(), std::nullopt);
}

/// The thread waits when its batches are full, and ends without the rest of the frames.
TEST(ReadAhead, ReadsNoFurtherThanItsBatches) {
    constexpr std::uint64_t count = 1'000'000;
    Opened opened{count};
    std::uint64_t read = 0;
    std::uint64_t before = 0;
    do {
        before = read;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        read = opened.read->load(std::memory_order_relaxed);
    } while (read == 0 || read != before);
    EXPECT_LT(read, 5000U);
    CapturedFrame frame;
    ASSERT_TRUE(opened.frames.next(frame));
    EXPECT_TRUE(is_whole(frame));
    EXPECT_GT(opened.frames.waits_from(), frame.ts_ns);
}

}  // namespace
}  // namespace pinstrike::nic
