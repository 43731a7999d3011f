// path: cold
//
// `pinstrike run`: runs the appliance of a config.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/control/control_loop.h"
#include "actors/topology/load_config.h"
#include "config/print_problems.h"
#include "config/units.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace pinstrike::command {

void add_run(CLI::App& app, Outcome& outcome) {
    struct Arguments {
        std::string config;
        std::string duration;
        actors::RunFeedOptions options;
    };

    auto given = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("run", "Run the appliance of a config");
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
    command
        ->add_option("--for", given->duration,
                     "How long: 8h, 10m, 30s, 500ms (default: until a signal)")
        ->check(is_duration);
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
    command->callback([given, &outcome] {
        Problems problems;
        const auto config = actors::load_config(given->config, problems);
        print_problems(problems);
        if (!config) {
            outcome.status = exit_of(problems);
            return;
        }
        if (!given->duration.empty()) {
            given->options.for_ns = parse_duration_ns(given->duration);
        }
        given->options.config_file = given->config;
        const char* const folder = std::getenv("RUNTIME_DIRECTORY");
        if (given->options.admin_socket.empty() && folder != nullptr && *folder != '\0') {
            given->options.admin_socket = std::string{folder} + "/admin.sock";
        }
        given->options.recovers = true;
        outcome.status = actors::run_feed(*config, given->options);
    });
}

}  // namespace pinstrike::command
