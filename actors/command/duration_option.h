// path: cold
//
// How long a command is to last: one form for all of them.
#pragma once

#include "config/units.h"

#include <string>

namespace pinstrike::command {

/// For CLI11: empty where the text is a duration such as 10s, else what is wrong with it.
inline std::string is_duration(const std::string& text) {
    const auto duration_ns = parse_duration_ns(text);
    return duration_ns && *duration_ns > 0 ? std::string{}
                                           : text + " is not a duration such as 10s";
}

}  // namespace pinstrike::command
