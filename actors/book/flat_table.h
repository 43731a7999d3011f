// path: hot
//
// A flat table of fixed size over entries that hold their own key: no allocation after its
// construction, no rehash of the whole.
//
// Speed rests on this: a key lies in one of two slots, which its hash names, so that who looks
// ahead can have the right line on its way before it is needed, and no search goes on into a third,
// which nobody had asked for. Both are in one group of 64 slots (a page of memory where an entry is
// a cache line). A key that finds both taken takes one, and whose that was moves to its other slot,
// and so on. Where that comes to no end (one key in a thousand of a book as full as may be, one in
// six thousand at two thirds of that), a key lies astray: behind its first slot in the group, where
// it is searched for if the group has any such.
//
// An entry never leaves its group. It may move there when another is inserted, and then only.
#pragma once

#include "actors/book/pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace pinstrike::actors {

/// Entry: trivially copyable, all zero when empty, with a member `key` for which is_empty(key),
/// hash(key) and == exist.
template <class Entry>
class FlatTable {
  public:
    using Key = decltype(Entry::key);

    /// Where a key may be.
    struct Places {
        Entry* first;
        Entry* second;

        /// Where it is, if it is there and not astray.
        [[nodiscard]] Entry* of(const Key& key) const { return first->key == key ? first : second; }
    };

    FlatTable() = default;

    /// Room for `capacity` entries in about capacity / `load` slots: less than 0.5, beyond which
    /// two slots a key are too few.
    FlatTable(std::size_t capacity, double load)
        : entries_(slots_for(capacity, load)),
          astray_(slots_for(capacity, load) / group_slots),
          capacity_(capacity) {}

    void prefault() {
        entries_.prefault();
        astray_.prefault();
    }

    /// The low 32 bits of the hash choose the first slot, five above them the second: a router
    /// takes the highest.
    [[nodiscard]] Places places(std::uint64_t hash_value) const {
        const std::size_t slot = (hash_value & 0xFFFF'FFFFU) * entries_.size() >> 32;
        const std::size_t apart = (hash_value >> 32) % group_slots | 1U;
        return {entries_.data() + slot, entries_.data() + (slot ^ apart)};
    }

    /// Null where the key is not in the table.
    [[nodiscard]] Entry* find(const Key& key) const {
        if (is_empty(key)) {
            return nullptr;
        }
        const Places both = places(hash(key));
        Entry* const entry = both.of(key);
        return entry->key == key ? entry : find_astray(key, *both.first);
    }

    /// Enters a key that is not there: its entry, made of zeros; null when the table is full, or
    /// the key's group is (once in 15 million tables as full as may be, of 2.2 M at a load of
    /// 0.36).
    [[nodiscard]] Entry* insert(const Key& key) {
        if (full() || is_empty(key)) {
            return nullptr;
        }
        Entry fresh{};
        fresh.key = key;
        if (!settle(fresh)) {
            return nullptr;
        }
        ++used_;
        return find(key);
    }

    void erase(std::size_t slot) {
        Entry& entry = entries_[slot];
        count_out(entry);
        entry = Entry{};
        --used_;
    }

    [[nodiscard]] Entry& at(std::size_t slot) const { return entries_[slot]; }

    [[nodiscard]] std::size_t slot_of(const Entry& entry) const {
        return static_cast<std::size_t>(&entry - entries_.data());
    }

    /// Where a pass over the slots goes on behind an insertion, which may have moved entries of its
    /// group to slots that were passed.
    [[nodiscard]] std::size_t pass_on(std::size_t next_slot, const Entry& inserted) const {
        const bool inside = next_slot / group_slots == slot_of(inserted) / group_slots;
        return inside ? next_slot - next_slot % group_slots : next_slot;
    }

    [[nodiscard]] std::size_t slots() const { return entries_.size(); }

    [[nodiscard]] std::size_t used() const { return used_; }

    [[nodiscard]] bool full() const { return used_ >= capacity_; }

    /// Bytes of a table of that many entries.
    [[nodiscard]] static std::size_t bytes_for(std::size_t capacity, double load) {
        const std::size_t slots = slots_for(capacity, load);
        return slots * sizeof(Entry) + slots / group_slots;
    }

  private:
    static constexpr std::size_t group_slots = 64;

    static std::size_t slots_for(std::size_t capacity, double load) {
        const auto slots = static_cast<std::size_t>(static_cast<double>(capacity) / load);
        return (slots / group_slots + 1) * group_slots;
    }

    /// The first slot of a group, going round in it from one of its slots, that meets a condition;
    /// null if none does.
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

    [[nodiscard]] Entry* find_astray(const Key& key, const Entry& first) const {
        if (astray_[slot_of(first) / group_slots] == 0) [[likely]] {
            return nullptr;
        }
        return look_round(first, [&key](const Entry& entry) { return entry.key == key; });
    }

    [[nodiscard]] Entry* find_free(const Key& key) const {
        return look_round(*places(hash(key)).first,
                          [](const Entry& entry) { return is_empty(entry.key); });
    }

    /// Puts an entry whose key is not there into a slot. False: its group is full.
    bool settle(const Entry& fresh) {
        constexpr unsigned moves_max = 32;
        const Places both = places(hash(fresh.key));
        if (is_empty(both.first->key) || is_empty(both.second->key)) {
            *(is_empty(both.first->key) ? both.first : both.second) = fresh;
            return true;
        }
        if (find_free(fresh.key) == nullptr) {
            return false;
        }
        Entry homeless = fresh;
        Entry* slot = both.first;
        for (unsigned i = 0; i < moves_max; ++i) {
            if (is_empty(slot->key)) {
                *slot = homeless;
                return true;
            }
            count_out(*slot);
            std::swap(homeless, *slot);
            const Places next = places(hash(homeless.key));
            slot = slot == next.first ? next.second : next.first;
        }
        slot = find_free(homeless.key);
        *slot = homeless;
        ++astray_[slot_of(*slot) / group_slots];
        return true;
    }

    /// Of an entry that leaves its slot.
    void count_out(const Entry& entry) {
        const Places both = places(hash(entry.key));
        if (&entry != both.first && &entry != both.second) {
            --astray_[slot_of(entry) / group_slots];
        }
    }

    PageArray<Entry> entries_;
    PageArray<std::uint8_t> astray_;  ///< how many, by group
    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
};

/// A pass over a table that takes out what a condition says, a few slots at a time. It may look at
/// an entry twice.
class Sweeper {
  public:
    void start(std::size_t slots_count) {
        next_ = 0;
        end_ = slots_count;
    }

    [[nodiscard]] bool busy() const { return next_ < end_; }

    [[nodiscard]] std::size_t left() const { return end_ - next_; }

    /// To be told of each insertion.
    template <class Entry>
    void inserted(const FlatTable<Entry>& table, const Entry& entry) {
        next_ = table.pass_on(next_, entry);
    }

    /// Looks at the next slots; `gone(entry)` says which entries are taken out.
    template <class Entry, class Gone>
    void advance(FlatTable<Entry>& table, std::size_t slots_count, Gone&& gone) {
        const std::size_t end = std::min(end_, next_ + slots_count);
        for (; next_ < end; ++next_) {
            Entry& entry = table.at(next_);
            if (!is_empty(entry.key) && gone(entry)) {
                table.erase(next_);
            }
        }
    }

  private:
    std::size_t next_ = 0;
    std::size_t end_ = 0;
};

}  // namespace pinstrike::actors
