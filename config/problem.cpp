// path: cold
#include "config/problem.h"

#include <fmt/format.h>

#include <utility>

namespace pinstrike {

std::string Place::text() const {
    if (line == 0) {
        return file;
    }
    return column == 0 ? fmt::format("{}:{}", file, line)
                       : fmt::format("{}:{}:{}", file, line, column);
}

void tell(Problems& problems, std::string file, std::string text) {
    tell(problems, Place{std::move(file)}, std::move(text));
}

void tell(Problems& problems, Place place, std::string text) {
    Problem& problem = problems.emplace_back();
    problem.place = std::move(place);
    problem.text = std::move(text);
}

}  // namespace pinstrike
