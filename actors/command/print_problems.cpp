// path: cold
#include "actors/command/print_problems.h"

#include <fmt/core.h>

#include <cstdio>

namespace pinstrike::command {

void print_problems(const Problems& problems) {
    for (const Problem& problem : problems) {
        const std::string place = problem.place.text();
        fmt::print(stderr, "{}: {}\n", place.empty() ? "pinstrike" : place, problem.text);
    }
}

}  // namespace pinstrike::command
