// path: hot
#include "feed/arbitration/deferred_blocks.h"

#include "config/check.h"
#include "feed/arbitration/position.h"

namespace pinstrike::feed {

namespace {

/// How far apart the first blocks of the two streams behind a missed reset may be.
constexpr std::uint64_t first_blocks_messages = 65536;

/// One goes on from the other, or they are the same.
bool are_neighbours(const Block& one, const Block& other) {
    return number_of(one) == next_of(other) || number_of(other) == next_of(one) ||
           (number_of(one) == number_of(other) && one.ts_exchange_ns == other.ts_exchange_ns);
}

/// The oldest that `fits(held)`; nullptr if there is none.
template <class Fits>
HeldBlock* find(const HoldArena& arena, Fits fits) {
    HeldBlock* held = arena.oldest();
    while (held != nullptr && !fits(*held)) {
        held = arena.younger(held);
    }
    return held;
}

}  // namespace

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
    for (HeldBlock* held = oldest(); held != nullptr; held = younger(held)) {
        const std::int64_t ts_ns = held->block.ts_exchange_ns;
        const bool earlier =
            earliest == nullptr || (ts_ns < earliest->block.ts_exchange_ns && !stamps_repeat);
        if (earlier && ts_ns <= until_ts_ns) {
            earliest = held;
        }
    }
    return earliest;
}

const HeldBlock* DeferredBlocks::first_of(Source source) const {
    return find(arena_, [=](const HeldBlock& held) { return held.source == source; });
}

bool DeferredBlocks::can_corroborate(Source source) const {
    return find(arena_, [=](const HeldBlock& held) {
               return held.source == source && can_corroborate(held);
           }) != nullptr;
}

const HeldBlock* DeferredBlocks::neighbour(Source source, const Block& block) const {
    return find(arena_, [&](const HeldBlock& held) {
        return held.source == source && are_neighbours(held.block, block);
    });
}

const HeldBlock& DeferredBlocks::first_behind_reset(Source source) const {
    const HeldBlock* first = nullptr;
    for (const HeldBlock* held = oldest(); held != nullptr; held = younger(held)) {
        if (held->source == source &&
            (first == nullptr || held->block.ts_exchange_ns < first->block.ts_exchange_ns)) {
            first = held;
        }
    }
    PINSTRIKE_CHECK(first != nullptr);
    const Position begin = 2 * numbers_per_turn + number_of(first->block);
    const HeldBlock* earliest = first;
    for (const HeldBlock* held = oldest(); held != nullptr; held = younger(held)) {
        const Position other = nearest(begin, number_of(held->block));
        if (other < begin && begin - other < first_blocks_messages &&
            held->block.ts_exchange_ns < earliest->block.ts_exchange_ns) {
            earliest = held;
        }
    }
    return *earliest;
}

}  // namespace pinstrike::feed
