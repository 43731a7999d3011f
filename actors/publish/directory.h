// path: hot
//
// The directory of a core's table: a record for each series, and a list of records for each root.
// So a reader finds the series of a root without a walk over the table.
//
// The core's thread writes; the thread that assigns ids reads keys and writes ids. Readers are in
// other processes. Every store that others read is a release store. A reader may follow a list
// while a series is added, because the new series is the first of the list, and its record is
// complete before the list leads to it (release, acquire). A removal makes `removals` odd before it
// changes the list and even after it, so a reader that sees another value after its walk starts
// again.
#pragma once

#include "actors/publish/core_memory.h"
#include "actors/publish/pinstrike.h"
#include "config/check.h"
#include "feed/event/series_key.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::actors {

class Directory {
  public:
    Directory() = default;

    explicit Directory(const CoreMemory& memory)
        : core_(&memory.core()),
          series_(memory.span<pinstrike_series>(memory.core().series)),
          roots_(memory.span<pinstrike_root>(memory.core().roots)) {}

    /// Adds a series that is not in the directory. Returns the index of its record. There is a
    /// record for each entry of the table, so the directory is never full.
    std::uint32_t add(const feed::SeriesKey& key) {
        const std::uint32_t index = unused();
        pinstrike_series& series = series_[index];
        store(series.strike_e8, key.strike_e8);
        store(series.id, std::uint32_t{0});
        series.root = root_of(key.symbol_word());
        series.next = 0;
        series.previous = 0;
        if (series.root != 0) {
            pinstrike_root& root = roots_[series.root - 1];
            series.next = root.first;
            if (root.first != 0) {
                series_[root.first].previous = index;
            }
            store(series.name, key.name);
            store(root.first, index);
            store(root.count, root.count + 1);
        } else {
            store(series.name, key.name);
        }
        return index;
    }

    /// Sets the id of a series that is on the day's list.
    void set_id(std::uint32_t index, std::uint32_t id) { store(series_[index].id, id); }

    void remove(std::uint32_t index) {
        pinstrike_series& series = series_[index];
        if (series.root != 0) {
            pinstrike_root& root = roots_[series.root - 1];
            store(root.removals, root.removals + 1);
            std::atomic_thread_fence(std::memory_order_release);
            (series.previous != 0 ? series_[series.previous].next : root.first) = series.next;
            if (series.next != 0) {
                series_[series.next].previous = series.previous;
            }
            --root.count;
            store(root.removals, root.removals + 1);
        }
        store(series.name, std::uint64_t{0});
        series.next = returned_;
        returned_ = index;
    }

  private:
    template <class T>
    static void store(T& to, T value) {
        std::atomic_ref<T>{to}.store(value, std::memory_order_release);
    }

    std::uint32_t unused() {
        if (returned_ != 0) {
            const std::uint32_t index = returned_;
            returned_ = series_[index].next;
            return index;
        }
        const std::uint32_t index = core_->series_count + 1;
        PINSTRIKE_CHECK(index < series_.size());
        store(core_->series_count, index);
        return index;
    }

    /// The place of a root, from 1; 0: the table of roots is nearly full, or the symbol is 0, which
    /// marks an empty slot and which no message has.
    std::uint32_t root_of(std::uint64_t symbol) {
        if (symbol == 0) {
            return 0;
        }
        const std::size_t mask = roots_.size() - 1;
        std::size_t slot = feed::hash_symbol(symbol) & mask;
        while (roots_[slot].symbol != symbol) {
            if (roots_[slot].symbol == 0) {
                if (roots_used_ + 1 >= roots_.size()) {
                    return 0;
                }
                ++roots_used_;
                store(roots_[slot].symbol, symbol);
                break;
            }
            slot = (slot + 1) & mask;
        }
        return static_cast<std::uint32_t>(slot + 1);
    }

    pinstrike_core* core_ = nullptr;
    std::span<pinstrike_series> series_;
    std::span<pinstrike_root> roots_;
    std::size_t roots_used_ = 0;
    std::uint32_t returned_ = 0;  ///< records of removed series, chained by `next`
};

}  // namespace pinstrike::actors
