// path: cold
#include "actors/telemetry/metrics/families.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <cmath>

namespace pinstrike::actors::test {
namespace {

TEST(Families, NamesOfRowsSayTheUnitOnce) {
    EXPECT_EQ(row_name("stream", {"packets", "packets", ""}), "stream_packets");
    EXPECT_EQ(row_name("line", {"lost", "messages", ""}), "line_lost_messages");
    EXPECT_EQ(row_name("line", {"resets_inferred", "resets", ""}), "line_resets_inferred");
    EXPECT_EQ(row_name("book", {"series_refused", "messages", ""}), "book_series_refused_messages");
    EXPECT_EQ(row_name("line", {"presets", "resets", ""}), "line_presets_resets");
}

TEST(Families, SeriesOfOneNameAreOneFamily) {
    Families families("opra");
    families.row("line", {"gaps", "gaps", "sentence"}, {{"line", "1"}}, 3);
    families.row("line", {"gaps", "gaps", "sentence"}, {{"line", "2"}}, 4);
    families.value(Metric::clock_tsc, {}, 1);
    EXPECT_EQ(prometheus::TextSerializer{}.Serialize(families.take()),
              "# HELP pinstrike_line_gaps_total sentence\n"
              "# TYPE pinstrike_line_gaps_total counter\n"
              "pinstrike_line_gaps_total{feed=\"opra\",line=\"1\"} 3\n"
              "pinstrike_line_gaps_total{feed=\"opra\",line=\"2\"} 4\n"
              "# HELP pinstrike_clock_tsc 1 where the time stamp counter is the clock, 0 where the "
              "system clock is used\n"
              "# TYPE pinstrike_clock_tsc gauge\n"
              "pinstrike_clock_tsc{feed=\"opra\"} 1\n");
    EXPECT_TRUE(families.take().empty());
}

TEST(Families, BucketsSplitNoCount) {
    Histogram histogram;
    for (unsigned power = 0; power < Families::bounds_count; ++power) {
        const std::int64_t bound_ns = std::int64_t{1} << (Families::first_bound_power + power);
        histogram.record(bound_ns - 1);  // the last value below the bound
    }
    histogram.record(1'000'000'000);
    Families families("opra");
    families.histogram(Metric::latency_seconds, {}, histogram.snapshot());
    const auto metric = families.take().at(0).metric.at(0).histogram;
    ASSERT_EQ(metric.bucket.size(), Families::bounds_count + 1);
    for (unsigned i = 0; i < Families::bounds_count; ++i) {
        EXPECT_EQ(metric.bucket[i].cumulative_count, i + 1);
    }
    EXPECT_DOUBLE_EQ(metric.bucket[0].upper_bound, 1.024e-6);
    EXPECT_TRUE(std::isinf(metric.bucket.back().upper_bound));
    EXPECT_EQ(metric.bucket.back().cumulative_count, metric.sample_count);
    EXPECT_EQ(metric.sample_count, Families::bounds_count + 1);
}

TEST(Families, HistogramsAreInSeconds) {
    Histogram histogram;
    histogram.record(2'000'000'000);
    histogram.record(3'000);
    Families families("opra");
    families.histogram(Metric::latency_seconds, {}, histogram.snapshot());
    const auto taken = families.take().at(0).metric.at(0).histogram;
    EXPECT_DOUBLE_EQ(taken.sample_sum, 2.000003);
    EXPECT_EQ(taken.sample_count, 2U);
}

TEST(Families, ReasonsStandInTheHelp) {
    constexpr std::array<Row, 2> rows{Row{"a", "packets", "first"}, Row{"b", "packets", "second"}};
    EXPECT_EQ(reasons_help("Dropped", rows), "Dropped, by reason. a: first; b: second.");
}

}  // namespace
}  // namespace pinstrike::actors::test
