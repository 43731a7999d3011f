// path: cold
//
// Files that a command writes as a whole (config/whole_file.h).
#pragma once

#include <string>
#include <vector>

namespace pinstrike::command {

/// Writes a file anew ("-": standard output). False, and standard error says why, if it cannot.
[[nodiscard]] bool write_text(const std::string& path, const std::string& text);

/// Could it be written, as far as can be seen now? Standard error says why not. "" and "-" can.
[[nodiscard]] bool can_write(const std::string& path);

/// Is each output another file than the inputs and the other outputs? Standard error says which is
/// not. "" and "-" are no file.
[[nodiscard]] bool overwrites_none(const std::vector<std::string>& outputs,
                                   std::vector<std::string> inputs);

}  // namespace pinstrike::command
