// path: cold
#include "config/problem.h"

#include <fmt/format.h>

namespace pinstrike {

std::string Place::text() const {
    if (line == 0) {
        return file;
    }
    return column == 0 ? fmt::format("{}:{}", file, line)
                       : fmt::format("{}:{}:{}", file, line, column);
}

}  // namespace pinstrike
