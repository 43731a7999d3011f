// path: hot
//
// A counter with one writer and any number of readers.
//
// The thread that owns the counter adds to it; the metrics thread reads it rarely. All accesses are
// relaxed. A reader needs each value untorn, which a 64-bit access guarantees, but values of
// different counters need not agree. Values that must agree (those of the account) are read after
// the writer thread was joined. add() uses a load and a store instead of fetch_add, because a
// single writer needs no locked instruction (0.6 ns instead of 12 ns and more).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace pinstrike {

class Counter {
  public:
    void add(std::uint64_t n = 1) noexcept {
#ifdef PINSTRIKE_UNCOUNTED  // a build that measures the cost of counting (tests/bench)
        static_cast<void>(n);
#else
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
#endif
    }

    void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }

    void raise_to(std::uint64_t value) noexcept {
        if (value > read()) {
            set(value);
        }
    }

    [[nodiscard]] std::uint64_t read() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> value_{0};
};

/// One Counter per row of a table made by PINSTRIKE_ROWS.
template <class Enum, std::size_t Count>
class Counters {
  public:
    static constexpr std::size_t count = Count;

    void bump(Enum which, std::uint64_t n = 1) noexcept { at(which).add(n); }

    [[nodiscard]] std::uint64_t read(Enum which) const noexcept {
        return counters_[static_cast<std::size_t>(which)].read();
    }

    [[nodiscard]] Counter& at(Enum which) noexcept {
        return counters_[static_cast<std::size_t>(which)];
    }

    [[nodiscard]] std::uint64_t sum() const noexcept {
        std::uint64_t total = 0;
        for (const Counter& counter : counters_) {
            total += counter.read();
        }
        return total;
    }

  private:
    std::array<Counter, Count> counters_{};
};

/// The counts of such Counters at one time, as plain values.
template <class Enum, std::size_t Count>
class RowTotals {
  public:
    RowTotals() = default;

    explicit(false) RowTotals(const Counters<Enum, Count>& counters) {
        for (std::size_t i = 0; i < Count; ++i) {
            totals_[i] = counters.read(static_cast<Enum>(i));
        }
    }

    [[nodiscard]] std::uint64_t operator[](Enum row) const {
        return totals_[static_cast<std::size_t>(row)];
    }

    [[nodiscard]] std::uint64_t& operator[](Enum row) {
        return totals_[static_cast<std::size_t>(row)];
    }

    [[nodiscard]] std::uint64_t sum() const {
        return std::accumulate(totals_.begin(), totals_.end(), std::uint64_t{0});
    }

    /// What was counted since `before`.
    [[nodiscard]] RowTotals operator-(const RowTotals& before) const {
        RowTotals more;
        for (std::size_t i = 0; i < Count; ++i) {
            more.totals_[i] = totals_[i] - before.totals_[i];
        }
        return more;
    }

    /// By row.
    explicit(false) operator std::span<const std::uint64_t>() const { return totals_; }

  private:
    std::array<std::uint64_t, Count> totals_{};
};

}  // namespace pinstrike
