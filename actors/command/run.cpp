// path: cold
//
// `pinstrike run`: runs the appliance of a config.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/control/control_loop.h"
#include "actors/topology/load_config.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace pinstrike::command {

namespace {

struct RunArguments {
    std::string config;
    actors::RunFeedOptions options;
};

Exit run_appliance(RunArguments& given) {
    const actors::FeedConfig config = load_or_end(actors::load_config, given.config);
    given.options.config_file = given.config;
    const char* const folder = std::getenv("RUNTIME_DIRECTORY");
    if (given.options.admin_socket.empty() && folder != nullptr && *folder != '\0') {
        given.options.admin_socket = std::string{folder} + "/admin.sock";
    }
    given.options.recovers = true;
    return actors::run_feed(config, given.options);
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
    const auto [command, given] =
        add_command(app, outcome, "run", "Run the appliance of a config", run_appliance);
    command->footer(
        "Runs until SIGINT, SIGTERM or `pinstrike ctl INSTANCE drain`, then drains and prints the\n"
        "account as a table. SIGHUP reads the config anew (`pinstrike ctl --help` says what can\n"
        "change); on a terminal it means that the terminal is gone, and ends the program.\n"
        "Exit status: 0 success; 1 the account does not balance, captures did not all reach their\n"
        "lines (`pinstrike replay --help`) before --for was over, or the start failed and a retry\n"
        "may succeed (an address in use or not there yet, too little memory free now); 2 wrong\n"
        "arguments; 78 the config or the host is wrong.\n"
        "\nExamples:\n"
        "  pinstrike run config/demo.yaml --for 10s\n"
        "  pinstrike run /etc/pinstrike/opra.yaml --account account.json --book book.json");
    command->add_option("CONFIG", given->config, "YAML file of one feed")->required();
    add_duration(*command, "--for", given->options.for_ns,
                 "How long: 8h, 10m, 30s, 500ms (default: until a signal)");
    command->add_option("--account", given->options.account_file,
                        "Write the account as JSON at the end (-: standard output)");
    command->add_option("--book", given->options.book_file,
                        "Write every series' state at the end (-: standard output)");
    command->add_option(
        "--admin", given->options.admin_socket,
        "Listen at this Unix socket for `pinstrike ctl`, `top` and `latency` (default: "
        "admin.sock in the folder that systemd gives the service; else none)");
    given->options.metrics = true;
    given->options.view = ::isatty(STDOUT_FILENO) == 1;
    command->add_flag(
        "--view,!--no-view", given->options.view,
        "Show once a second what goes on: a screen on a terminal (the default there), "
        "else a line");
}

}  // namespace pinstrike::command
