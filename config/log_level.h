// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::actors {

/// In the order of their weight, so that levels compare.
enum class LogLevel : std::uint8_t { debug, info, warning, error };

}  // namespace pinstrike::actors
