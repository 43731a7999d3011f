// path: hot
//
// A log-linear histogram of nanoseconds with 16 buckets for each power of two, so that the relative
// error of a value is at most 1/16. It has one writer and any number of readers. Relaxed order is
// enough for the reasons given in config/counter.h. A reader may see a value counted in its bucket
// but not yet in the sum.
#pragma once

#include "config/counter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pinstrike {

class Histogram {
  public:
    static constexpr unsigned linear_bits = 4;
    static constexpr unsigned linear_count = 1U << linear_bits;
    /// For values below 2^37 ns. The last bucket also counts all larger values.
    static constexpr unsigned powers_count = 34;
    static constexpr std::size_t buckets_count = std::size_t{powers_count} * linear_count;

    /// Counts a value; negative values (from clocks that disagree) count as 0.
    void record(std::int64_t value_ns, std::uint64_t times = 1) noexcept {
        const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(value_ns, 0));
        buckets_[bucket_of(value)].add(times);
        sum_.add(value * times);
        highest_.raise_to(value);
    }

    [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        if (value < linear_count) {
            return static_cast<std::size_t>(value);
        }
        const auto power = static_cast<unsigned>(std::bit_width(value)) - 1;  // >= linear_bits
        const auto linear = (value >> (power - linear_bits)) & (linear_count - 1);
        const std::size_t bucket =
            std::size_t{power - linear_bits + 1} * linear_count + static_cast<std::size_t>(linear);
        return std::min(bucket, buckets_count - 1);
    }

    /// The smallest value above the bucket.
    [[nodiscard]] static constexpr std::uint64_t upper_bound(std::size_t bucket) noexcept {
        if (bucket < linear_count) {
            return bucket + 1;
        }
        const std::size_t power = bucket / linear_count - 1;
        return (linear_count + bucket % linear_count + 1) << power;
    }

    /// A copy of all values for a reader.
    struct Snapshot {
        std::array<std::uint64_t, buckets_count> buckets{};
        std::uint64_t count = 0;
        std::uint64_t sum_ns = 0;
        std::uint64_t highest_ns = 0;

        /// The value below which the share `quantile` (0 to 1) of the values lies, with an error of
        /// at most 1/16; 0 if there are no values.
        [[nodiscard]] std::uint64_t quantile_ns(double quantile) const noexcept {
            const auto wanted = static_cast<std::uint64_t>(quantile * static_cast<double>(count));
            std::uint64_t seen = 0;
            for (std::size_t i = 0; i < buckets_count; ++i) {
                seen += buckets[i];
                if (seen > wanted || (seen == count && count != 0)) {
                    return std::min(upper_bound(i) - 1, highest_ns);
                }
            }
            return 0;
        }

        /// The number of values up to and including `bound_ns`. It counts whole buckets only, so
        /// the bound should be the end of one.
        [[nodiscard]] std::uint64_t count_up_to(std::uint64_t bound_ns) const noexcept {
            std::uint64_t below = 0;
            for (std::size_t i = 0; i < buckets_count && upper_bound(i) - 1 <= bound_ns; ++i) {
                below += buckets[i];
            }
            return below;
        }

        void add(const Snapshot& other) noexcept {
            for (std::size_t i = 0; i < buckets_count; ++i) {
                buckets[i] += other.buckets[i];
            }
            count += other.count;
            sum_ns += other.sum_ns;
            highest_ns = std::max(highest_ns, other.highest_ns);
        }
    };

    [[nodiscard]] Snapshot snapshot() const noexcept {
        Snapshot taken;
        for (std::size_t i = 0; i < buckets_count; ++i) {
            taken.buckets[i] = buckets_[i].read();
            taken.count += taken.buckets[i];
        }
        taken.sum_ns = sum_.read();
        taken.highest_ns = highest_.read();
        return taken;
    }

  private:
    std::array<Counter, buckets_count> buckets_{};
    Counter sum_;
    Counter highest_;
};

/// The values of `now` that are not in `before`, such as those recorded since; `highest_ns` then
/// has an error of at most 1/16. 0 where there are more in `before`.
[[nodiscard]] inline Histogram::Snapshot since(const Histogram::Snapshot& now,
                                               const Histogram::Snapshot& before) {
    Histogram::Snapshot part;
    for (std::size_t i = 0; i < Histogram::buckets_count; ++i) {
        part.buckets[i] = now.buckets[i] - std::min(before.buckets[i], now.buckets[i]);
        part.count += part.buckets[i];
        if (part.buckets[i] != 0) {
            part.highest_ns = std::min(Histogram::upper_bound(i) - 1, now.highest_ns);
        }
    }
    part.sum_ns = now.sum_ns - std::min(before.sum_ns, now.sum_ns);
    return part;
}

}  // namespace pinstrike
