// path: cold
#include "config/print_problems.h"

#include <cstdio>

namespace pinstrike {

void print_problems(const Problems& problems) {
    for (const Problem& problem : problems) {
        const std::string place = problem.place.text();
        std::fputs(
            fmt::format("{}: {}\n", place.empty() ? "pinstrike" : place, problem.text).c_str(),
            stderr);
    }
}

void print_complaint(const std::string& text) {
    std::fputs(("pinstrike: " + text + "\n").c_str(), stderr);
}

}  // namespace pinstrike
