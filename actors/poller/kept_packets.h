// path: hot
#pragma once

#include "nic/port.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::actors {

/// The bursts of one port that another thread may still read, oldest first. Each has the count of
/// records whose release shows that the burst has been read (history_ring.h). Used by the poll
/// thread only. The constructor allocates all memory.
class KeptPackets {
  public:
    /// `most`: packets that can be kept at once; 0 if the port keeps none.
    explicit KeptPackets(std::size_t most) : most_(most), bursts_(std::bit_ceil(most + 1)) {}

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    [[nodiscard]] bool has_room(std::size_t packets) const noexcept {
        return count_ + packets <= most_;
    }

    /// Keeps a burst until `records` records, counted from the start, have been released.
    void add(std::size_t packets, std::uint64_t records) noexcept {
        bursts_[end_++ & (bursts_.size() - 1)] = {packets, records};
        count_ += packets;
    }

    /// `records` records have been released. Returns the number of packets that can be returned to
    /// the port.
    std::size_t release(std::uint64_t records) noexcept {
        std::size_t packets = 0;
        while (begin_ != end_ && oldest().records <= records) {
            packets += oldest().packets;
            ++begin_;
        }
        count_ -= packets;
        return packets;
    }

  private:
    struct Burst {
        std::size_t packets = 0;
        std::uint64_t records = 0;
    };

    [[nodiscard]] const Burst& oldest() const noexcept {
        return bursts_[begin_ & (bursts_.size() - 1)];
    }

    std::size_t most_;
    std::vector<Burst> bursts_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t count_ = 0;
};

}  // namespace pinstrike::actors
