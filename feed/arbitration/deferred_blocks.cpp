// path: hot
#include "feed/arbitration/deferred_blocks.h"

namespace pinstrike::feed {

bool DeferredBlocks::defer(const Arrival& arrival) {
    return arena_.keep(arrival.block, static_cast<std::uint16_t>(arrival.first),
                       static_cast<std::uint16_t>(arrival.last), arrival.source,
                       arrival.now_ns) != nullptr;
}

bool DeferredBlocks::defer(const HeldBlock& held) {
    return arena_.keep(held.block, held.first, held.last, held.source, held.arrival_ns) != nullptr;
}

HeldBlock* DeferredBlocks::earliest(std::int64_t until_ts_ns, bool stamps_repeat) const {
    HeldBlock* earliest = nullptr;
    for (HeldBlock* held = arena_.oldest(); held != nullptr; held = arena_.younger(held)) {
        const std::int64_t ts_ns = held->block.ts_exchange_ns;
        const bool earlier =
            earliest == nullptr || (ts_ns < earliest->block.ts_exchange_ns && !stamps_repeat);
        if (earlier && ts_ns <= until_ts_ns) {
            earliest = held;
        }
    }
    return earliest;
}

const HeldBlock* DeferredBlocks::earliest_original() const {
    const HeldBlock* earliest = nullptr;
    for (const HeldBlock* held = oldest(); held != nullptr; held = younger(held)) {
        if (held->source != Source::repair &&
            (earliest == nullptr || held->block.ts_exchange_ns < earliest->block.ts_exchange_ns)) {
            earliest = held;
        }
    }
    return earliest;
}

}  // namespace pinstrike::feed
