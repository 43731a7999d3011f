// path: cold
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pinstrike::actors {

struct BookConfig {
    static constexpr std::string_view kind = "book";

    std::size_t series_capacity = 2'200'000;  ///< sum over all cores
    bool test_symbols = false;
    /// Whether the venue reserves a symbol (SeriesKey::symbol_word()) for tests; null: the venue
    /// reserves no symbols.
    bool (*is_test_symbol)(std::uint64_t symbol_word) = nullptr;
};

}  // namespace pinstrike::actors
