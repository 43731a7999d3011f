// path: cold
//
// `pinstrike bridge`: carries a feed to another host.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/control/side_services.h"

#include <string>

namespace pinstrike::command {
namespace {

struct BridgeArguments {
    std::string config;
    std::string connect;  ///< empty: serve
    actors::SideOptions options;
};

Exit run(const BridgeArguments& given) {
    return actors::run_bridge(load_or_end(actors::bridge::load_bridge_config, given.config),
                              given.connect, given.options);
}

void add_options(CLI::App& side, BridgeArguments& given) {
    side.add_option("CONFIG", given.config, "YAML file of one bridge")->required();
    add_duration(side, "--for", given.options.for_ns,
                 "How long: 8h, 10m, 30s (default: until a signal)");
    side.add_option("--account", given.options.account_file,
                    "Write what was carried as JSON at the end (-: standard output)");
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
    const auto [serve, served] =
        add_command(*command, outcome, "serve", "Serve a feed of this host to other hosts", run);
    serve->footer("Examples:\n  pinstrike bridge serve config/bridge.yaml");
    add_options(*serve, *served);
    const auto [join, joined] =
        add_command(*command, outcome, "join", "Publish the feed of another host on this one", run);
    join->footer("Examples:\n  pinstrike bridge join 192.0.2.7:9480 config/bridge_join.yaml");
    join->add_option("ADDRESS", joined->connect, "IPv4 address and port of the serving side")
        ->required();
    add_options(*join, *joined);
}

}  // namespace pinstrike::command
