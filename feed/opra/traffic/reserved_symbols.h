// path: cold
//
// The symbols that OPRA reserves for tests, for the generator and its expected results. The list is
// separate from that of the production filter, so that both do not share mistakes.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace pinstrike::feed::opra::traffic {

inline constexpr std::array<std::string_view, 26> reserved_symbols{
    "ATEST", "CBO",   "CBX",   "CTEST", "IGZ",   "MTEST", "NTEST", "PTEST", "ZBZX",
    "ZEXIT", "ZIEXT", "ZTEST", "ZTST",  "ZVV",   "ZXIET", "ZZK",   "ZAZZT", "ZBZZT",
    "ZCZZT", "ZJZZT", "ZVZZC", "ZVZZT", "ZWZZT", "ZXZZT", "01A",   "12Z"};

/// Whether the symbol is listed, or is 01 to 12 followed by A, N, P, V or Z.
inline bool is_reserved_symbol(std::string_view symbol) {
    if (std::ranges::find(reserved_symbols, symbol) != reserved_symbols.end()) {
        return true;
    }
    const auto digit = [&](std::size_t i) { return symbol[i] >= '0' && symbol[i] <= '9'; };
    if (symbol.size() != 3 || !digit(0) || !digit(1)) {
        return false;
    }
    const int number = (symbol[0] - '0') * 10 + (symbol[1] - '0');
    constexpr std::string_view letters = "ANPVZ";
    return number >= 1 && number <= 12 && letters.find(symbol[2]) != std::string_view::npos;
}

}  // namespace pinstrike::feed::opra::traffic
