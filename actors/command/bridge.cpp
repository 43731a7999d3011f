// path: cold
//
// `pinstrike bridge`: carries a feed to another host.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/control/bridge_service.h"
#include "config/print_problems.h"
#include "config/units.h"

#include <memory>
#include <string>

namespace pinstrike::command {
namespace {

struct BridgeArguments {
    std::string config;
    std::string duration;
    actors::BridgeOptions options;
};

Exit run(BridgeArguments& given) {
    Problems problems;
    const auto config = actors::bridge::load_bridge_config(given.config, problems);
    print_problems(problems);
    if (!config) {
        return exit_of(problems);
    }
    if (!given.duration.empty()) {
        given.options.for_ns = parse_duration_ns(given.duration).value_or(0);
    }
    return actors::run_bridge(*config, given.options);
}

void add_options(CLI::App& side, const std::shared_ptr<BridgeArguments>& given, Outcome& outcome) {
    side.add_option("CONFIG", given->config, "YAML file of one bridge")->required();
    side.add_option("--for", given->duration, "How long: 8h, 10m, 30s (default: until a signal)")
        ->check(is_duration);
    side.add_option("--account", given->options.account_file,
                    "Write what was carried as JSON at the end (-: standard output)");
    side.callback([given, &outcome] { outcome.status = run(*given); });
}

}  // namespace

void add_bridge(CLI::App& app, Outcome& outcome) {
    CLI::App* command = app.add_subcommand("bridge", "Carry a feed of one host to another");
    command->require_subcommand(1);
    command->footer(
        "The serving side reads the memory that a feed publishes (publish.memory and\n"
        "publish.stream), as any program on its host can. The joining side publishes the feed on\n"
        "its own host, where every reader works as on the first. Both need certificates of one\n"
        "authority.\n"
        "Exit status: 0 success; 1 a retry may help; 2 wrong use; 78 the config is wrong.");
    auto served = std::make_shared<BridgeArguments>();
    CLI::App* serve = command->add_subcommand("serve", "Serve a feed of this host to other hosts");
    serve->footer("Examples:\n  pinstrike bridge serve config/bridge.yaml");
    add_options(*serve, served, outcome);
    auto joined = std::make_shared<BridgeArguments>();
    CLI::App* join =
        command->add_subcommand("join", "Publish the feed of another host on this one");
    join->footer("Examples:\n  pinstrike bridge join 192.0.2.7:9480 config/bridge_join.yaml");
    join->add_option("ADDRESS", joined->options.connect,
                     "IPv4 address and port of the serving side")
        ->required();
    add_options(*join, joined, outcome);
}

}  // namespace pinstrike::command
