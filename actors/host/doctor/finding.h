// path: cold
//
// The result of one check of a host.
#pragma once

#include "actors/host/doctor/finding_rows.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors::doctor {

/// In ascending order. `unknown` is neither good nor bad.
enum class Severity : std::uint8_t { ok, unknown, advice, warning, error };

[[nodiscard]] std::string_view word_of(Severity severity);

/// How to fix a finding. The commands in `now` last until the next boot. The commands in `lasting`
/// write files that apply from the next boot on (some at once).
struct Fix {
    std::string command;  ///< for a person, one line; empty: there is no command
    std::string advice;   ///< in words: in addition to the command, or instead of one
    std::vector<std::string> now;
    std::vector<std::string> lasting;
    bool boot_loader = false;  ///< `lasting` changes the kernel's command line

    [[nodiscard]] bool is_blank() const { return command.empty() && advice.empty(); }
};

struct Finding {
    std::string id;  ///< "hugepages.node0": stable between runs, unique within a run
    Severity severity = Severity::ok;
    std::string what;
    std::string seen;
    std::string wanted;
    std::string why;
    Fix fix;  ///< empty if there is nothing to fix
};

using Findings = std::vector<Finding>;

/// The parts of a finding that are not in the table of checks.
struct Measured {
    Severity severity = Severity::ok;
    std::string seen;
    Fix fix = {};                       ///< blank: the advice of the row, if something is wrong
    std::optional<Check> special = {};  ///< a case of the check, whose texts apply
};

/// Adds the finding of a check. `values` are those of the names in the row's texts.
void add_finding(Findings& findings, Check check, Measured measured, fmt::format_args values);

template <typename... Values>
void add_finding(Findings& findings, Check check, Measured measured, const Values&... values) {
    add_finding(findings, check, std::move(measured),
                fmt::format_args{fmt::make_format_args(values...)});
}

/// The number of findings of each severity, indexed by its value.
[[nodiscard]] std::vector<std::size_t> counts_of(const Findings& findings);

/// The highest severity; ok if there are no findings.
[[nodiscard]] Severity worst_of(const Findings& findings);

}  // namespace pinstrike::actors::doctor
