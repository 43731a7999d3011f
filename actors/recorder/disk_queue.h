// path: cold
//
// Writes and removals of files that the recorder's thread begins and does not wait for. A file
// system that tells the disk which space is free takes up to 0.4 s to remove a segment.
#pragma once

#include "config/problem.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace pinstrike::actors {

class DiskQueue {
  public:
    struct Order {
        int fd = -1;
        std::uint64_t offset = 0;
        /// Must not change until the write has ended. None: the data of the file is synced instead.
        std::span<const std::byte> bytes;
        std::size_t memory = 0;  ///< index of the registered memory that holds them
        void* of = nullptr;      ///< returned when the write has ended
    };

    struct Ended {
        void* of = nullptr;
        int result = 0;  ///< bytes written; 0: removed or synced; or a negative errno
    };

    DiskQueue() = default;
    virtual ~DiskQueue() = default;
    DiskQueue(const DiskQueue&) = delete;
    DiskQueue& operator=(const DiskQueue&) = delete;

    /// The write may begin now, or with submit().
    virtual void add(const Order& order) = 0;

    /// Removes a file, as unlink(2). It may begin now, or with submit(). `of`: returned when it has
    /// ended.
    virtual void remove(const std::string& path, void* of) = 0;

    /// Begins what was added.
    virtual void submit() = 0;

    /// A write or a removal that has ended, in any order. Nothing if none has.
    [[nodiscard]] virtual std::optional<Ended> next_ended() = 0;
};

/// By io_uring. `memories`: where the bytes of the writes lie; none: anywhere. Null, with a
/// Problem, if the system refuses.
[[nodiscard]] std::unique_ptr<DiskQueue> make_uring_queue(
    std::span<const std::span<std::byte>> memories, Problems& problems);

}  // namespace pinstrike::actors
