// path: cold
#include "actors/host/doctor/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pinstrike::actors::doctor {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t severity_columns = 9;

/// The number of characters displayed. UTF-8 continuation bytes do not count.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    }));
}

/// Wraps words into lines that are indented by `indent` columns; the first line has `used` columns
/// already. Text without blanks is not broken, because commands are copied.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t used) {
    std::string out;
    std::size_t at = used;
    bool first = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const std::size_t width = width_of(word);
        if (!first && at + 1 + width > columns) {
            out += '\n' + std::string(indent, ' ');
            at = indent;
        } else if (!first) {
            out += ' ';
            ++at;
        }
        out += word;
        at += width;
        first = false;
    }
    return out;
}

void add_part(std::string& out, std::string_view name, std::string_view text) {
    if (text.empty()) {
        return;
    }
    constexpr std::size_t indent = severity_columns + 8;
    out += fmt::format("{:{}}{:<8}{}\n", "", severity_columns, name, wrapped(text, indent, indent));
}

void add_finding(std::string& out, const Finding& finding) {
    const std::string head = fmt::format("{:<{}}", word_of(finding.severity), severity_columns);
    if (finding.severity == Severity::ok) {
        out += head +
               wrapped(finding.what + ": " + finding.seen, severity_columns + 2, severity_columns) +
               "\n";
        return;
    }
    out += head + wrapped(finding.what, severity_columns + 2, severity_columns) + "\n";
    add_part(out, "seen", finding.seen);
    add_part(out, "wanted", finding.wanted);
    add_part(out, "why", finding.why);
    add_part(out, "mend", finding.fix.command);
    add_part(out, finding.fix.command.empty() ? "mend" : "", finding.fix.advice);
}

}  // namespace

std::string findings_text(const Findings& findings) {
    std::string out;
    for (const Finding& finding : findings) {
        add_finding(out, finding);
    }
    std::string sum;
    const std::vector<std::size_t> counts = counts_of(findings);
    for (std::size_t i = counts.size(); i-- > 0;) {
        const auto severity = static_cast<Severity>(i);
        sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", counts[i],
                           severity == Severity::unknown ? "cannot be judged" : word_of(severity));
    }
    return out + "\n" + sum + "\n";
}

}  // namespace pinstrike::actors::doctor
