// path: cold
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pinstrike::actors {

struct BookConfig {
    static constexpr std::string_view kind = "book";

    std::size_t series_capacity = 2'200'000;  ///< over all cores
    bool venue_quotes = false;                ///< keep each participant's last quote as well
    bool test_symbols = false;
    /// Whether a symbol (SeriesKey::symbol_word()) is one that the venue reserves for tests; null:
    /// it reserves none.
    bool (*is_test_symbol)(std::uint64_t symbol_word) = nullptr;
};

}  // namespace pinstrike::actors
