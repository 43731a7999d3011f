// path: hot
//
// A hash table of fixed size whose entries contain their key. It neither allocates nor rehashes
// after its construction.
//
// A key is in one of two slots, which its hash determines. So a caller can prefetch the right cache
// line early, and no search needs a third slot that was not prefetched. Both slots are in one group
// of 64 slots (a page of memory if an entry is a cache line). If both slots of a new key are taken,
// the key takes one of them, the entry in it moves to its own other slot, and so on. If this chain
// does not end (for one key in a thousand of a book at full capacity, and one in six thousand at
// two thirds of that), the last key is displaced. It gets the next free slot of its group, and the
// group is searched for it only if the group has displaced keys.
//
// An entry never leaves its group. It moves within the group only when another entry is inserted.
#pragma once

#include "actors/publish/pinstrike.h"
#include "config/check.h"
#include "config/hooks.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace pinstrike::actors {

/// Entry: trivially copyable, all zeros when empty, with key() and set_key(). The key has
/// is_empty(key), hash(key) and ==.
template <class Entry>
class FlatTable {
  public:
    using Key = decltype(std::declval<Entry>().key());
    static constexpr std::size_t group_slots = 64;

    /// Makes the version of a group odd as long as it exists, so that readers in other processes
    /// know that entries of the group change. An inner one of the same group does nothing. Order:
    /// the release fence makes the odd version visible before the entries, and the release store
    /// makes the entries visible before the even version.
    class Writing {
      public:
        explicit Writing(pinstrike_group& group)
            : version_(group.version), outermost_(group.version % 2 == 0) {
            if (outermost_) {
                version_.store(group.version + 1, std::memory_order_relaxed);
                std::atomic_thread_fence(std::memory_order_release);
                RING_HOOK("table:writing");
            }
        }

        ~Writing() {
            if (outermost_) {
                RING_HOOK("table:written");
                version_.store(version_.load(std::memory_order_relaxed) + 1,
                               std::memory_order_release);
            }
        }

        Writing(const Writing&) = delete;
        Writing& operator=(const Writing&) = delete;

      private:
        std::atomic_ref<std::uint32_t> version_;
        bool outermost_;
    };

    /// The two slots of a key.
    struct Places {
        Entry* first;
        Entry* second;
    };

    FlatTable() = default;

    /// A table for `capacity` entries in memory that is zero. There is a group for each 64 slots.
    FlatTable(std::size_t capacity, std::span<Entry> entries, std::span<pinstrike_group> groups)
        : entries_(entries), groups_(groups), capacity_(capacity) {
        PINSTRIKE_CHECK(entries.size() == groups.size() * group_slots);
    }

    /// Slots for `capacity` entries: about capacity / `load`, whole groups. `load` must be below
    /// 0.5, because two slots per key do not suffice beyond.
    [[nodiscard]] static std::size_t slots_for(std::size_t capacity, double load) {
        const auto slots = static_cast<std::size_t>(static_cast<double>(capacity) / load);
        return (slots / group_slots + 1) * group_slots;
    }

