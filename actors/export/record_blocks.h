// path: cold
//
// Blocks of records on their way from the actor that makes them to the thread that writes them.
//
// The queue is guarded by a mutex, which both threads take once for each block of thousands of
// records. The actor waits while all blocks are full, so that an export reads its captures at the
// speed at which it writes.
#pragma once

#include "actors/publish/pinstrike.h"

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace pinstrike::actors {

/// Whole records of one schema in their order, and the series that came before or with them.
class RecordBlock {
  public:
    static constexpr std::size_t capacity_bytes = std::size_t{256} << 10;
    /// Bytes that may be read behind the first byte of any field, whatever they have.
    static constexpr std::size_t readable_bytes = 8;

    [[nodiscard]] bool has_room(std::size_t bytes) const { return size_ + bytes <= capacity_bytes; }

    void append(std::span<const std::byte> record) {
        std::memcpy(&bytes_[size_], record.data(), record.size());
        size_ += record.size();
    }

    [[nodiscard]] std::span<const std::byte> records() const { return {bytes_.get(), size_}; }

    [[nodiscard]] bool empty() const { return size_ == 0 && series.empty(); }

    void clear() {
        size_ = 0;
        series.clear();
    }

    std::vector<pinstrike_key> series;  ///< with the ids that the records have

  private:
    std::unique_ptr<std::byte[]> bytes_ =
        std::make_unique_for_overwrite<std::byte[]>(capacity_bytes + readable_bytes);
    std::size_t size_ = 0;
};

class BlockQueue {
  public:
    /// Passes a block on, and returns an empty one. Waits while the queue is full.
    [[nodiscard]] RecordBlock exchange(RecordBlock full);

    /// No block follows the last one.
    void close();

    /// The blocks are not wanted any more: nobody waits, and exchange() drops them.
    void cancel();

    /// The next block; nullopt: no one follows. Waits for it. `used`: a block that was taken
    /// before and is not needed any more.
    [[nodiscard]] std::optional<RecordBlock> take(std::optional<RecordBlock> used);

  private:
    static constexpr std::size_t blocks_max = 16;

    std::mutex mutex_;
    std::condition_variable room_;
    std::condition_variable filled_;
    std::deque<RecordBlock> full_;
    std::vector<RecordBlock> free_;
    bool closed_ = false;
    bool cancelled_ = false;
};

}  // namespace pinstrike::actors
