// path: cold
#pragma once

#include "config/problem.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace pinstrike {

/// Prints each problem as one text line on standard error: its place, then its text.
void print_problems(const Problems& problems);

/// Prints one text line on standard error, after the program's name. Unlike fmt::print it does not
/// throw if standard error is full or closed, so that the exit status stays correct.
void print_complaint(const std::string& text);

template <class... Values>
void complain(fmt::format_string<Values...> format, Values&&... values) {
    print_complaint(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace pinstrike
