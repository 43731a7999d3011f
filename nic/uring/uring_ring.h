// path: hot
//
// An io_uring with one ring of provided buffers, for multishot receives. Only this file and
// uring_port.cpp use liburing.
#pragma once

#include "config/problem.h"

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pinstrike::nic {

/// Buffers of equal size in one contiguous mapping, and the ring that provides them to the kernel.
class UringRing {
  public:
    /// Makes a disabled ring; the thread that will use it calls enable(). `sockets_count` receives
    /// can be armed in one submission. `buffers_count` is a power of two up to 32768. Null, with a
    /// problem added, if the kernel does not support it.
    [[nodiscard]] static std::unique_ptr<UringRing> open(std::size_t sockets_count,
                                                         std::size_t buffer_bytes,
                                                         unsigned buffers_count,
                                                         Problems& problems);

    ~UringRing();

    UringRing(const UringRing&) = delete;
    UringRing& operator=(const UringRing&) = delete;

    /// Makes the calling thread the only submitter.
    void enable();

    [[nodiscard]] io_uring* get() noexcept { return &ring_; }

    [[nodiscard]] std::byte* buffer(std::uint16_t index) noexcept {
        return buffers_ + index * buffer_bytes_;
    }

    /// Queues a buffer for the kernel; publish() makes it available. `pending` is the number of
    /// buffers queued since the last publish().
    void provide(std::uint16_t index, std::size_t pending) noexcept {
        io_uring_buf_ring_add(entries_, buffer(index), static_cast<unsigned>(buffer_bytes_), index,
                              io_uring_buf_ring_mask(buffers_count_), static_cast<int>(pending));
    }

    void publish(std::size_t count) noexcept {
        io_uring_buf_ring_advance(entries_, static_cast<int>(count));
    }

    static constexpr int buffer_group = 0;

  private:
    UringRing(std::size_t buffer_bytes, unsigned buffers_count)
        : buffer_bytes_(buffer_bytes), buffers_count_(buffers_count) {}

    [[nodiscard]] static std::unique_ptr<UringRing> make(std::size_t entries_count,
                                                         std::size_t buffer_bytes,
                                                         unsigned buffers_count,
                                                         Problems& problems);
    [[nodiscard]] bool map_buffers(Problems& problems);
    bool restrict_to_receiving(Problems& problems);

    io_uring ring_{};
    bool ring_open_ = false;
    io_uring_buf_ring* entries_ = nullptr;
    std::byte* buffers_ = nullptr;
    std::size_t buffer_bytes_;
    unsigned buffers_count_;
};

}  // namespace pinstrike::nic
