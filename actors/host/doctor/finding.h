// path: cold
//
// What is judged of a host, one matter at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::doctor {

/// Ascending; what is not known is neither good nor bad.
enum class Severity : std::uint8_t { ok, unknown, advice, warning, error };

[[nodiscard]] std::string_view word_of(Severity severity);

/// How it is mended. Commands of `now` hold until the next boot; those of `lasting` write files
/// that hold from the next boot on (some at once).
struct Mend {
    std::string command;  ///< for a person, one line; empty: no command does it
    std::string advice;   ///< in words: beside the command, or where there is none
    std::vector<std::string> now;
    std::vector<std::string> lasting;
    bool boot_loader = false;  ///< `lasting` changes the kernel's command line
};

struct Finding {
    std::string id;  ///< "hugepages.node0": the same from run to run, unique in one
    Severity severity = Severity::ok;
    std::string what;
    std::string seen;
    std::string wanted;
    std::string why;
    Mend mend;  ///< empty where nothing is to be mended
};

using Findings = std::vector<Finding>;

/// Of so many of each severity, by its value.
[[nodiscard]] std::vector<std::size_t> counts_of(const Findings& findings);

/// The highest there is; ok where there are none.
[[nodiscard]] Severity worst_of(const Findings& findings);

}  // namespace pinstrike::actors::doctor
