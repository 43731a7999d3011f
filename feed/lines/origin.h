// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::feed {

/// Where a block came: its line and stream, or 0 and '?' where no line has its group and port.
struct Origin {
    std::uint16_t line = 0;
    char stream = '?';
};

}  // namespace pinstrike::feed
