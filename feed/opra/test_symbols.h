// path: hot
//
// The test symbols that OPRA reserves. Tests may arrive in trading hours, so the symbol of every
// message is looked up. A lookup takes one multiplication, one load and one compare.
#pragma once

#include "feed/event/series_key.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace pinstrike::feed::opra {

inline constexpr std::array<std::string_view, 24> lettered_test_symbols{
    "ATEST", "CBO",   "CBX",   "CTEST", "IGZ",   "MTEST", "NTEST", "PTEST",
    "ZBZX",  "ZEXIT", "ZIEXT", "ZTEST", "ZTST",  "ZVV",   "ZXIET", "ZZK",
    "ZAZZT", "ZBZZT", "ZCZZT", "ZJZZT", "ZVZZC", "ZVZZT", "ZWZZT", "ZXZZT"};

namespace detail {

/// 24 words in 64 slots without a collision. The compiler searches for a multiplier that gives
/// none.
struct TestSymbolTable {
    std::uint64_t multiplier = 0;
    std::array<std::uint64_t, 64> slots{};

    [[nodiscard]] static constexpr std::size_t slot_of(std::uint64_t word,
                                                       std::uint64_t multiplier) {
        return static_cast<std::size_t>((word * multiplier) >> 58);
    }

    [[nodiscard]] constexpr bool fill(std::uint64_t candidate) {
        multiplier = candidate;
        slots = {};
        for (const std::string_view symbol : lettered_test_symbols) {
            const std::uint64_t word = symbol_word_of(symbol);
            std::uint64_t& slot = slots[slot_of(word, candidate)];
            if (slot != 0) {
                return false;
            }
            slot = word;
        }
        return true;
    }
};

inline constexpr TestSymbolTable test_symbol_table = [] {
    TestSymbolTable table;
    std::uint64_t candidate = 0x9E37'79B9'7F4A'7C15ULL;
    while (!table.fill(candidate)) {
        candidate = candidate * 6364136223846793005ULL + 1442695040888963407ULL;
    }
    return table;
}();

/// 01 to 12 followed by A, N, P, V or Z.
[[nodiscard]] constexpr bool is_numbered_test_symbol(std::uint64_t word) {
    const auto tens = static_cast<char>(word & 0xFF);
    const auto ones = static_cast<char>((word >> 8) & 0xFF);
    const auto letter = static_cast<char>((word >> 16) & 0xFF);
    const bool number =
        (tens == '0' && ones >= '1' && ones <= '9') || (tens == '1' && ones >= '0' && ones <= '2');
    const bool lettered =
        letter == 'A' || letter == 'N' || letter == 'P' || letter == 'V' || letter == 'Z';
    return number && lettered && (word >> 24) == 0x2020;
}

}  // namespace detail

/// Whether the symbol (as SeriesKey::symbol_word()) is reserved for tests.
[[nodiscard]] constexpr bool is_test_symbol(std::uint64_t word) {
    if (static_cast<char>(word & 0xFF) < 'A') [[unlikely]] {  // begins with a digit: FLEX or a test
        return detail::is_numbered_test_symbol(word);
    }
    const auto& table = detail::test_symbol_table;
    return table.slots[detail::TestSymbolTable::slot_of(word, table.multiplier)] == word;
}

}  // namespace pinstrike::feed::opra
