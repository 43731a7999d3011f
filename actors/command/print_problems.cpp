// path: cold
#include "actors/command/print_problems.h"

#include <fmt/format.h>

#include <cstdio>

namespace pinstrike::command {

void print_problems(const Problems& problems) {
    for (const Problem& problem : problems) {
        const std::string place = problem.place.text();
        // Not fmt::print, which throws where standard error is full or closed.
        std::fputs(
            fmt::format("{}: {}\n", place.empty() ? "pinstrike" : place, problem.text).c_str(),
            stderr);
    }
}

}  // namespace pinstrike::command