    /// The two slots of a hash. Its low 32 bits choose the first slot, and the five bits above them
    /// the second. The router uses the highest bits.
    [[nodiscard]] Places places(std::uint64_t hash_value) const {
        const std::size_t slot = (hash_value & 0xFFFF'FFFFU) * entries_.size() >> 32;
        const std::size_t apart = (hash_value >> 32) % group_slots | 1U;
        return {entries_.data() + slot, entries_.data() + (slot ^ apart)};
    }

    /// The entry of a key; nullptr: the key is not in the table.
    [[nodiscard]] Entry* find(const Key& key) const {
        if (is_empty(key)) {
            return nullptr;
        }
        const Places both = places(hash(key));
        Entry* const entry = both.first->key() == key ? both.first : both.second;
        return entry->key() == key ? entry : find_displaced(key, *both.first);
    }

    /// Inserts a key that is not in the table. Returns its entry, which is otherwise zero; nullptr
    /// if the table or the key's group is full. (A group is full in one of 15 million tables at
    /// full capacity, for 2.2 M entries at a load of 0.36.)
    [[nodiscard]] Entry* insert(const Key& key) {
        if (full() || is_empty(key)) {
            return nullptr;
        }
        Entry fresh{};
        fresh.set_key(key);
        const Writing writing{group_of(*places(hash(key)).first)};
        if (!place_entry(fresh)) {
            return nullptr;
        }
        ++used_;
        return find(key);
    }

    void erase(std::size_t slot) {
        Entry& entry = entries_[slot];
        const Writing writing{group_of(entry)};
        count_out(entry);
        entry = Entry{};
        --used_;
    }

    [[nodiscard]] Entry& at(std::size_t slot) const { return entries_[slot]; }

    [[nodiscard]] pinstrike_group& group_of(const Entry& entry) const {
        return groups_[slot_of(entry) / group_slots];
    }

    [[nodiscard]] std::size_t slot_of(const Entry& entry) const {
        return static_cast<std::size_t>(&entry - entries_.data());
    }

    /// The slot at which a pass over the slots must continue after an insertion, which may have
    /// moved entries of its group to slots that were passed.
    [[nodiscard]] std::size_t pass_on(std::size_t next_slot, const Entry& inserted) const {
        const bool inside = next_slot / group_slots == slot_of(inserted) / group_slots;
        return inside ? next_slot - next_slot % group_slots : next_slot;
    }

    [[nodiscard]] std::size_t slots() const { return entries_.size(); }

    [[nodiscard]] std::size_t used() const { return used_; }

    [[nodiscard]] bool full() const { return used_ >= capacity_; }

  private:
    /// Searches a group, starting at one of its slots and wrapping around, for the first slot that
    /// meets a condition; nullptr if none does.
    template <class Condition>
    [[nodiscard]] Entry* look_round(const Entry& from, Condition&& condition) const {
        const std::size_t begin = slot_of(from);
        Entry* const group = entries_.data() + begin / group_slots * group_slots;
        for (std::size_t i = 0; i < group_slots; ++i) {
            Entry* const entry = group + (begin + i) % group_slots;
            if (condition(*entry)) {
                return entry;
            }
        }
        return nullptr;
    }

    [[nodiscard]] Entry* find_displaced(const Key& key, const Entry& first) const {
        if (group_of(first).displaced == 0) [[likely]] {
            return nullptr;
        }
        return look_round(first, [&key](const Entry& entry) { return entry.key() == key; });
    }

    [[nodiscard]] Entry* find_free(const Key& key) const {
        return look_round(*places(hash(key)).first,
                          [](const Entry& entry) { return is_empty(entry.key()); });
    }

    /// Puts an entry whose key is not in the table into a slot. False: the group is full.
    bool place_entry(const Entry& fresh) {
        constexpr unsigned moves_max = 32;
        const Places both = places(hash(fresh.key()));
        if (is_empty(both.first->key()) || is_empty(both.second->key())) {
            *(is_empty(both.first->key()) ? both.first : both.second) = fresh;
            return true;
        }
        if (find_free(fresh.key()) == nullptr) {
            return false;
        }
        Entry homeless = fresh;
        Entry* slot = both.first;
        for (unsigned i = 0; i < moves_max; ++i) {
            if (is_empty(slot->key())) {
                *slot = homeless;
                return true;
            }
            count_out(*slot);
            std::swap(homeless, *slot);
            const Places next = places(hash(homeless.key()));
            slot = slot == next.first ? next.second : next.first;
        }
        slot = find_free(homeless.key());
        *slot = homeless;
        ++group_of(*slot).displaced;
        return true;
    }

    /// Updates the count of displaced entries for an entry that leaves its slot.
    void count_out(const Entry& entry) {
        const Places both = places(hash(entry.key()));
        if (&entry != both.first && &entry != both.second) {
            --group_of(entry).displaced;
        }
    }

    std::span<Entry> entries_;
    std::span<pinstrike_group> groups_;
    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
};

/// A pass over a table, a few slots at a time, that removes the entries which meet a condition. It
/// may look at an entry twice.
class Sweeper {
  public:
    void start(std::size_t slots_count) {
        next_ = 0;
        end_ = slots_count;
    }

    [[nodiscard]] bool busy() const { return next_ < end_; }

    [[nodiscard]] std::size_t left() const { return end_ - next_; }

    /// Must be called after each insertion.
    template <class Entry>
    void inserted(const FlatTable<Entry>& table, const Entry& entry) {
        next_ = table.pass_on(next_, entry);
    }

    /// Looks at the next slots and removes each entry for which `gone(entry)` is true.
    template <class Entry, class Gone>
    void advance(FlatTable<Entry>& table, std::size_t slots_count, Gone&& gone) {
        const std::size_t end = std::min(end_, next_ + slots_count);
        for (; next_ < end; ++next_) {
            Entry& entry = table.at(next_);
            if (!is_empty(entry.key()) && gone(entry)) {
                table.erase(next_);
            }
        }
    }

  private:
    std::size_t next_ = 0;
    std::size_t end_ = 0;
};

}  // namespace pinstrike::actors
