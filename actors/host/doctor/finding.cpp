// path: cold
#include "actors/host/doctor/finding.h"

#include <algorithm>
#include <array>

namespace pinstrike::actors::doctor {

namespace {

constexpr std::array<std::string_view, 5> words{"ok", "unknown", "advice", "warning", "error"};

}  // namespace

std::string_view word_of(Severity severity) {
    return words[static_cast<std::size_t>(severity)];
}

std::vector<std::size_t> counts_of(const Findings& findings) {
    std::vector<std::size_t> counts(words.size());
    for (const Finding& finding : findings) {
        ++counts[static_cast<std::size_t>(finding.severity)];
    }
    return counts;
}

Severity worst_of(const Findings& findings) {
    Severity worst = Severity::ok;
    for (const Finding& finding : findings) {
        worst = std::max(worst, finding.severity);
    }
    return worst;
}

}  // namespace pinstrike::actors::doctor
