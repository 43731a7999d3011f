// path: hot
//
// A flat open-addressing table of fixed size: linear probing over entries that hold their own key,
// no allocation after its construction, no rehash, no tombstone. An entry may be looked up by a
// home slot worked out earlier, so that a batch can prefetch ahead.
//
// Where keys share a home, or one has run on into the next, a second line is needed, and one that
// nobody had asked for would hold up the messages behind it as well. So who prefetches looks twice:
// it asks for the home, and once that has come for the slot behind it, if the home is another's.
//
// Slots behind the last home (the tail) let a probe run on without wrapping round; the very last
// slot stays empty for ever and ends every probe.
#pragma once

#include "actors/book/pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// Entry: trivially copyable, all zero when empty, with a member `key` for which is_empty(key),
/// hash(key) and == exist.
template <class Entry>
class FlatTable {
  public:
    using Key = decltype(Entry::key);

    FlatTable() = default;

    /// Room for `capacity` entries in about capacity / `load` slots.
    FlatTable(std::size_t capacity, double load)
        : entries_(slots_for(capacity, load)),
          homes_(homes_for(capacity, load)),
          capacity_(capacity) {}

    void prefault() { entries_.prefault(); }

    /// The low 32 bits of the hash choose the slot: a router takes the high ones.
    [[nodiscard]] std::size_t home(std::uint64_t hash_value) const {
        return static_cast<std::size_t>((hash_value & 0xFFFF'FFFFU) * homes_ >> 32);
    }

    /// Asks memory for a home.
    void prefetch(std::size_t home_slot) const {
        __builtin_prefetch(entries_.data() + home_slot, 1, 3);
    }

    /// Once a home has come: asks for the slot behind it, where the home is another key's. Without
    /// a branch, for nobody foresees which are.
    void prefetch_on(const Key& key, std::size_t home_slot) const {
        prefetch(home_slot + (entries_[home_slot].key == key ? 0 : 1));
    }

    /// Null where the key is not in the table.
    [[nodiscard]] Entry* find(const Key& key, std::size_t home_slot) const {
        Entry* entry = entries_.data() + home_slot;
        while (!(entry->key == key)) {
            if (is_empty(entry->key)) {
                return nullptr;
            }
            ++entry;
        }
        return entry;
    }

    [[nodiscard]] Entry* find(const Key& key) const {
        return is_empty(key) ? nullptr : find(key, home(hash(key)));
    }

    /// The key's entry, made of zeros if there was none; null when the table is full.
    [[nodiscard]] Entry* find_or_insert(const Key& key, std::size_t home_slot) {
        Entry* entry = entries_.data() + home_slot;
        while (!(entry->key == key)) {
            if (is_empty(entry->key)) [[unlikely]] {
                return insert_at(entry, key);
            }
            ++entry;
        }
        return entry;
    }

    /// Takes an entry out; entries behind it move up, so indices from `slot` on change.
    void erase(std::size_t slot) {
        Entry* const entries = entries_.data();
        std::size_t hole = slot;
        for (std::size_t next = slot + 1; !is_empty(entries[next].key); ++next) {
            if (home(hash(entries[next].key)) <= hole) {
                entries[hole] = entries[next];
                hole = next;
            }
        }
        entries[hole] = Entry{};
        --used_;
    }

    [[nodiscard]] Entry& at(std::size_t slot) const { return entries_[slot]; }

    [[nodiscard]] std::size_t slots() const { return entries_.size(); }

    [[nodiscard]] std::size_t used() const { return used_; }

    [[nodiscard]] bool full() const { return used_ >= capacity_; }

    /// Bytes of a table of that many entries.
    [[nodiscard]] static std::size_t bytes_for(std::size_t capacity, double load) {
        return slots_for(capacity, load) * sizeof(Entry);
    }

  private:
    static std::size_t homes_for(std::size_t capacity, double load) {
        return std::max<std::size_t>(static_cast<std::size_t>(static_cast<double>(capacity) / load),
                                     1);
    }

    static std::size_t slots_for(std::size_t capacity, double load) {
        return homes_for(capacity, load) + tail_for(capacity);
    }

    /// Longest run of a probe beyond the last home; clusters at loads below 0.6 stay far shorter.
    static std::size_t tail_for(std::size_t capacity) {
        return std::min<std::size_t>(capacity, 4096) + 1;
    }

    Entry* insert_at(Entry* entry, const Key& key) {
        const bool last = entry + 1 == entries_.data() + entries_.size();
        if (full() || last || is_empty(key)) {
            return nullptr;
        }
        entry->key = key;
        ++used_;
        return entry;
    }

    PageArray<Entry> entries_;
    std::size_t homes_ = 0;
    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
};

/// A pass over a table that takes out what a condition says, a few slots at a time.
class Sweeper {
  public:
    void start(std::size_t slots_count) {
        next_ = 0;
        end_ = slots_count;
    }

    [[nodiscard]] bool busy() const { return next_ < end_; }

    [[nodiscard]] std::size_t left() const { return end_ - next_; }

    /// Looks at the next slots; `gone(entry)` says which entries are taken out.
    template <class Entry, class Gone>
    void advance(FlatTable<Entry>& table, std::size_t slots_count, Gone&& gone) {
        const std::size_t end = std::min(end_, next_ + slots_count);
        while (next_ < end) {
            Entry& entry = table.at(next_);
            if (!is_empty(entry.key) && gone(entry)) {
                table.erase(next_);  // another may have moved up into this slot
            } else {
                ++next_;
            }
        }
    }

  private:
    std::size_t next_ = 0;
    std::size_t end_ = 0;
};

}  // namespace pinstrike::actors
