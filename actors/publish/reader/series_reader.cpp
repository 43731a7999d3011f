// path: hot
#include "actors/publish/reader/series_reader.h"

namespace pinstrike::reader {
namespace {

/// The two slots of a hash, as the writer's table determines them.
struct Slots {
    std::size_t first;
    std::size_t second;
};

Slots slots_of(const CoreView& core, std::uint64_t hash) {
    const std::size_t slot = (hash & 0xFFFF'FFFFU) * core.entries.size() >> 32;
    const std::size_t apart = (hash >> 32) % group_slots | 1U;
    return {slot, slot ^ apart};
}

bool has_key(const pinstrike_entry& entry, const feed::SeriesKey& key) {
    RING_HOOK("reader:slot");
    return load_relaxed(entry.name) == key.name && load_relaxed(entry.strike_e8) == key.strike_e8;
}

/// The slot of a series; nullptr: it is in none. Right only if the version of the group is even and
/// stays.
const pinstrike_entry* slot_of(const CoreView& core, const feed::SeriesKey& key,
                               const Slots& slots) {
    for (const std::size_t slot : {slots.first, slots.second}) {
        if (has_key(core.entries[slot], key)) {
            return &core.entries[slot];
        }
    }
    const std::size_t group = slots.first / group_slots;
    if (load_relaxed(core.groups[group].displaced) == 0) {
        return nullptr;
    }
    for (std::size_t i = 0; i < group_slots; ++i) {
        const pinstrike_entry& entry = core.entries[group * group_slots + i];
        if (has_key(entry, key)) {
            return &entry;
        }
    }
    return nullptr;
}

/// Copies the parts that belong to an entry. False: they are being written.
bool copy_parts(const CoreView& core, const pinstrike_entry& entry, SeriesParts& parts) {
    const std::uint64_t stamp = load_acquire(entry.stamp);
    if ((stamp & PINSTRIKE_STAMP_WRITING) != 0) {
        return false;
    }
    parts.entry = copy_shared(entry);
    const std::size_t index = parts.entry.record & PINSTRIKE_INDEX;
    const bool in_directory = index < core.trades.size();  // it is not if the memory is damaged
    const bool has_trades = (parts.entry.record & PINSTRIKE_TRADES) != 0 && in_directory;
    parts.trades = has_trades ? copy_shared(core.trades[index]) : pinstrike_trades{};
    parts.id = in_directory ? load_relaxed(core.series[index].id) : 0;
    const pinstrike_line& line = core.lines[static_cast<std::uint16_t>(stamp)];
    const std::uint64_t version = load_acquire(line.version);
    if (version % 2 != 0) {
        return false;
    }
    parts.line = copy_shared(line);
    acquire_fence();
    return load_relaxed(line.version) == version && load_relaxed(entry.stamp) == stamp &&
           parts.entry.stamp == stamp;
}

}  // namespace

ReadResult read_series(const CoreView& core, const feed::SeriesKey& key, Patience& patience,
                       SeriesParts& parts) {
    if (key.name == 0) {
        return ReadResult::absent;
    }
    const Slots slots = slots_of(core, feed::hash(key));
    const pinstrike_group& group = core.groups[slots.first / group_slots];
    patience.begin();
    do {
        const std::uint32_t version = load_acquire(group.version);
        if (version % 2 != 0) {
            continue;
        }
        const pinstrike_entry* const entry = slot_of(core, key, slots);
        const bool copied = entry == nullptr || copy_parts(core, *entry, parts);
        acquire_fence();
        if (copied && load_relaxed(group.version) == version) {
            return entry == nullptr ? ReadResult::absent : ReadResult::read;
        }
    } while (patience.again());
    return ReadResult::unreadable;
}

bool read_line(const CoreView& core, std::uint16_t number, Patience& patience,
               pinstrike_line& line) {
    const pinstrike_line& shared = core.lines[number];
    patience.begin();
    do {
        const std::uint64_t version = load_acquire(shared.version);
        line = copy_shared(shared);
        acquire_fence();
        if (version % 2 == 0 && load_relaxed(shared.version) == version) {
            return true;
        }
    } while (patience.again());
    return false;
}

bool read_tail(const CoreView& core, Patience& patience, Tail& tail) {
    const pinstrike_core& shared = *core.shared;
    patience.begin();
    do {
        const std::uint64_t version = load_acquire(shared.tail_version);
        tail = {load_acquire(shared.tail), load_relaxed(shared.tail_stamp),
                load_relaxed(shared.tail_ms), load_relaxed(shared.base_ms),
                load_relaxed(shared.tail_changes)};
        acquire_fence();
        if (version % 2 == 0 && load_relaxed(shared.tail_version) == version) {
            return true;
        }
    } while (patience.again());
    return false;
}

void prefetch_series(const CoreView& core, std::uint64_t hash, std::uint32_t index) {
    const std::size_t slot = slots_of(core, hash).first;
    __builtin_prefetch(&core.entries[slot]);
    __builtin_prefetch(&core.groups[slot / group_slots]);
    __builtin_prefetch(&core.trades[index]);
    __builtin_prefetch(&core.series[index]);
}

void prefetch_second(const CoreView& core, const feed::SeriesKey& key, std::uint64_t hash) {
    const Slots slots = slots_of(core, hash);
    if (load_relaxed(core.entries[slots.first].name) != key.name) {
        __builtin_prefetch(&core.entries[slots.second]);
    }
}

}  // namespace pinstrike::reader
