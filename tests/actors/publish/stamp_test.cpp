// path: cold
#include "actors/publish/stamp.h"

#include "config/time_units.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pinstrike::actors {
namespace {

constexpr std::int64_t begin_ns = 1'800'000'000'000'000'000;

std::uint64_t ms_of(std::uint64_t stamp) {
    return stamp / PINSTRIKE_STAMP_MS;
}

TEST(Stamps, have_the_millisecond_of_receipt_and_rise) {
    StampClock clock;
    const std::uint64_t first = clock.next(begin_ns);
    EXPECT_EQ(clock.base_ms(), static_cast<std::uint64_t>(begin_ns / ms_ns));
    const std::uint64_t second = clock.next(begin_ns + ms_ns - 1);
    EXPECT_EQ(second, first + PINSTRIKE_STAMP_PLACE);
    const std::uint64_t third = clock.next(begin_ns + 7 * ms_ns);
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
    EXPECT_EQ(clock.next(begin_ns + ms_ns), stamp + PINSTRIKE_STAMP_PLACE);
    EXPECT_EQ(ms_of(clock.next(begin_ns + 2 * ms_ns)), 2U);
}

TEST(Stamps, follow_a_leap_in_steps) {
    StampClock clock;
    clock.next(begin_ns);
    const std::int64_t night_ns = begin_ns + 8 * 3600'000 * ms_ns;
    EXPECT_EQ(ms_of(clock.next(night_ns)), 65'536U);
    for (int i = 0; i < 500; ++i) {
        clock.next(night_ns);
    }
    EXPECT_EQ(clock.ms(), 8U * 3600'000U);
}

/// The time of receipt that a reader computes from the clock's stamp.
std::int64_t time_ns(const StampClock& clock) {
    return static_cast<std::int64_t>(clock.base_ms() + clock.ms()) * ms_ns;
}

TEST(Stamps, recover_from_a_first_event_with_a_wrong_time) {
    constexpr std::int64_t year_ns = 365LL * 24 * 3600'000 * ms_ns;
    for (const std::int64_t wrong_ns : {std::int64_t{0}, std::int64_t{-1}, 20 * ms_ns, year_ns,
                                        begin_ns - 25 * year_ns, begin_ns + 25 * year_ns}) {
        StampClock clock;
        const std::uint64_t first = clock.next(wrong_ns);
        EXPECT_EQ(clock.next(begin_ns), first + PINSTRIKE_STAMP_PLACE) << wrong_ns;
        EXPECT_EQ(time_ns(clock), begin_ns) << wrong_ns;
        clock.next(begin_ns + 9 * ms_ns);
        EXPECT_EQ(time_ns(clock), begin_ns + 9 * ms_ns) << wrong_ns;
    }
}

TEST(Stamps, return_after_an_event_with_a_wrong_time) {
    constexpr std::int64_t year_ns = 365LL * 24 * 3600'000 * ms_ns;
    for (const std::int64_t wrong_ns : {std::int64_t{0}, year_ns, begin_ns + 25 * year_ns}) {
        StampClock writer;
        writer.next(begin_ns);
        writer.next(begin_ns + 5 * ms_ns);
        StampClock reader;
        reader.start(writer.base_ms(), writer.stamp(), writer.ms());
        const std::uint64_t before = writer.stamp();
        EXPECT_EQ(writer.next(wrong_ns), before + PINSTRIKE_STAMP_PLACE);
        EXPECT_EQ(reader.next(wrong_ns), writer.stamp());
        for (int i = 5; i < 9; ++i) {
            const std::uint64_t stamp = writer.next(begin_ns + i * ms_ns);
            EXPECT_EQ(reader.next(begin_ns + i * ms_ns), stamp);
            EXPECT_EQ(time_ns(writer), begin_ns + i * ms_ns);
        }
    }
}

TEST(Stamps, continue_where_another_clock_was_also_after_the_wrap) {
    StampClock writer;
    std::int64_t now_ns = begin_ns;
    writer.next(now_ns);
    const std::int64_t wrapped_ns = begin_ns + 50LL * 24 * 3600'000 * ms_ns;
    while (now_ns < wrapped_ns) {
        now_ns += 60'000 * ms_ns;
        const std::uint64_t before = writer.stamp();
        EXPECT_TRUE(stamp_after(writer.next(now_ns), before));
    }
    EXPECT_EQ(writer.ms(), static_cast<std::uint64_t>((now_ns - begin_ns) / ms_ns));
    StampClock reader;
    reader.start(writer.base_ms(), writer.stamp(), writer.ms());
    for (int i = 0; i < 100'000; ++i) {
        now_ns += i % 3 == 0 ? ms_ns / 7 : 0;
        ASSERT_EQ(reader.next(now_ns), writer.next(now_ns));
    }
}

}  // namespace
}  // namespace pinstrike::actors
