// path: cold
//
// Output files of commands, which are written as a whole (config/whole_file.h).
#pragma once

#include <string>
#include <vector>

namespace pinstrike {

/// Writes a file ("-": standard output) and replaces an existing one. On failure prints the reason
/// to standard error and returns false.
[[nodiscard]] bool write_text(const std::string& path, const std::string& text);

/// True if the file can probably be written; otherwise prints the reason to standard error. True
/// for "" and "-".
[[nodiscard]] bool can_write(const std::string& path);

/// True if each output differs from all inputs and from all other outputs; otherwise prints each
/// output that would be overwritten to standard error. "" is no file; "-" is no file as an output,
/// and standard input as an input.
[[nodiscard]] bool overwrites_none(const std::vector<std::string>& outputs,
                                   std::vector<std::string> inputs);

}  // namespace pinstrike
