// path: cold
#include "actors/host/doctor/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pinstrike::actors::doctor {

namespace {

constexpr std::array<std::string_view, 5> severity_words{"ok", "unknown", "advice", "warning",
                                                         "error"};

}  // namespace

std::string_view word_of(Severity severity) {
    return severity_words[static_cast<std::size_t>(severity)];
}

void add_finding(Findings& findings, Check check, Measured measured, fmt::format_args values) {
    const auto text = [&](std::string_view CheckRow::*column) {
        const std::string_view own = row_of(measured.special.value_or(check)).*column;
        return fmt::vformat(own.empty() ? row_of(check).*column : own, values);
    };
    if (measured.severity > Severity::unknown && measured.fix.is_blank()) {
        measured.fix.advice = text(&CheckRow::fix);
    }
    findings.push_back({text(&CheckRow::id), measured.severity, text(&CheckRow::what),
                        std::move(measured.seen), text(&CheckRow::wanted), text(&CheckRow::why),
                        std::move(measured.fix)});
}

std::vector<std::size_t> counts_of(const Findings& findings) {
    std::vector<std::size_t> counts(severity_words.size());
    for (const Finding& finding : findings) {
        ++counts[static_cast<std::size_t>(finding.severity)];
    }
    return counts;
}

Severity worst_of(const Findings& findings) {
    const auto worst = std::ranges::max_element(findings, {}, &Finding::severity);
    return worst == findings.end() ? Severity::ok : worst->severity;
}

}  // namespace pinstrike::actors::doctor
