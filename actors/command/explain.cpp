// path: cold
//
// `pinstrike explain`: explains a name that the program, its config or an alert shows.
#include "actors/command/command.h"
#include "actors/telemetry/explain/explanations.h"
#include "config/joined.h"
#include "config/output_file.h"
#include "config/yaml.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace pinstrike::command {

namespace {

struct ExplainOptions {
    std::string name;
    bool json = false;
};

/// Returns one line per explanation. The line includes the name in Prometheus if that is a
/// different one.
std::string list_text(const std::vector<Explanation>& all) {
    std::string out;
    std::string kind;
    for (const Explanation& one : all) {
        if (one.kind != kind) {
            kind = one.kind;
            out += fmt::format("{}{}:\n", out.empty() ? "" : "\n", kind);
        }
        const bool other = !one.metric.empty() && one.metric != one.name;
        out += fmt::format("  {:<34}  {}{}\n", one.name, one.sentence,
                           other ? fmt::format(" ({})", one.metric) : "");
    }
    return out + "\n`pinstrike explain NAME` explains one in full.\n";
}

std::string paragraphs(const std::vector<Explanation>& found) {
    std::string out;
    for (const Explanation& one : found) {
        out += (out.empty() ? "" : "\n") + explain_text(one);
    }
    return out;
}

/// Prints which explanations mention a word that has no explanation itself, such as a value of a
/// key or a state.
void print_mentions(const std::string& word) {
    constexpr std::size_t names_max = 5;
    std::vector<std::string> names;
    for (const Explanation& one : actors::all_explanations()) {
        if (names.size() < names_max && explain_text(one).find(word) != std::string::npos) {
            names.push_back(one.name);
        }
    }
    if (!names.empty()) {
        complain("it is mentioned in the explanation of {}", joined(names));
    }
}

Exit explain(const ExplainOptions& options) {
    const bool all = options.name.empty();
    const std::vector<Explanation> found =
        all ? actors::all_explanations() : actors::find_explanations(options.name);
    if (found.empty()) {
        complain("no key, metric, counter, reason, log code or alert is called {}",
                 shown(options.name));
        for (const std::string& name : actors::near_explanations(options.name)) {
            complain("did you mean {}?", name);
        }
        print_mentions(options.name);
        return Exit::usage;
    }
    const std::string text = options.json ? explain_json(found)
                             : all        ? list_text(found)
                                          : paragraphs(found);
    return write_text("-", text) ? Exit::ok : Exit::failed;
}

}  // namespace

void add_explain(CLI::App& app, Outcome& outcome) {
    const auto [command, options] =
        add_command(app, outcome, "explain",
                    "Explain a key, metric, counter, reason, log code or alert", explain);
    command->footer(
        "Without a name: all of them by kind, one in each line. A name that several tables have\n"
        "gets an explanation for each. Exit status: 0 success, 1 it cannot be printed, 2 no such\n"
        "name.\n\n"
        "Examples:\n"
        "  pinstrike explain checksum_bad\n"
        "  pinstrike explain gap_declared\n"
        "  pinstrike explain PinstrikeRingFull\n"
        "  pinstrike explain pinstrike_latency_seconds_bucket\n"
        "  pinstrike explain ports.burst_packets\n"
        "  pinstrike explain --json");
    command->add_option("NAME", options->name,
                        "As written in the log, a metric, an alert or a config");
    command->add_flag("--json", options->json, "Print a JSON array");
}

}  // namespace pinstrike::command
