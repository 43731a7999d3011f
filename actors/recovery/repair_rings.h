// path: hot
//
// The two roads between a poller and recovery's thread: notes of what is missing or found, one way;
// blocks that fill it, the other way. Both are rings (ring.h says why their orders are enough), so
// the poller never waits for recovery: a note that finds no room is dropped and counted. Then a
// hole is not asked for, and stays as lost as the arbiter says; or it is asked for in vain, until
// it is given up.
//
// A block lies in the ring as a record that says what follows, and its bytes in the records behind
// it: one piece, since the memory is mapped twice.
#pragma once

#include "actors/threads/ring.h"
#include "config/counter.h"
#include "feed/arbitration/position.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// Of one line, by its place among the poller's.
struct alignas(64) RepairNote {
    enum class Kind : std::uint8_t { missing, found };
    feed::Position begin = 0;
    feed::Position end = 0;
    std::int64_t ts_before_ns = 0;
    std::int64_t ts_behind_ns = 0;
    std::uint32_t line = 0;
    Kind kind = Kind::missing;
};

static_assert(sizeof(RepairNote) == 64);

/// What follows in the records behind it; or a part of that.
struct alignas(64) RepairRecord {
    std::uint32_t line = 0;  ///< its place among the poller's
    std::uint32_t bytes = 0;

    /// Records that a block takes, this one included.
    [[nodiscard]] static constexpr std::size_t records_for(std::size_t block_bytes) {
        return 1 + (block_bytes + sizeof(RepairRecord) - 1) / sizeof(RepairRecord);
    }
};

static_assert(sizeof(RepairRecord) == 64);

/// The poller's ends. Its counters may be read by any thread.
class PollerRoads {
  public:
    static constexpr std::size_t notes_slots = 8192;
    static constexpr std::size_t repairs_slots = 32768;  ///< about 2000 full blocks
    static constexpr std::size_t block_bytes_max = 16 * 1024;
    /// Of one step, so that repairs never hold up the streams for long.
    static constexpr std::size_t blocks_each_step = 16;

    PollerRoads(Producer<RepairNote> notes, Consumer<RepairRecord> repairs)
        : notes_(std::move(notes)), repairs_(std::move(repairs)) {}

    void note(const RepairNote& note) noexcept {
        if (!notes_.try_push({&note, 1})) {
            notes_dropped_.add();
        }
    }

    /// Hands `take(line, bytes)` some of the blocks that have come; how many. One look at an index
    /// that is written only when something comes: its line stays in this core's cache until then.
    template <class Take>
    std::size_t take_repairs(Take&& take) {
        std::size_t taken = 0;
        for (; taken != blocks_each_step; ++taken) {
            const auto head = repairs_.peek(1);
            if (head.empty()) {
                break;
            }
            const RepairRecord record = head.front();
            const std::size_t records = RepairRecord::records_for(record.bytes);
            const auto whole = repairs_.peek(records);  // published together
            take(record.line, std::as_bytes(whole.subspan(1)).first(record.bytes));
            repairs_.release(records);
        }
        repairs_taken_.add(taken);
        return taken;
    }

    [[nodiscard]] const Counter& notes_dropped() const { return notes_dropped_; }

    [[nodiscard]] const Counter& repairs_taken() const { return repairs_taken_; }

  private:
    Producer<RepairNote> notes_;
    Consumer<RepairRecord> repairs_;
    Counter notes_dropped_;
    Counter repairs_taken_;
};

/// Recovery's ends.
struct RecoveryRoads {
    std::vector<std::uint16_t> lines;  ///< of the poller, in its order
    Consumer<RepairNote> notes;
    Producer<RepairRecord> repairs;

    /// False if there is no room. The bytes are copied.
    [[nodiscard]] bool carry(std::uint32_t line, std::span<const std::byte> bytes) noexcept {
        if (bytes.size() > PollerRoads::block_bytes_max) {
            return false;
        }
        RepairRecord* records = repairs.claim(RepairRecord::records_for(bytes.size()));
        if (records == nullptr) {
            return false;
        }
        records[0] = {line, static_cast<std::uint32_t>(bytes.size())};
        if (!bytes.empty()) {
            std::memcpy(records + 1, bytes.data(), bytes.size());
        }
        repairs.publish();
        return true;
    }
};

}  // namespace pinstrike::actors
