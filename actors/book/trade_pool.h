// path: hot
//
// The trade records of the series that have any: a fixed array of records, used by index.
#pragma once

#include "actors/book/book_entry.h"
#include "actors/book/pages.h"
#include "config/check.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

class TradePool {
  public:
    TradePool() = default;

    explicit TradePool(std::size_t capacity) : records_(capacity + 1) {}

    void prefault() { records_.prefault(); }

    [[nodiscard]] TradeRecord& at(std::uint32_t index) const { return records_[index]; }

    /// Takes a zeroed record and returns its index. The pool never runs out, because it has as many
    /// records as the table has entries, and an entry takes at most one.
    [[nodiscard]] std::uint32_t acquire() {
        if (returned_ != 0) {
            const std::uint32_t index = returned_;
            returned_ = records_[index].trades;  // returned records are chained by `trades`
            records_[index] = TradeRecord{};
            return index;
        }
        PINSTRIKE_CHECK(untouched_ < records_.size());
        return untouched_++;
    }

    void release(std::uint32_t index) {
        records_[index].trades = returned_;
        returned_ = index;
    }

    [[nodiscard]] static std::size_t bytes_for(std::size_t capacity) {
        return (capacity + 1) * sizeof(TradeRecord);
    }

  private:
    PageArray<TradeRecord> records_;
    std::uint32_t untouched_ = 1;  ///< index 0 means "none"
    std::uint32_t returned_ = 0;
};

}  // namespace pinstrike::actors
