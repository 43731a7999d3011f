// path: hot
//
// The road of first copies, from a poller to the history of its lines (feed/history.h), which
// another thread keeps. A ring (ring.h says why its orders are enough); the poller never waits: a
// block that finds no room is skipped and counted, and is then not kept.
//
// Where the port can lend its buffers, a block goes by reference: the record says where it lies,
// the port lets the buffer go, once a burst, and the other thread gives it back (nic/port.h). Where
// it cannot, since its buffers go back to the kernel with the next burst, the bytes are copied into
// the records behind the first: one piece, since the memory is mapped twice.
#pragma once

#include "actors/ring.h"
#include "config/counter.h"
#include "feed/block.h"
#include "nic/port.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// A block that an arbiter took, in whole or in part.
struct alignas(64) FirstCopy {
    nic::LentBuffer buffer = nullptr;  ///< null: the bytes lie in the records behind this one
    const std::byte* lent_bytes = nullptr;
    std::int64_t ts_exchange_ns = 0;
    std::uint32_t line = 0;  ///< its place among the poller's
    std::uint32_t port = 0;  ///< that lent the buffer, likewise
    std::uint32_t first = 0;
    std::uint16_t messages = 0;
    std::uint16_t bytes = 0;

    /// Records that a copied block takes, this one included.
    [[nodiscard]] static constexpr std::size_t records_for(std::size_t block_bytes) {
        return 1 + (block_bytes + sizeof(FirstCopy) - 1) / sizeof(FirstCopy);
    }
};

static_assert(sizeof(FirstCopy) == 64 && std::is_trivially_copyable_v<FirstCopy>);

/// The poller's end. Its counters may be read by any thread.
class HistoryRoad {
  public:
    /// Of a poller whose ports lend: as many buffers may be lent at once (2 ms of a million blocks
    /// a second, and the other thread looks more often).
    static constexpr std::size_t lending_slots = nic::lent_buffers_max;
    /// Of any other: about 4000 full blocks.
    static constexpr std::size_t copying_slots = 65536;

    explicit HistoryRoad(Producer<FirstCopy> copies) : copies_(std::move(copies)) {}

    /// The packet that holds the block stands at `place` in the burst of a port that lends.
    void lend(const feed::Block& block, std::size_t line, std::size_t port, std::size_t place) {
        FirstCopy* record = claim(block, line, 1);
        if (record != nullptr) {
            record->port = static_cast<std::uint32_t>(port);
            record->lent_bytes = block.bytes.data();
            lent_[lent_count_] = record;
            places_[lent_count_++] = static_cast<std::uint16_t>(place);
        }
    }

    void copy(const feed::Block& block, std::size_t line) {
        FirstCopy* record = claim(block, line, FirstCopy::records_for(block.bytes.size()));
        if (record != nullptr) {
            std::memcpy(static_cast<void*>(record + 1), block.bytes.data(), block.bytes.size());
        }
    }

    /// The burst of this port is done.
    void end_burst(nic::Port& port) {
        if (lent_count_ != 0) {
            port.lend({places_.data(), lent_count_}, {buffers_.data(), lent_count_});
            for (std::size_t i = 0; i < lent_count_; ++i) {
                lent_[i]->buffer = buffers_[i];
            }
            lent_count_ = 0;
        }
        publish();
    }

    void publish() { copies_.publish(); }

    [[nodiscard]] const Counter& skipped() const { return skipped_; }

  private:
    static constexpr std::size_t burst_packets_max = 512;  // nic/port_keys.cpp

    /// Null: there is no room.
    FirstCopy* claim(const feed::Block& block, std::size_t line, std::size_t records) {
        FirstCopy* record = copies_.claim(records);
        if (record == nullptr) [[unlikely]] {
            skipped_.add();
            return nullptr;
        }
        record->buffer = nullptr;
        record->ts_exchange_ns = block.ts_exchange_ns;
        record->line = static_cast<std::uint32_t>(line);
        record->first = block.sequence;
        record->messages = block.messages;
        record->bytes = static_cast<std::uint16_t>(block.bytes.size());
        return record;
    }

    Producer<FirstCopy> copies_;
    std::size_t lent_count_ = 0;
    Counter skipped_;
    std::array<std::uint16_t, burst_packets_max> places_{};
    std::array<FirstCopy*, burst_packets_max> lent_{};
    std::array<nic::LentBuffer, burst_packets_max> buffers_{};
};

/// The other end.
struct HistoryRoadEnd {
    std::vector<std::uint16_t> lines;     ///< of the poller, in its order
    std::vector<const nic::Port*> ports;  ///< likewise
    Consumer<FirstCopy> copies;
};

}  // namespace pinstrike::actors
