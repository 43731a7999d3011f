// path: hot
//
// Where blocks wait for what is missing before them. HoldArena keeps copies of blocks in the order
// of their arrival, HoldQueue says in which order of positions they go on. Both claim their memory
// at construction.
#pragma once

#include "feed/event/block.h"
#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pinstrike::feed {

/// Who brought a block: one of the line's streams, or a retransmission.
enum class Source : std::uint8_t { a, b, repair };

/// A part of a block that waits. The copied bytes stand right behind it.
struct HeldBlock {
    Block block;  ///< bytes: the copy; places: none, they are not copied
    std::int64_t arrival_ns = 0;
    std::uint32_t record_bytes = 0;
    std::uint16_t first = 0;  ///< of the block's messages, those kept: first .. last-1
    std::uint16_t last = 0;
    Source source = Source::a;
    bool live = false;
};

/// A ring of copied blocks: kept at the front, released in any order, room is won back at the end.
class HoldArena {
  public:
    explicit HoldArena(std::size_t capacity_bytes);

    /// nullptr if there is no room.
    HeldBlock* keep(const Block& block, std::uint16_t first, std::uint16_t last, Source source,
                    std::int64_t arrival_ns);

    void release(HeldBlock* held);

    /// The one that arrived first; nullptr if none waits.
    [[nodiscard]] HeldBlock* oldest() const { return records_ == 0 ? nullptr : at(tail_); }

    /// The next younger one, skipping released ones; nullptr behind the youngest.
    [[nodiscard]] HeldBlock* younger(const HeldBlock* held) const;

    [[nodiscard]] bool empty() const { return records_ == 0; }

    /// How many records can be live at once at most.
    [[nodiscard]] std::size_t records_max() const { return capacity_ / sizeof(HeldBlock); }

  private:
    [[nodiscard]] HeldBlock* at(std::size_t offset) const;
    [[nodiscard]] std::size_t behind(std::size_t offset) const;
    [[nodiscard]] bool make_place(std::size_t bytes);

    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_;     // bytes; all offsets are multiples of sizeof(HeldBlock)
    std::size_t head_ = 0;     // where the next record goes
    std::size_t tail_ = 0;     // the oldest record, live if there is any
    std::size_t limit_ = 0;    // wrapped: the end of the records in the upper part
    std::size_t records_ = 0;  // from tail to head, released ones between them included
    bool wrapped_ = false;     // the records run from tail to limit, then from 0 to head
};

/// What stands beyond a hole. Evidence holds no position, so it is before all that begin with its
/// own.
struct HoldEntry {
    enum class Kind : std::uint8_t {
        messages,     ///< to be delivered
        undecodable,  ///< declared lost already
        evidence,     ///< nothing: a line integrity control said that all before it existed
    };

    // Without initialisers: an array of them costs address space only until it is used.
    Position begin;
    Position end;  ///< evidence: same as begin
    HeldBlock* held;
    Kind kind;
};

/// Entries in order of position, disjoint.
class HoldQueue {
  public:
    explicit HoldQueue(std::size_t entries_max);

    /// Of a queue for so many.
    [[nodiscard]] static std::size_t memory_bytes(std::size_t entries_max) {
        return 2 * entries_max * sizeof(HoldEntry);
    }

    [[nodiscard]] bool empty() const { return first_ == last_; }

    [[nodiscard]] bool full() const { return last_ - first_ == max_; }

    [[nodiscard]] const HoldEntry& front() const { return entries_[first_]; }

    [[nodiscard]] const HoldEntry& back() const { return entries_[last_ - 1]; }

    void pop_front();

    /// Not when full.
    void insert(const HoldEntry& entry);

    /// The first entry that holds `position` or begins behind it; nullptr if there is none.
    [[nodiscard]] const HoldEntry* find(Position position) const;

    /// Takes out each entry of which `leaves(entry)` is true.
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
