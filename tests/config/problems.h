// path: cold
#pragma once

#include "config/problem.h"

#include <string>

namespace pinstrike {

/// One problem per line, as the program prints them.
inline std::string text_of(const Problems& problems) {
    std::string out;
    for (const Problem& problem : problems) {
        out += problem.place.text() + ": " + problem.text + "\n";
    }
    return out;
}

}  // namespace pinstrike
