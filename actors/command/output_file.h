// path: cold
//
// Files that a command writes as a whole.
#pragma once

#include <string>

namespace pinstrike::command {

/// Writes a file anew ("-": standard output). False, and standard error says why, if it cannot.
[[nodiscard]] bool write_text(const std::string& path, const std::string& text);

/// Could it be written, as far as can be seen now? Standard error says why not. "" and "-" can.
[[nodiscard]] bool can_write(const std::string& path);

}  // namespace pinstrike::command
