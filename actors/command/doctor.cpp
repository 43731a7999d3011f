// path: cold
//
// `pinstrike doctor`: reports which properties of this host suit the feeds that will run on it, and
// which do not.
#include "actors/command/command.h"
#include "actors/host/doctor/judge.h"
#include "actors/host/doctor/need.h"
#include "actors/host/doctor/read_host.h"
#include "actors/host/doctor/show.h"
#include "actors/host/listening.h"
#include "actors/topology/feed_hours.h"
#include "actors/topology/load_config.h"
#include "config/output_file.h"

#include <optional>
#include <string>
#include <vector>

namespace pinstrike::command {

namespace {

struct DoctorOptions {
    std::vector<std::string> configs;
    bool json = false;
    bool script = false;
    std::optional<double> rate;  ///< messages a second
};

/// Adds findings for problems that prevent every start of the feed. The findings about the host do
/// not include them.
void add_obstacles(const actors::FeedConfig& config, actors::doctor::Findings& findings) {
    Problems problems;
    static_cast<void>(actors::hours_of(config, problems));
    actors::check_listening(config, actors::read_listening_rights(), problems);
    for (const Problem& problem : problems) {
        actors::doctor::add_finding(findings, actors::doctor::Check::start,
                                    {actors::doctor::Severity::error, problem.text},
                                    fmt::arg("feed", config.name));
    }
}

Exit doctor(const DoctorOptions& options) {
    Problems problems;
    std::vector<actors::FeedConfig> configs;
    for (const std::string& file : options.configs) {
        if (auto config = actors::load_config(file, problems)) {
            configs.push_back(std::move(*config));
        }
    }
    end_unless(problems.empty(), problems, exit_of(problems));
    actors::doctor::Host host = actors::doctor::read_host();
    actors::doctor::ask_kernel(host);
    const actors::doctor::Need need = actors::doctor::need_of(configs, options.rate);
    actors::doctor::measure_recordings(need, host);
    actors::doctor::Findings findings = actors::doctor::judge(host, need);
    for (const actors::FeedConfig& config : configs) {
        add_obstacles(config, findings);
    }
    const std::string text = options.json     ? actors::doctor::findings_json(findings)
                             : options.script ? actors::doctor::fix_script(findings)
                                              : actors::doctor::findings_text(findings);
    return write_text("-", text) && worst_of(findings) <= actors::doctor::Severity::advice
               ? Exit::ok
               : Exit::failed;
}

}  // namespace

void add_doctor(CLI::App& app, Outcome& outcome) {
    const auto [command, options] = add_command(
        app, outcome, "doctor", "Check this host for the configs that will run on it", doctor);
    command->footer(
        "Checks hugepages, IOMMU, NICs, processors, interrupts, clock, network, limits and the "
        "disk\n"
        "of recordings, and changes nothing. To measure that disk, it writes at most 256 MiB to a\n"
        "file without a name. Requirements of several configs are added up; without a config, "
        "only\n"
        "what every config needs is checked. Run it as the user of the service, or as root, who\n"
        "sees more.\n\n"
        "  ok       as it should be\n"
        "  unknown  cannot be read here, and is not rated\n"
        "  advice   would be better, or depends on your needs\n"
        "  warning  costs packets or latency\n"
        "  error    the program does not start, or not as configured\n\n"
        "Exit status: 0 nothing above advice (there may be unknown), 1 a warning or an error, 2\n"
        "wrong use, 78 a config is wrong. `pinstrike check` reports whether a config would "
        "start.\n\n"
        "--fix-script prints a shell script that fixes what it can, and never runs it: read it\n"
        "first. Its comments name fixes that a boot undoes and those that need the boot loader.\n\n"
        "Examples:\n"
        "  pinstrike doctor\n"
        "  pinstrike doctor /etc/pinstrike/opra.yaml\n"
        "  pinstrike doctor --rate 2000000 /etc/pinstrike/opra.yaml\n"
        "  pinstrike doctor --json /etc/pinstrike/opra.yaml\n"
        "  pinstrike doctor --fix-script /etc/pinstrike/opra.yaml >fix.sh");
    command->add_option("CONFIG", options->configs, "YAML files of the feeds to run here");
    CLI::Option* json = command->add_flag("--json", options->json, "Print one JSON document");
    CLI::Option* script =
        command->add_flag("--fix-script", options->script, "Print a shell script with fixes");
    script->excludes(json);
    command
        ->add_option("--rate", options->rate,
                     "Messages a second of each feed, on average over the trading day (default: "
                     "that of its sim ports), by which the disk of its recording is rated")
        ->check(CLI::PositiveNumber);
}

}  // namespace pinstrike::command
