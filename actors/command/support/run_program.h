// path: cold
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace pinstrike::actors::support {

struct ProgramOutput {
    std::string text;       ///< the last `bytes_max` of what it printed
    std::string complaint;  ///< empty: it ended with 0, in time
};

/// Runs a program of PATH with these arguments (the first is its name) and no shell; ends it when
/// the time is over.
[[nodiscard]] ProgramOutput run_program(const std::vector<std::string>& words,
                                        std::size_t bytes_max, std::chrono::seconds time);

}  // namespace pinstrike::actors::support
