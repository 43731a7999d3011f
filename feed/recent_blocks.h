// path: hot
#pragma once

#include "feed/block.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

/// The data blocks that a line brought last, whichever stream brought them first. A block that says
/// the same again is a copy of it, though its time differs: a site that failed over, or a relay,
/// may stamp one stream anew.
class RecentBlocks {
  public:
    struct Entry {
        std::int64_t ts_exchange_ns = 0;
        std::uint64_t fingerprint = 0;
        std::uint32_t sequence = 0;
        std::uint16_t messages = 0;
    };

    /// Its first copy came. `place` counts the blocks of the line.
    void note(const Block& block, std::uint32_t place) {
        entries_[place % kept] = {block.ts_exchange_ns, block.fingerprint, block.sequence,
                                  block.messages};
    }

    /// Where it was noted last, of those before `end`; `end` if nowhere.
    [[nodiscard]] std::uint32_t find(const Block& block, std::uint32_t end) const {
        const std::uint32_t count = std::min(end, std::uint32_t{kept});
        for (std::uint32_t back = 1; back <= count; ++back) {
            const Entry& entry = at(end - back);
            if (entry.sequence == block.sequence && entry.fingerprint == block.fingerprint &&
                entry.messages == block.messages) {
                return end - back;
            }
        }
        return end;
    }

    [[nodiscard]] const Entry& at(std::uint32_t place) const { return entries_[place % kept]; }

  private:
    static constexpr std::uint32_t kept = 64;

    std::array<Entry, kept> entries_{};
};

}  // namespace pinstrike::feed
