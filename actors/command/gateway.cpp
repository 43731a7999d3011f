// path: cold
//
// `pinstrike gateway`: serves clients on the network from a feed on this host.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/control/side_services.h"
#include "actors/gateway/access_log.h"
#include "config/units.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace pinstrike::command {

void add_gateway_replay(CLI::App& gateway, Outcome& outcome);

namespace {

/// The state folder of the gateway's unit, in which its documents place the access log.
constexpr const char* access_logs_folder = "/var/lib/pinstrike-gateway";

struct GatewayArguments {
    std::string config;
    actors::SideOptions options;
};

struct UsageArguments {
    std::string log;
    std::string month;
    bool csv = false;
};

bool is_month(const std::string& text) {
    return text.size() == 7 && text[4] == '-' && parse_integer(text.substr(0, 4)) &&
           parse_integer(text.substr(5)).value_or(0) >= 1 &&
           parse_integer(text.substr(5)).value_or(0) <= 12;
}

/// The only file in the folder whose name ends with .log; empty: there is none, or several.
std::string only_access_log() {
    std::string found;
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator{access_logs_folder, unreadable}) {
        if (entry.path().extension() == ".log") {
            if (!found.empty()) {
                return "";
            }
            found = entry.path().string();
        }
    }
    return found;
}

Exit report_usage(const UsageArguments& given) {
    if (!is_month(given.month)) {
        complain("--month: found {}, expected a month such as 2026-11", shown(given.month));
        return Exit::usage;
    }
    const std::string log = given.log.empty() ? only_access_log() : given.log;
    if (log.empty()) {
        complain("LOG: expected the path of an access log, because {} does not have exactly one",
                 access_logs_folder);
        return Exit::usage;
    }
    Problems problems;
    const auto usage = actors::gateway::usage_of(log, given.month, problems);
    end_unless(usage.has_value(), problems);
    fmt::print("{}", given.csv ? actors::gateway::usage_csv(*usage)
                               : actors::gateway::usage_table(*usage));
    return problems.empty() ? Exit::ok : Exit::failed;
}

void add_usage(CLI::App& gateway, Outcome& outcome) {
    const auto [usage, given] =
        add_command(gateway, outcome, "usage",
                    "What each user was served in a month, by the access log", report_usage);
    usage->footer(
        "Sums the lines of an access log (access_log in the gateway's config) by user.\n"
        "Exit status: 0 success; 1 the log cannot be read; 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike gateway usage --month 2026-11\n"
        "  pinstrike gateway usage --month 2026-11 /var/lib/pinstrike-gateway/opra.log\n"
        "  pinstrike gateway usage --month 2026-11 --csv /var/lib/pinstrike-gateway/opra.log");
    usage->add_option("LOG", given->log,
                      fmt::format("The access log of a gateway (default: the only one in {})",
                                  access_logs_folder));
    usage->add_option("--month", given->month, "YYYY-MM, in UTC")->required();
    usage->add_flag("--csv", given->csv, "A header and a row per user");
}

}  // namespace

void add_gateway(CLI::App& app, Outcome& outcome) {
    auto given = std::make_shared<GatewayArguments>();
    CLI::App* command =
        app.add_subcommand("gateway", "Serve a feed of this host to clients on the network");
    command->footer(
        "Serves the clients of Databento's live protocol, unmodified: Python, Rust and C++. It\n"
        "reads the memory that the feed publishes (publish.memory and publish.stream), as any\n"
        "program on the host can. SIGHUP reads the keys again. After SIGTERM clients connect\n"
        "again, after SIGINT they do not.\n"
        "Exit status: 0 success; 1 a retry may help (the address is in use); 2 wrong use; 78 the\n"
        "config or the keys are wrong.\n\n"
        "Examples:\n"
        "  pinstrike gateway config/gateway.yaml");
    command->add_option("CONFIG", given->config, "YAML file of one gateway");
    add_duration(*command, "--for", given->options.for_ns,
                 "How long: 8h, 10m, 30s (default: until a signal)");
    command->add_option("--account", given->options.account_file,
                        "Write what was served as JSON at the end (-: standard output)");
    add_usage(*command, outcome);
    add_gateway_replay(*command, outcome);
    command->callback([given, command, &outcome] {
        if (!command->get_subcommands().empty()) {
            return;
        }
        if (given->config.empty()) {
            throw CLI::RequiredError("CONFIG");
        }
        outcome.status = actors::run_gateway(
            load_or_end(actors::gateway::load_gateway_config, given->config), given->options);
    });
}

}  // namespace pinstrike::command
