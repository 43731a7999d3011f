// path: hot
//
// The ring that carries first copies of blocks from a poller to the thread that keeps the history
// of its lines (feed/recovery/history.h). ring.h explains the memory orders. The poller never
// waits: if the ring is full, a block is skipped and counted, and the history lacks it.
//
// If the port can keep packets, the record holds a pointer to the block, and the port keeps the
// packet until the other thread has released the record (kept_packets.h). The poll thread itself
// returns the buffer to the port. If another thread freed the buffer, its first bytes would stay in
// the cache of that thread's core, and the next packet in that buffer would wait for them. If the
// port cannot keep packets, because the next burst returns their buffers to the kernel, the bytes
// of the block are copied behind the record (record_ring.h).
//
// Two records share a cache line, because each cache line moves to the other core's cache and back.
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

/// A block whose first copy an arbiter accepted, in whole or in part.
struct alignas(32) FirstCopy {
    const std::byte* kept_bytes = nullptr;  ///< null: the block's bytes lie in the records behind
    std::int64_t ts_exchange_ns = 0;
    std::uint32_t first = 0;  ///< number of the first message, low 32 bits
    std::uint16_t messages = 0;
    std::uint16_t bytes = 0;
    std::uint16_t line = 0;       ///< index of the line within the poller
    std::uint8_t first_high = 0;  ///< number of the first message, bits 32 to 39
    std::uint8_t session = 0;     ///< Block::session

    /// The number of the block's first message.
    [[nodiscard]] std::uint64_t number() const { return std::uint64_t{first_high} << 32 | first; }

    [[nodiscard]] std::size_t bytes_behind() const { return kept_bytes == nullptr ? bytes : 0; }
};

static_assert(sizeof(FirstCopy) == 32 && std::is_trivially_copyable_v<FirstCopy>);

/// The poller's end. Any thread may read its counters.
class HistoryRingWriter {
  public:
    /// Slots for a poller whose ports keep packets: one for each kept packet. That is 4 ms at two
    /// million packets a second, and the other thread reads the ring more often.
    static constexpr std::size_t keeping_slots = nic::kept_packets_max;
    /// Slots for any other poller: about 4000 full blocks.
    static constexpr std::size_t copying_slots = 131'072;

    explicit HistoryRingWriter(Producer<FirstCopy> copies) : copies_(std::move(copies)) {}

    /// Records a block that lies in the burst of a port that keeps packets.
    void keep(const feed::Block& block, std::size_t line) {
        if (describe(copies_.claim(1), block, line, block.bytes.data())) {
            burst_is_read_ = true;
        }
    }

    void copy(const feed::Block& block, std::size_t line) {
        describe(claim_record(copies_, block.bytes), block, line, nullptr);
    }

    /// Ends a burst of `packets` packets (0: none came) of a port that keeps packets.
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

    /// Counts a block as skipped because too many packets are kept.
    void skip() { skipped_.add(); }

    [[nodiscard]] const Counter& skipped() const { return skipped_; }

  private:
    /// While packets come, the poller reads the other thread's index once for this many packets.
    static constexpr std::size_t look_packets = 128;

    /// Fills the claimed record. False if `record` is null because the ring is full: the block is
    /// skipped.
    // Not inline, because its loads would take registers of the fast path.
    [[gnu::noinline]] bool describe(FirstCopy* record, const feed::Block& block, std::size_t line,
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
        record->session = block.session;
        record->messages = block.messages;
        record->bytes = static_cast<std::uint16_t>(block.bytes.size());
        return true;
    }

    Producer<FirstCopy> copies_;
    bool burst_is_read_ = false;
    Counter skipped_;
};

/// The end of the thread that keeps the history.
struct HistoryRingReader {
    std::vector<std::uint16_t> lines;  ///< the poller's line numbers, in its order
    Consumer<FirstCopy> copies;
};

}  // namespace pinstrike::actors
