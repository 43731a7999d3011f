// path: hot
//
// The blocks that a line holds behind its first hole, and the time at which the hole is given up.
// A hole that a cut of a recording made on purpose is not waited for.
#pragma once

#include "feed/arbitration/hold.h"
#include "feed/arbitration/left_out_numbers.h"
#include "feed/event/block.h"
#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace pinstrike::feed {

class HeldBlocks {
  public:
    /// No deadline.
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    /// Allocates here only. `window_ns`: a hole that is older than this is given up.
    HeldBlocks(std::size_t capacity_bytes, std::int64_t window_ns, const Numbering& numbering);

    /// Cold. The memory of the blocks and their entries.
    [[nodiscard]] static std::size_t memory_bytes(std::size_t capacity_bytes);

    [[nodiscard]] bool empty() const { return queue_.empty(); }

    [[nodiscard]] const HoldEntry& front() const { return queue_.front(); }

    [[nodiscard]] const HoldEntry& back() const { return queue_.back(); }

    /// The first entry that holds `position` or begins after it; nullptr: there is none.
    [[nodiscard]] const HoldEntry* find(Position position) const { return queue_.find(position); }

    /// Copies the block of an entry and adds the entry; `first` is the entry's first message within
    /// the block. False: there is not enough memory.
    [[nodiscard]] bool keep(const HoldEntry& entry, const Block& block, unsigned first,
                            Source source, std::int64_t arrival_ns);

    /// Removes the first entry. Its block stays until release().
    [[nodiscard]] HoldEntry pop_front();

    /// Removes each entry for which `leaves(entry)` is true, which calls release().
    template <class Leaves>
    void remove_if(Leaves leaves) {
        queue_.remove_if(leaves);
    }

    /// Gives back the memory of a block.
    void release(HeldBlock* held) { arena_.release(held); }

    /// Sets the window. It also applies to a hole that is already open, from the line's next block
    /// or timer on.
    void set_window(std::int64_t window_ns) { window_ns_ = window_ns; }

    /// When a hole that opened at this time is given up; never, if the window is practically
    /// endless.
    [[nodiscard]] std::int64_t deadline_after(std::int64_t arrival_ns) const {
        return arrival_ns > never_ns - window_ns_ ? never_ns : arrival_ns + window_ns_;
    }

    [[nodiscard]] LeftOutNumbers& left_out() { return left_out_; }

    /// When the first hole is given up.
    [[nodiscard]] std::int64_t deadline_ns() const {
        // The oldest held block arrived first, and all held blocks are behind the first hole.
        return queue_.empty() ? never_ns : deadline_after(arena_.oldest()->arrival_ns);
    }

  private:
    std::int64_t window_ns_;
    HoldArena arena_;
    HoldQueue queue_;
    LeftOutNumbers left_out_;
};

}  // namespace pinstrike::feed
