// path: cold
#include "actors/host/doctor/show.h"

#include "config/wrapped.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace pinstrike::actors::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t columns = 80;
constexpr std::size_t severity_columns = 9;

void add_part(std::string& out, std::string_view name, std::string_view text) {
    if (text.empty()) {
        return;
    }
    constexpr std::size_t indent = severity_columns + 8;
    out += fmt::format("{:{}}{:<8}{}\n", "", severity_columns, name,
                       wrapped(text, indent, indent, columns));
}

void add_text(std::string& out, const Finding& finding) {
    const bool good = finding.severity == Severity::ok;
    out += fmt::format("{:<{}}{}\n", word_of(finding.severity), severity_columns,
                       wrapped(good ? finding.what + ": " + finding.seen : finding.what,
                               severity_columns + 2, severity_columns, columns));
    if (!good) {
        add_part(out, "seen", finding.seen);
        add_part(out, "wanted", finding.wanted);
        add_part(out, "why", finding.why);
        add_part(out, "fix", finding.fix.command);
        add_part(out, finding.fix.command.empty() ? "fix" : "", finding.fix.advice);
    }
}

Json json_of(const Finding& finding) {
    return {{"id", finding.id},
            {"severity", word_of(finding.severity)},
            {"what", finding.what},
            {"seen", finding.seen},
            {"wanted", finding.wanted},
            {"why", finding.why},
            {"fix",
             {{"command", finding.fix.command},
              {"advice", finding.fix.advice},
              {"until_boot", finding.fix.now},
              {"kept", finding.fix.lasting},
              {"boot_loader", finding.fix.boot_loader}}}};
}

}  // namespace

std::string findings_text(const Findings& findings) {
    std::string out;
    for (const Finding& finding : findings) {
        add_text(out, finding);
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

std::string findings_json(const Findings& findings) {
    Json counts = Json::object();
    const std::vector<std::size_t> by_severity = counts_of(findings);
    for (std::size_t i = 0; i < by_severity.size(); ++i) {
        counts[std::string{word_of(static_cast<Severity>(i))}] = by_severity[i];
    }
    Json list = Json::array();
    for (const Finding& finding : findings) {
        list.push_back(json_of(finding));
    }
    const Json whole{
        {"worst", word_of(worst_of(findings))}, {"counts", counts}, {"findings", list}};
    constexpr int indent = 2;
    return whole.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace pinstrike::actors::doctor
