// path: cold
#pragma once

#include <cstddef>

namespace pinstrike::actors {

struct BookConfig {
    std::size_t series_capacity = 2'200'000;  ///< over all cores
    bool venue_quotes = false;                ///< keep each participant's last quote as well
    bool test_symbols = false;
};

}  // namespace pinstrike::actors
