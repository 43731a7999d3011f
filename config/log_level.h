// path: cold
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pinstrike {

/// In ascending order of severity, so that levels can be compared.
enum class LogLevel : std::uint8_t { debug, info, warning, error };

inline constexpr std::array<std::string_view, 4> log_level_words{"debug", "info", "warning",
                                                                 "error"};

constexpr std::string_view word_of(LogLevel level) {
    return log_level_words[static_cast<std::size_t>(level)];
}

}  // namespace pinstrike
