// path: cold
//
// The check of options that take roots of underlyings, which is the same for all commands.
#pragma once

#include "feed/event/series_key.h"

#include <string>

namespace pinstrike::command {

/// A validator for CLI11. Returns an empty text if the text can be a root, otherwise the error.
inline std::string root_error(const std::string& text) {
    return !text.empty() && text.size() <= feed::SeriesKey::symbol_bytes
               ? ""
               : "found " + text + ", expected roots of at most 5 characters, such as SPY,SPXW";
}

}  // namespace pinstrike::command
