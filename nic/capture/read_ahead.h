// path: cold
//
// Reads the frames of a stream in a thread of its own: reading, checking and decompressing a
// capture takes as long as a poller needs for its packets. The thread copies frames into batches,
// and the poll thread takes them there without another copy. Both threads take a lock once for
// each batch; a poll thread that replays a capture waits for the disk in any case.
#pragma once

#include "nic/capture/frame_stream.h"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::nic {

class ReadAhead final : public FrameStream {
  public:
    /// `stream` must not follow a writer. Throws std::system_error if no thread can be started.
    explicit ReadAhead(std::unique_ptr<FrameStream> stream);
    ~ReadAhead() override;

    /// Frames have at most replayed_frame_bytes_max. Returns false at the end of each batch; the
    /// call after that gives the batch back.
    [[nodiscard]] bool next(CapturedFrame& out) override;

    [[nodiscard]] std::optional<std::int64_t> waits_from() const override;

    [[nodiscard]] bool keeps_frames() const override { return true; }

    [[nodiscard]] std::string path_of(std::uint32_t file) const override;

    /// Up to the current batch.
    [[nodiscard]] std::uint64_t unread_count() const override { return current().unread; }

    [[nodiscard]] std::vector<std::string> unread() const override;

    [[nodiscard]] std::vector<std::string> missing() const override;

  private:
    struct Batch {
        std::vector<std::byte> bytes;
        std::vector<CapturedFrame> frames;
        std::uint64_t unread = 0;  ///< files or parts of them, up to the end of this batch
        bool is_last = false;
    };

    static constexpr std::size_t batches_count = 4;

    [[nodiscard]] const Batch& current() const { return batches_[taken_ % batches_count]; }

    void run();
    void fill(Batch& batch);
    void exchange();

    std::array<Batch, batches_count> batches_;
    std::size_t at_ = 0;          ///< the next frame in the current batch
    bool returned_false_ = true;  ///< the latest next() did
    bool has_batch_ = false;      ///< the poll thread has the batch of number `taken_`

    mutable std::mutex reading_;  ///< guards the stream
    std::unique_ptr<FrameStream> stream_;

    std::mutex lock_;  ///< guards the next three
    std::condition_variable changed_;
    std::size_t filled_ = 0;  ///< batches that the thread has filled
    std::size_t taken_ = 0;   ///< batches that were given back
    bool stops_ = false;
    std::thread thread_;
};

}  // namespace pinstrike::nic
