// path: cold
#include "actors/publish/stamp.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pinstrike::actors {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t begin_ns = 1'800'000'000'000'000'000;

std::uint64_t ms_of(std::uint64_t stamp) {
    return stamp / PINSTRIKE_STAMP_MS;
}

TEST(Stamps, have_the_millisecond_of_receipt_and_rise) {
    StampClock clock;
    const std::uint64_t first = clock.next(begin_ns);
    EXPECT_EQ(clock.base_ms(), static_cast<std::uint64_t>(begin_ns / ms));
    const std::uint64_t second = clock.next(begin_ns + ms - 1);
    EXPECT_EQ(second, first + PINSTRIKE_STAMP_PLACE);
    const std::uint64_t third = clock.next(begin_ns + 7 * ms);
    EXPECT_EQ(ms_of(third), 7U);
    EXPECT_EQ(clock.next(begin_ns), third + PINSTRIKE_STAMP_PLACE) << "a clock that is set back";
}

TEST(Stamps, take_places_of_the_next_millisecond_and_return_to_the_clock) {
    StampClock clock;
    clock.next(begin_ns);
    std::uint64_t stamp = 0;
    for (int i = 0; i < 40'000; ++i) {
        stamp = clock.next(begin_ns);
    }
    EXPECT_EQ(ms_of(stamp), 1U);
    EXPECT_EQ(clock.ms(), 1U);
    EXPECT_EQ(clock.next(begin_ns + ms), stamp + PINSTRIKE_STAMP_PLACE);
    EXPECT_EQ(ms_of(clock.next(begin_ns + 2 * ms)), 2U);
}

TEST(Stamps, follow_a_leap_in_steps) {
    StampClock clock;
    clock.next(begin_ns);
    const std::int64_t night_ns = begin_ns + 8 * 3600'000 * ms;
    EXPECT_EQ(ms_of(clock.next(night_ns)), 65'536U);
    for (int i = 0; i < 500; ++i) {
        clock.next(night_ns);
    }
    EXPECT_EQ(clock.ms(), 8U * 3600'000U);
}

TEST(Stamps, continue_where_another_clock_was_also_after_the_wrap) {
    StampClock writer;
    std::int64_t now_ns = begin_ns;
    writer.next(now_ns);
    const std::int64_t wrapped_ns = begin_ns + 50LL * 24 * 3600'000 * ms;
    while (now_ns < wrapped_ns) {
        now_ns += 60'000 * ms;
        const std::uint64_t before = writer.stamp();
        EXPECT_TRUE(stamp_after(writer.next(now_ns), before));
    }
    EXPECT_EQ(writer.ms(), static_cast<std::uint64_t>((now_ns - begin_ns) / ms));
    StampClock reader;
    reader.start(writer.base_ms(), writer.stamp(), writer.ms());
    for (int i = 0; i < 100'000; ++i) {
        now_ns += i % 3 == 0 ? ms / 7 : 0;
        ASSERT_EQ(reader.next(now_ns), writer.next(now_ns));
    }
}

}  // namespace
}  // namespace pinstrike::actors
