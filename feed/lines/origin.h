// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::feed {

/// The line and stream on which a block arrived; 0 and '?' if no line has its group and port.
struct Origin {
    std::uint16_t line = 0;
    char stream = '?';
};

}  // namespace pinstrike::feed
