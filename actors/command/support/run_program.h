// path: cold
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace pinstrike::actors::support {

struct ProgramOutput {
    std::string text;       ///< the last `bytes_max` of what it printed
    std::string complaint;  ///< the error; empty: it ended in time with status 0
};

/// Runs a program from PATH with these arguments, of which the first is its name, and without a
/// shell. Kills the program when the time is over.
[[nodiscard]] ProgramOutput run_program(const std::vector<std::string>& words,
                                        std::size_t bytes_max, std::chrono::seconds time);

}  // namespace pinstrike::actors::support
