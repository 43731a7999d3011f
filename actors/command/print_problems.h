// path: cold
#pragma once

#include "config/problem.h"

namespace pinstrike::command {

/// To stderr, one a line: "file:line:column: text", or "pinstrike: text" where there is no place.
void print_problems(const Problems& problems);

}  // namespace pinstrike::command
