// path: cold
#include "nic/capture/read_ahead.h"

#include "config/check.h"
#include "nic/capture/frame_copy.h"

#include <pthread.h>

#include <limits>
#include <utility>

namespace pinstrike::nic {

namespace {

// A batch and the buffers of its reader fit in the processor's second cache.
constexpr std::size_t batch_bytes = 256 << 10;
constexpr std::size_t batch_frames_max = 2048;

}  // namespace

ReadAhead::ReadAhead(std::unique_ptr<FrameStream> stream) : stream_(std::move(stream)) {
    PINSTRIKE_CHECK(!stream_->follows_writer());
    for (Batch& batch : batches_) {
        batch.bytes.resize(batch_bytes + replayed_slot_bytes_max);
        batch.frames.reserve(batch_frames_max);
    }
    thread_ = std::thread{[this] {
        ::pthread_setname_np(::pthread_self(), "read-ahead");
        run();
    }};
}

ReadAhead::~ReadAhead() {
    {
        const std::scoped_lock held{lock_};
        stops_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void ReadAhead::run() {
    bool is_last = false;
    for (std::size_t number = 0; !is_last; ++number) {
        {
            std::unique_lock held{lock_};
            changed_.wait(held, [&] { return stops_ || number - taken_ < batches_count; });
            if (stops_) {
                return;
            }
        }
        Batch& batch = batches_[number % batches_count];
        fill(batch);
        is_last = batch.is_last;
        {
            const std::scoped_lock held{lock_};
            filled_ = number + 1;
        }
        changed_.notify_all();
    }
}

void ReadAhead::fill(Batch& batch) {
    const std::scoped_lock held{reading_};
    batch.frames.clear();
    std::size_t used_bytes = 0;
    CapturedFrame frame;
    while (used_bytes < batch_bytes && batch.frames.size() < batch_frames_max) {
        if (!stream_->next(frame)) {
            batch.is_last = true;
            break;
        }
        batch.frames.push_back(copy_of(frame, batch.bytes.data(), used_bytes));
    }
    batch.unread = stream_->unread_count();
}

/// Gives the current batch back, if there is one, and waits for the next.
void ReadAhead::exchange() {
    std::unique_lock held{lock_};
    if (has_batch_) {
        ++taken_;
        changed_.notify_all();
    }
    changed_.wait(held, [this] { return filled_ > taken_; });
    has_batch_ = true;
    at_ = 0;
}

bool ReadAhead::next(CapturedFrame& out) {
    if (returned_false_ && !(has_batch_ && current().is_last)) {
        exchange();
    }
    returned_false_ = at_ == current().frames.size();
    if (!returned_false_) {
        out = current().frames[at_++];
    }
    return !returned_false_;
}

std::optional<std::int64_t> ReadAhead::waits_from() const {
    if (current().is_last) {
        return std::nullopt;
    }
    return current().frames.empty() ? std::numeric_limits<std::int64_t>::min()
                                    : current().frames.back().ts_ns;
}

std::string ReadAhead::path_of(std::uint32_t file) const {
    const std::scoped_lock held{reading_};
    return stream_->path_of(file);
}

std::vector<std::string> ReadAhead::unread() const {
    const std::scoped_lock held{reading_};
    return stream_->unread();
}

std::vector<std::string> ReadAhead::missing() const {
    const std::scoped_lock held{reading_};
    return stream_->missing();
}

}  // namespace pinstrike::nic
