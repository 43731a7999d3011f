// path: mixed, cold: construction
//
// A list to which one thread adds items while other threads read it. Its capacity is fixed at the
// start. Items are never moved or removed.
//
// Memory order: the writer stores an item, then the count with release. A reader that loads this
// count with acquire sees the whole item. The writer loads the count relaxed, because no other
// thread changes it.
#pragma once

#include "config/check.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace pinstrike {

template <class Item>
class GrowingList {
  public:
    explicit GrowingList(std::size_t capacity);

    /// Called by the writer, or by any thread before other threads read the list. Neither allocates
    /// nor frees.
    void add(std::unique_ptr<Item> item) noexcept {
        const std::size_t count = count_.load(std::memory_order_relaxed);
        PINSTRIKE_CHECK(count < capacity_);
        items_[count] = std::move(item);
        count_.store(count + 1, std::memory_order_release);
    }

    [[nodiscard]] std::size_t size() const noexcept {
        return count_.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::size_t room() const noexcept { return capacity_ - size(); }

    [[nodiscard]] Item& operator[](std::size_t i) const noexcept { return *items_[i]; }

    [[nodiscard]] std::unique_ptr<Item>* begin() const noexcept { return items_.get(); }

    [[nodiscard]] std::unique_ptr<Item>* end() const noexcept { return items_.get() + size(); }

  private:
    std::unique_ptr<std::unique_ptr<Item>[]> items_;
    std::size_t capacity_;
    std::atomic<std::size_t> count_{0};
};

// --- cold ---

template <class Item>
GrowingList<Item>::GrowingList(std::size_t capacity)
    : items_(std::make_unique<std::unique_ptr<Item>[]>(capacity)), capacity_(capacity) {}

}  // namespace pinstrike
