// path: cold
#include "actors/export/record_blocks.h"

#include <utility>

namespace pinstrike::actors {

RecordBlock BlockQueue::exchange(RecordBlock full) {
    std::unique_lock lock{mutex_};
    room_.wait(lock, [this] { return cancelled_ || full_.size() < blocks_max; });
    if (cancelled_) {
        full.clear();
        return full;
    }
    full_.push_back(std::move(full));
    filled_.notify_one();
    if (free_.empty()) {
        return {};
    }
    RecordBlock block = std::move(free_.back());
    free_.pop_back();
    return block;
}

void BlockQueue::close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    filled_.notify_one();
}

void BlockQueue::cancel() {
    const std::lock_guard lock{mutex_};
    cancelled_ = true;
    filled_.notify_one();
    room_.notify_one();
}

std::optional<RecordBlock> BlockQueue::take(std::optional<RecordBlock> used) {
    std::unique_lock lock{mutex_};
    if (used) {
        used->clear();
        free_.push_back(std::move(*used));
    }
    filled_.wait(lock, [this] { return cancelled_ || closed_ || !full_.empty(); });
    if (cancelled_ || full_.empty()) {
        return std::nullopt;
    }
    RecordBlock block = std::move(full_.front());
    full_.pop_front();
    room_.notify_one();
    return block;
}

}  // namespace pinstrike::actors
