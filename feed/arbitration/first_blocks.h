// path: hot
#pragma once

#include "feed/event/block.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

/// The first blocks that a stream carried since some moment. If they arrive again, a capture is
/// played in a loop.
class FirstBlocks {
  public:
    [[nodiscard]] bool empty() const { return count_ == 0; }

    [[nodiscard]] bool full() const { return count_ == kept; }

    void clear() { count_ = 0; }

    /// Changes nothing if the block is noted already or the list is full.
    void note(const Block& block) {
        if (!full() && !has(block)) {
            blocks_[count_++] = Identity::of(block);
        }
    }

    [[nodiscard]] bool has(const Block& block) const {
        return std::find(blocks_.begin(), blocks_.begin() + count_, Identity::of(block)) !=
               blocks_.begin() + count_;
    }

  private:
    struct Identity {
        std::uint64_t sequence = 0;
        std::int64_t ts_exchange_ns = 0;

        friend bool operator==(const Identity&, const Identity&) = default;

        [[nodiscard]] static Identity of(const Block& block) {
            return {block.sequence, block.ts_exchange_ns};
        }
    };

    /// Large enough that some consecutive blocks arrive again even if a few of them are lost.
    static constexpr std::size_t kept = 8;

    std::array<Identity, kept> blocks_{};
    std::uint8_t count_ = 0;
};

}  // namespace pinstrike::feed
