// path: cold
#include "actors/host/doctor/show.h"

#include <nlohmann/json.hpp>

namespace pinstrike::actors::doctor {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Finding& finding) {
    return {{"id", finding.id},
            {"severity", word_of(finding.severity)},
            {"what", finding.what},
            {"seen", finding.seen},
            {"wanted", finding.wanted},
            {"why", finding.why},
            {"mend",
             {{"command", finding.fix.command},
              {"advice", finding.fix.advice},
              {"until_boot", finding.fix.now},
              {"kept", finding.fix.lasting},
              {"boot_loader", finding.fix.boot_loader}}}};
}

}  // namespace

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
