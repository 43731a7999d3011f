// path: hot
//
// The two rings between a poller and the recovery thread. One carries notes of missing and of found
// numbers to recovery, and the other carries repair blocks to the poller. ring.h explains why its
// memory orders are enough. The poller never waits for recovery. A note that does not fit into the
// ring is dropped and counted. If it was a note of missing numbers, recovery does not request them,
// and they stay lost. If it was a note of found numbers, recovery requests them in vain until it
// gives them up.
//
// A block is a record that is followed by its bytes (record_ring.h).
#pragma once

#include "actors/threads/record_ring.h"
#include "actors/threads/ring.h"
#include "config/counter.h"
#include "feed/event/limits.h"
#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// A range of numbers of one line that are missing, or that were found after all.
struct alignas(64) RepairNote {
    enum class Kind : std::uint8_t { missing, found };
    feed::Position begin = 0;
    feed::Position end = 0;
    std::int64_t ts_before_ns = 0;
    std::int64_t ts_behind_ns = 0;
    std::uint32_t line = 0;  ///< index among the poller's lines
    Kind kind = Kind::missing;
};

static_assert(sizeof(RepairNote) == 64);

/// The head of a block, or a slot that holds some of its bytes.
struct alignas(64) RepairRecord {
    std::uint32_t line = 0;  ///< index among the poller's lines
    std::uint32_t bytes = 0;

    [[nodiscard]] std::size_t bytes_behind() const { return bytes; }
};

static_assert(sizeof(RepairRecord) == 64);

/// The poller's ends of its repair rings. Any thread may read the counters.
class PollerRepairRings {
  public:
    static constexpr std::size_t notes_slots = 8192;
    static constexpr std::size_t repairs_slots = 32768;  ///< about 2000 full blocks
    /// The bound on repair blocks per step, so that they never delay the streams for long.
    static constexpr std::size_t blocks_each_step = 16;

    PollerRepairRings(Producer<RepairNote> notes, Consumer<RepairRecord> repairs)
        : notes_(std::move(notes)), repairs_(std::move(repairs)) {}

    void note(const RepairNote& note) noexcept {
        if (!notes_.try_push({&note, 1})) {
            notes_dropped_.add();
        }
    }

    /// Calls `on_block(line, bytes)` for up to blocks_each_step blocks and returns the number of
    /// blocks. An empty ring costs one read of an index. The cache line of the index stays in this
    /// core's cache, because the producer writes the index only when it publishes a block.
    template <class OnBlock>
    std::size_t read_repairs(OnBlock&& on_block) {
        std::size_t read = 0;
        for (; read != blocks_each_step; ++read) {
            const auto record = peek_record(repairs_);
            if (!record) {
                break;
            }
            on_block(record->head.line, record->bytes);
            repairs_.release(record->slots);
        }
        repairs_read_.add(read);
        return read;
    }

    [[nodiscard]] const Counter& notes_dropped() const { return notes_dropped_; }

    [[nodiscard]] const Counter& repairs_read() const { return repairs_read_; }

  private:
    Producer<RepairNote> notes_;
    Consumer<RepairRecord> repairs_;
    Counter notes_dropped_;
    Counter repairs_read_;
};

/// Recovery's ends of the repair rings of one poller.
struct RecoveryRepairRings {
    std::vector<std::uint16_t> lines;  ///< numbers of the poller's lines, in its order
    Consumer<RepairNote> notes;
    Producer<RepairRecord> repairs;

    /// Copies a block into the ring. Returns false if the block is too long, or if the ring is
    /// full.
    [[nodiscard]] bool carry(std::uint32_t line, std::span<const std::byte> bytes) noexcept {
        if (bytes.size() > feed::kept_block_bytes_max) {
            return false;
        }
        RepairRecord* const head = claim_record(repairs, bytes);
        if (head == nullptr) {
            return false;
        }
        *head = {line, static_cast<std::uint32_t>(bytes.size())};
        repairs.publish();
        return true;
    }
};

}  // namespace pinstrike::actors
