#include "config/histogram.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pinstrike::actors {
namespace {

TEST(Histogram, every_value_lies_in_its_bucket_to_one_sixteenth) {
    std::uint64_t value = 0;
    while (value < (std::uint64_t{1} << 37)) {
        const std::size_t bucket = Histogram::bucket_of(value);
        const std::uint64_t upper = Histogram::upper_bound(bucket);
        const std::uint64_t lower = bucket == 0 ? 0 : Histogram::upper_bound(bucket - 1);
        ASSERT_LE(lower, value);
        ASSERT_LT(value, upper);
        ASSERT_LE((upper - lower - 1) * 16, value + 1) << value;
        value += 1 + value / 37;
    }
    EXPECT_EQ(Histogram::bucket_of(~std::uint64_t{0}), Histogram::buckets_count - 1);
}

TEST(Histogram, quantiles_and_sums) {
    Histogram histogram;
    for (int i = 1; i <= 1000; ++i) {
        histogram.record(i * 1000);
    }
    const auto taken = histogram.snapshot();
    EXPECT_EQ(taken.count, 1000U);
    EXPECT_EQ(taken.sum_ns, 500'500'000U);
    EXPECT_EQ(taken.highest_ns, 1'000'000U);
    EXPECT_NEAR(static_cast<double>(taken.quantile_ns(0.5)), 500e3, 500e3 / 16);
    EXPECT_NEAR(static_cast<double>(taken.quantile_ns(0.99)), 990e3, 990e3 / 16);
    EXPECT_EQ(taken.quantile_ns(1.0), 1'000'000U);
}

TEST(Histogram, a_value_that_is_recorded_for_many_is_in_the_sum_as_often) {
    Histogram histogram;
    histogram.record(10, 3);
    EXPECT_EQ(histogram.snapshot().count, 3U);
    EXPECT_EQ(histogram.snapshot().sum_ns, 30U);
}

TEST(Histogram, negative_values_count_as_zero_and_an_empty_one_has_no_quantile) {
    Histogram histogram;
    EXPECT_EQ(histogram.snapshot().quantile_ns(0.5), 0U);
    histogram.record(-5, 3);
    EXPECT_EQ(histogram.snapshot().buckets[0], 3U);
    EXPECT_EQ(histogram.snapshot().sum_ns, 0U);
}

}  // namespace
}  // namespace pinstrike::actors
