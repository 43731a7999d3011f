// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::actors {

/// In ascending order of severity, so that levels can be compared.
enum class LogLevel : std::uint8_t { debug, info, warning, error };

}  // namespace pinstrike::actors
