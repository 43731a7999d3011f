// path: cold
//
// `pinstrike plan`: draws where a config's threads, queues and rings lie on a machine.
#include "actors/topology/plan/plan.h"

#include "actors/command/command.h"
#include "actors/topology/load_config.h"
#include "actors/topology/machine.h"
#include "actors/topology/topology.h"
#include "config/output_file.h"

#include <cstdio>
#include <string>

namespace pinstrike::command {

namespace {

struct PlanOptions {
    std::string config;
    std::string topology;
    std::string svg_file;
};

Exit plan(const PlanOptions& options) {
    if (!overwrites_none({options.svg_file}, {options.config, options.topology})) {
        return Exit::usage;
    }
    const actors::FeedConfig config = load_or_end(actors::load_config, options.config);
    const auto machine = options.topology.empty() ? actors::read_machine_for(config)
                                                  : actors::described_machine(options.topology);
    if (!machine || machine->cpus.empty()) {
        complain(
            "--topology {}: found neither a file of hwloc's XML (lstopo FILE.xml) nor a "
            "synthetic topology (\"pack:2 core:8 pu:2\")",
            options.topology);
        return Exit::usage;
    }
    const actors::plan::Plan plan = actors::plan::make_plan(
        config, *machine, options.topology.empty() ? "this machine" : options.topology);
    bool written = true;
    if (options.svg_file != "-") {
        written = write_text("-", actors::plan::plan_text(plan));
    }
    if (!options.svg_file.empty()) {
        written = write_text(options.svg_file, actors::plan::plan_svg(plan)) && written;
    }
    for (const Problem& problem : plan.problems) {
        complain("{}", problem.text);
    }
    return written ? exit_of(plan.problems) : Exit::failed;
}

}  // namespace

void add_plan(CLI::App& app, Outcome& outcome) {
    const auto [command, options] = add_command(
        app, outcome, "plan",
        "Draw a config's threads, queues and rings on the processors of a machine", plan);
    command->footer(
        "Packages, NUMA nodes and cores are those that hwloc finds, on this machine or on a\n"
        "described one, so that a host can be planned before it exists. Threads that are not\n"
        "pinned, and NICs of an unknown node, are drawn separately. Rings between NUMA nodes are\n"
        "marked.\n"
        "Exit status: 0 success, 1 a file cannot be written, or the machine has too little memory\n"
        "free now, 2 wrong use, 78 the config is wrong, or the machine lacks a processor that it\n"
        "names or is too small (drawn all the same).\n\n"
        "Examples:\n"
        "  pinstrike plan config/opra.yaml\n"
        "  pinstrike plan config/opra.yaml --topology \"pack:2 [numa] core:8 pu:2\" --svg "
        "plan.svg\n"
        "  pinstrike plan config/opra.yaml --topology other-host.xml");
    command->add_option("CONFIG", options->config, "A feed's YAML file")->required();
    command->add_option("--topology", options->topology,
                        "Machine: hwloc's XML file, or a synthetic one (default: this one)");
    command->add_option("--svg", options->svg_file,
                        "File for a drawing (-: standard output, without the text)");
}

}  // namespace pinstrike::command
