// path: mixed, cold: construction
#include "feed/arbitration/held_blocks.h"

#include <algorithm>

namespace pinstrike::feed {

// --- cold ---

HeldBlocks::HeldBlocks(std::size_t capacity_bytes, std::int64_t window_ns,
                       const Numbering& numbering)
    : window_ns_(std::max<std::int64_t>(window_ns, 0)),
      arena_(capacity_bytes),
      queue_(arena_.records_max()),
      left_out_(numbering) {}

std::size_t HeldBlocks::memory_bytes(std::size_t capacity_bytes) {
    const std::size_t records_max = capacity_bytes / sizeof(HeldBlock) + 1;
    return capacity_bytes + HoldQueue::memory_bytes(records_max);
}

// --- hot ---

bool HeldBlocks::keep(const HoldEntry& entry, const Block& block, unsigned first, Source source,
                      std::int64_t arrival_ns) {
    if (queue_.full()) {
        return false;
    }
    Block copied = block;
    if (entry.kind != HoldEntry::Kind::messages) {
        copied.bytes = {};
    }
    HeldBlock* held = arena_.keep(copied, static_cast<std::uint16_t>(first),
                                  static_cast<std::uint16_t>(first + (entry.end - entry.begin)),
                                  source, arrival_ns);
    if (held != nullptr) {
        queue_.insert({entry.begin, entry.end, held, entry.kind});
    }
    return held != nullptr;
}

HoldEntry HeldBlocks::pop_front() {
    const HoldEntry entry = queue_.front();
    queue_.pop_front();
    return entry;
}

}  // namespace pinstrike::feed
