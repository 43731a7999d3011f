// path: hot
//
// A list that one thread lengthens while others read it: as many items as were foreseen at the
// start, none ever moved or taken out.
//
// Order: the writer puts an item in its place, then counts it (release); a reader who sees the
// count (acquire) sees the item whole. The writer's own look at the count needs no order.
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

    /// The writer; or anybody before others read. Neither allocates nor frees.
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
