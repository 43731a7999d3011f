// path: hot
//
// The ring of first copies, from a poller to the history of its lines (feed/recovery/history.h),
// which another thread keeps. ring.h says why its memory orders are enough. The poller never waits:
// a block that does not fit is skipped and counted, and the history does not get it.
//
// Where the port can keep packets, a block goes by reference: the record says where it lies, and
// the port keeps the packet until the other thread has released the record (kept_packets.h). The
// poll thread gives it back itself: a buffer freed by another thread leaves its head in that
// core's cache, and the next packet waits for it. Where the port cannot keep, since its buffers go
// back to the kernel with the next burst, the bytes are copied behind the record (record_ring.h).
//
// Two records share a cache line: each line comes over from the other core's cache and goes back.
#pragma once

#include "actors/poller/kept_packets.h"
#include "actors/threads/record_ring.h"
#include "actors/threads/ring.h"
#include "config/counter.h"
#include "feed/event/block.h"
#include "nic/port.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// A block that an arbiter took, in whole or in part.
struct alignas(32) FirstCopy {
    const std::byte* kept_bytes = nullptr;  ///< null: they lie in the records behind this one
    std::int64_t ts_exchange_ns = 0;
    std::uint32_t first = 0;  ///< number(), the low 32 bits
    std::uint16_t messages = 0;
    std::uint16_t bytes = 0;
    std::uint16_t line = 0;       ///< its place among the poller's
    std::uint8_t first_high = 0;  ///< number(), bits 32 to 39

    /// Of its first message.
    [[nodiscard]] std::uint64_t number() const { return std::uint64_t{first_high} << 32 | first; }

    [[nodiscard]] std::size_t bytes_behind() const { return kept_bytes == nullptr ? bytes : 0; }
};

static_assert(sizeof(FirstCopy) == 32 && std::is_trivially_copyable_v<FirstCopy>);

/// The poller's end. Its counters may be read by any thread.
class HistoryRingWriter {
  public:
    /// Of a poller whose ports keep packets: as many (4 ms of two million packets a second, and the
    /// other thread looks more often).
    static constexpr std::size_t keeping_slots = nic::kept_packets_max;
    /// Of any other: about 4000 full blocks.
    static constexpr std::size_t copying_slots = 131'072;

    explicit HistoryRingWriter(Producer<FirstCopy> copies) : copies_(std::move(copies)) {}

    /// The block lies in the burst of a port that keeps.
    void keep(const feed::Block& block, std::size_t line) {
        if (describe(copies_.claim(1), block, line, block.bytes.data())) {
            burst_is_read_ = true;
        }
    }

    void copy(const feed::Block& block, std::size_t line) {
        describe(claim_record(copies_, block.bytes), block, line, nullptr);
    }

    /// A burst of so many packets is done, or none has come. Of a port that keeps.
    void end_burst(nic::Port& port, KeptPackets& kept, std::size_t packets) {
        publish();
        if (std::exchange(burst_is_read_, false)) {
            kept.add(packets, copies_.claimed());
            port.keep_burst();
        }
        if (kept.count() >= look_packets || (packets == 0 && kept.count() != 0)) {
            port.give_back(kept.release(copies_.released()));
        }
    }

    void publish() { copies_.publish(); }

    /// A block is not kept: too many packets are.
    void skip() { skipped_.add(); }

    [[nodiscard]] const Counter& skipped() const { return skipped_; }

  private:
    /// While packets come, the other thread's index is looked at for so many at once.
    static constexpr std::size_t look_packets = 128;

    /// Fills what was claimed; false: nothing was, for want of room, and the block is skipped.
    bool describe(FirstCopy* record, const feed::Block& block, std::size_t line,
                  const std::byte* kept_bytes) {
        if (record == nullptr) [[unlikely]] {
            skipped_.add();
            return false;
        }
        record->kept_bytes = kept_bytes;
        record->ts_exchange_ns = block.ts_exchange_ns;
        record->line = static_cast<std::uint16_t>(line);
        record->first = static_cast<std::uint32_t>(block.sequence);
        record->first_high = static_cast<std::uint8_t>(block.sequence >> 32);
        record->messages = block.messages;
        record->bytes = static_cast<std::uint16_t>(block.bytes.size());
        return true;
    }

    Producer<FirstCopy> copies_;
    bool burst_is_read_ = false;
    Counter skipped_;
};

/// The history's end.
struct HistoryRingReader {
    std::vector<std::uint16_t> lines;  ///< of the poller, in its order
    Consumer<FirstCopy> copies;
};

}  // namespace pinstrike::actors
