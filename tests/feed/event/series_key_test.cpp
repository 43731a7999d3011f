#include "feed/event/series_key.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace pinstrike::feed {
namespace {

SeriesKey key_of(std::string_view symbol, char letter, unsigned day, unsigned year,
                 std::int64_t strike_e8, bool gth = false) {
    std::array<char, 8> bytes{' ', ' ', ' ', ' ', ' '};
    symbol.copy(bytes.data(), SeriesKey::symbol_bytes);
    bytes[5] = static_cast<char>(gth ? letter | SeriesKey::gth_bit : letter);
    bytes[6] = static_cast<char>(day);
    bytes[7] = static_cast<char>(year - 2000);
    return {std::bit_cast<std::uint64_t>(bytes), strike_e8};
}

TEST(SeriesKey, EachLetterIsAMonthAndARight) {
    for (unsigned month = 1; month <= 12; ++month) {
        for (const bool call : {true, false}) {
            const char letter = SeriesKey::letter_of(month, call);
            for (const bool gth : {false, true}) {
                const SeriesKey key = key_of("SPX", letter, 19, 2026, 1, gth);
                EXPECT_EQ(key.expiration_letter(), letter);
                EXPECT_EQ(key.month(), month);
                EXPECT_EQ(key.call(), call);
                EXPECT_EQ(key.gth(), gth);
                EXPECT_EQ(key.day(), 19U);
                EXPECT_EQ(key.year(), 2026U);
                EXPECT_TRUE(key.is_valid());
            }
        }
    }
    EXPECT_EQ(SeriesKey::letter_of(12, true), 'L');
    EXPECT_EQ(SeriesKey::letter_of(1, false), 'M');
}

TEST(SeriesKey, YearsReachTo2255) {
    EXPECT_EQ(key_of("SPX", 'A', 1, 2255, 0).year(), 2255U);
}

TEST(SeriesKey, TheSessionsOfASeriesAreTwoKeysWithOneSymbol) {
    const SeriesKey regular = key_of("SPX", 'A', 19, 2026, 5);
    const SeriesKey gth = key_of("SPX", 'A', 19, 2026, 5, true);
    EXPECT_NE(regular, gth);
    EXPECT_EQ(regular.symbol_word(), gth.symbol_word());
    EXPECT_NE(key_of("SPXW", 'A', 19, 2026, 5).symbol_word(), regular.symbol_word());
}

TEST(SeriesKey, NoMessageNamesAnImpossibleSeries) {
    EXPECT_TRUE(key_of("A", 'X', 31, 2026, 0).is_valid());
    EXPECT_FALSE(SeriesKey{}.is_valid());
    EXPECT_FALSE(key_of("", 'A', 1, 2026, 1).is_valid());
    EXPECT_FALSE(key_of("A\x01", 'A', 1, 2026, 1).is_valid());
    EXPECT_FALSE(key_of("A\x7F", 'A', 1, 2026, 1).is_valid());
    EXPECT_FALSE(key_of("A", 'Y', 1, 2026, 1).is_valid());
    EXPECT_FALSE(key_of("A", '@', 1, 2026, 1).is_valid());
    EXPECT_FALSE(key_of("A", 'A', 0, 2026, 1).is_valid());
    EXPECT_FALSE(key_of("A", 'A', 32, 2026, 1).is_valid());
    EXPECT_FALSE(key_of("A", 'A', 1, 2026, -1).is_valid());
}

TEST(SeriesKey, EachByteOfTheSymbolIsPrintable) {
    for (unsigned place = 0; place < SeriesKey::symbol_bytes; ++place) {
        for (unsigned byte = 0; byte < 256; ++byte) {
            std::string symbol = "ABCDE";
            symbol[place] = static_cast<char>(byte);
            const bool possible = byte >= ' ' && byte <= '~' && (place != 0 || byte != ' ');
            EXPECT_EQ(key_of(symbol, 'A', 1, 2026, 1).is_valid(), possible) << place << ' ' << byte;
        }
    }
}

TEST(SeriesKey, ListsAreSortedBySymbolExpirationStrikeRightAndSession) {
    const std::array sorted{
        key_of("A", 'A', 18, 2026, 200), key_of("A", 'A', 19, 2026, 100),
        key_of("A", 'M', 19, 2026, 100), key_of("A", 'M', 19, 2026, 100, true),
        key_of("A", 'A', 19, 2026, 200), key_of("A", 'N', 1, 2026, 100),
        key_of("A", 'A', 1, 2027, 100),  key_of("AB", 'A', 1, 2026, 100),
        key_of("B", 'A', 1, 2025, 100),
    };
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        for (std::size_t j = 0; j < sorted.size(); ++j) {
            EXPECT_EQ(comes_before(sorted[i], sorted[j]), i < j) << i << " and " << j;
        }
    }
}

TEST(SeriesKey, HashesOfNeighboursDiffer) {
    const SeriesKey key = key_of("SPX", 'A', 19, 2026, 500'000'000'000);
    for (unsigned bit = 0; bit < 64; ++bit) {
        EXPECT_NE(hash(key), hash({key.name ^ std::uint64_t{1} << bit, key.strike_e8}));
        EXPECT_NE(hash(key), hash({key.name, key.strike_e8 ^ std::int64_t{1} << bit}));
    }
}

}  // namespace
}  // namespace pinstrike::feed
