// path: hot
//
// Holds blocks until the messages that are missing before them arrive or are given up. HoldArena
// keeps copies of the blocks in order of arrival, HoldQueue keeps entries for them in order of
// position. Both allocate at construction only.
#pragma once

#include "feed/event/block.h"
#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pinstrike::feed {

/// The source of a block: one of the line's streams, or a retransmission.
enum class Source : std::uint8_t { a, b, repair };

/// A part of a block that is held. The copied bytes follow it in memory.
struct HeldBlock {
    Block block;  ///< bytes: the copy; places: nullptr, because they are not copied
    std::int64_t arrival_ns = 0;
    std::uint32_t record_bytes = 0;
    std::uint16_t first = 0;  ///< the messages that are held are first .. last-1
    std::uint16_t last = 0;
    Source source = Source::a;
    bool live = false;
};

/// A ring of copied blocks. keep() adds them at the head, release() takes them in any order, and
/// memory becomes free only at the tail.
class HoldArena {
  public:
    explicit HoldArena(std::size_t capacity_bytes);

    /// Copies a block; nullptr: there is not enough memory.
    HeldBlock* keep(const Block& block, std::uint16_t first, std::uint16_t last, Source source,
                    std::int64_t arrival_ns);

    void release(HeldBlock* held);

    /// The block that arrived first; nullptr: none is held.
    [[nodiscard]] HeldBlock* oldest() const { return records_ == 0 ? nullptr : at(tail_); }

    /// The next younger block that is not released; nullptr: there is none.
    [[nodiscard]] HeldBlock* younger(const HeldBlock* held) const;

    [[nodiscard]] bool empty() const { return records_ == 0; }

    /// The most records that can be live at once.
    [[nodiscard]] std::size_t records_max() const { return capacity_ / sizeof(HeldBlock); }

  private:
    [[nodiscard]] HeldBlock* at(std::size_t offset) const;
    [[nodiscard]] std::size_t behind(std::size_t offset) const;
    [[nodiscard]] bool make_place(std::size_t bytes);

    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_;     // bytes; all offsets are multiples of sizeof(HeldBlock)
    std::size_t head_ = 0;     // where the next record goes
    std::size_t tail_ = 0;     // the oldest record, live if there is any
    std::size_t limit_ = 0;    // if wrapped, the end of the records in the upper part
    std::size_t records_ = 0;  // from tail to head, released ones between them included
    bool wrapped_ = false;     // the records run from tail to limit, then from 0 to head
};

/// An entry beyond a hole. An entry of kind `evidence` holds no position, so it precedes all other
/// entries that begin at its position.
struct HoldEntry {
    enum class Kind : std::uint8_t {
        messages,     ///< to be delivered
        undecodable,  ///< declared lost already
        evidence,     ///< a line integrity control said that all numbers before it existed
    };

    // No initialisers, so that an array of entries takes only address space until it is used.
    Position begin;
    Position end;  ///< evidence: same as begin
    HeldBlock* held;
    Kind kind;

    /// The block time.
    [[nodiscard]] std::int64_t ts_ns() const { return held->block.ts_exchange_ns; }
};

/// Disjoint entries in order of position.
class HoldQueue {
  public:
    explicit HoldQueue(std::size_t entries_max);

    /// The memory of a queue for so many entries.
    [[nodiscard]] static std::size_t memory_bytes(std::size_t entries_max) {
        return 2 * entries_max * sizeof(HoldEntry);
    }

    [[nodiscard]] bool empty() const { return first_ == last_; }

    [[nodiscard]] bool full() const { return last_ - first_ == max_; }

    [[nodiscard]] const HoldEntry& front() const { return entries_[first_]; }

    [[nodiscard]] const HoldEntry& back() const { return entries_[last_ - 1]; }

    void pop_front();

    /// Must not be called if the queue is full.
    void insert(const HoldEntry& entry);

    /// The first entry that holds `position` or begins after it; nullptr: there is none.
    [[nodiscard]] const HoldEntry* find(Position position) const;

    /// Removes each entry for which `leaves(entry)` is true.
    template <class Leaves>
    void remove_if(Leaves leaves) {
        std::size_t kept = first_;
        for (std::size_t i = first_; i != last_; ++i) {
            if (!leaves(entries_[i])) {
                entries_[kept++] = entries_[i];
            }
        }
        last_ = kept;
    }

  private:
    [[nodiscard]] std::size_t index_of(Position position) const;

    std::unique_ptr<HoldEntry[]> entries_;
    std::size_t max_;
    std::size_t first_ = 0;
    std::size_t last_ = 0;
};

}  // namespace pinstrike::feed
