// path: cold
//
// Options that take a duration, which are the same for all commands.
#pragma once

#include "actors/command/command.h"
#include "config/units.h"

#include <string>

namespace pinstrike::command {

/// A validator for CLI11. Returns an empty text if the text is a positive duration such as 10s,
/// otherwise the error.
inline std::string is_duration(const std::string& text) {
    const auto duration_ns = parse_duration_ns(text);
    return duration_ns && *duration_ns > 0 ? std::string{}
                                           : "found " + text + ", expected a duration such as 10s";
}

/// Adds an option that sets `ns`, which must outlive the command.
template <class Ns>
CLI::Option* add_duration(CLI::App& command, const std::string& name, Ns& ns,
                          const std::string& what) {
    const auto set = [&ns](const std::string& text) { ns = *parse_duration_ns(text); };
    return command.add_option_function<std::string>(name, set, what)->check(is_duration);
}

}  // namespace pinstrike::command
