// path: cold
//
// The check of options that take a duration, which is the same for all commands.
#pragma once

#include "config/units.h"

#include <string>

namespace pinstrike::command {

/// A validator for CLI11. Returns an empty text if the text is a positive duration such as 10s,
/// otherwise the error.
inline std::string is_duration(const std::string& text) {
    const auto duration_ns = parse_duration_ns(text);
    return duration_ns && *duration_ns > 0 ? std::string{}
                                           : "found " + text + ", expected a duration such as 10s";
}

}  // namespace pinstrike::command
