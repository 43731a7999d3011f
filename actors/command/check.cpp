// path: cold
//
// `pinstrike check`: prints all errors of a config, or all settings in force if it can be loaded.
#include "actors/bridge/bridge_config.h"
#include "actors/command/command.h"
#include "actors/gateway/client_keys.h"
#include "actors/gateway/gateway_config.h"
#include "actors/host/check_report.h"
#include "actors/kafka/kafka_config.h"
#include "actors/peer/tls.h"
#include "actors/topology/feed_keys.h"
#include "actors/topology/load_config.h"
#include "actors/topology/topology.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace pinstrike::command {

namespace {

struct CheckOptions {
    std::string config;
    bool schema = false;
    bool config_only = false;
    bool hugepages = false;
    std::optional<double> rate;  ///< messages a second
};

/// Prints the config of a gateway with all defaults, and what should be known of it.
Exit check_gateway(const std::string& path) {
    Problems problems;
    actors::gateway::ClientKeys keys;
    const auto config = actors::gateway::load_gateway_config(path, problems);
    if (config) {
        fmt::print("{}", to_yaml(write_section(actors::gateway::gateway_section(), *config)));
        for (const std::string& remark : actors::gateway::gateway_remarks(*config)) {
            fmt::print("# {}\n", remark);
        }
        if (actors::gateway::read_client_keys(config->keys, keys, problems)) {
            fmt::print("# {} keys\n", keys.size());
        }
    }
    std::fflush(stdout);
    print_problems(problems);
    return exit_of(problems);
}

/// Prints the config of a Kafka producer with all defaults, and what should be known of it.
Exit check_kafka(const std::string& path) {
    Problems problems;
    const auto config = actors::kafka::load_kafka_config(path, problems);
    if (config) {
        fmt::print("{}", to_yaml(write_section(actors::kafka::kafka_section(), *config)));
        for (const std::string& remark : actors::kafka::kafka_remarks(*config)) {
            fmt::print("# {}\n", remark);
        }
        actors::kafka::Properties properties;
        static_cast<void>(actors::kafka::read_properties(config->properties, properties, problems));
    }
    std::fflush(stdout);
    print_problems(problems);
    return exit_of(problems);
}

/// Prints the config of a bridge with all defaults.
Exit check_bridge(const std::string& path) {
    Problems problems;
    const auto config = actors::bridge::load_bridge_config(path, problems);
    if (config) {
        fmt::print("{}", to_yaml(write_section(actors::bridge::bridge_section(), *config)));
        static_cast<void>(actors::peer::open_tls(config->tls, "tls", problems));
    }
    std::fflush(stdout);
    print_problems(problems);
    return exit_of(problems);
}

Exit check(const CheckOptions& options) {
    if (actors::kafka::is_kafka_config(options.config)) {
        return check_kafka(options.config);
    }
    if (actors::bridge::is_bridge_config(options.config)) {
        return check_bridge(options.config);
    }
    if (actors::gateway::is_gateway_config(options.config)) {
        return check_gateway(options.config);
    }
    const actors::FeedConfig config = load_or_end(actors::load_config, options.config);
    const actors::CheckReport report =
        actors::check_report(config, options.config_only, options.rate);
    fmt::print("{}", report.text);
    // The flush puts the report before the problems even if standard output and standard error are
    // the same file.
    std::fflush(stdout);
    print_problems(report.problems);
    return exit_of(report.problems);
}

/// Prints lines for scripts, such as "any 20" or "node0 132".
Exit print_hugepages(const CheckOptions& options) {
    const actors::FeedConfig config = load_or_end(actors::load_config, options.config);
    for (const auto& [node, pages] :
         actors::hugepages_needed(config, actors::plan_topology(config))) {
        fmt::print("{} {}\n", node < 0 ? "any" : fmt::format("node{}", node), pages);
    }
    return Exit::ok;
}

Exit print_schema() {
    Node schema = Node::mapping();
    schema.add("$schema", Node::quote("https://json-schema.org/draft/2020-12/schema"));
    schema.add("title", Node::quote("A Pinstrike feed"));
    for (Node& child : schema_of(actors::feed_section()).children) {
        std::string key = child.key;
        schema.add(std::move(key), std::move(child));
    }
    fmt::print("{}\n", to_json(schema));
    return Exit::ok;
}

}  // namespace

void add_check(CLI::App& app, Outcome& outcome) {
    auto options = std::make_shared<CheckOptions>();
    CLI::App* command =
        app.add_subcommand("check", "Check a config, and print it with all defaults");
    command->footer(
        "Prints every key with its value and then, as comments, threads, rings and the memory and\n"
        "hugepages needed and available; `pinstrike explain` explains a key. Exit status 78: the\n"
        "config or this host is wrong; 1: it would not start now, but may later.\n\n"
        "Examples:\n"
        "  pinstrike check /etc/pinstrike/opra.yaml\n"
        "  pinstrike check --config-only config/opra.yaml\n"
        "  pinstrike check --hugepages /etc/pinstrike/opra.yaml\n"
        "  pinstrike check --rate 2000000 /etc/pinstrike/opra.yaml\n"
        "  pinstrike check --schema >pinstrike.schema.json");
    CLI::Option* config = command->add_option("CONFIG", options->config,
                                              "YAML file of a feed, a gateway, a bridge or a Kafka "
                                              "producer");
    command->add_flag("--config-only", options->config_only,
                      "Check the config alone, not whether this host can run it");
    command
        ->add_flag("--hugepages", options->hugepages,
                   "Print only how many hugepages of 2 MiB the config needs, a line for each NUMA "
                   "node")
        ->needs(config);
    command
        ->add_option("--rate", options->rate,
                     "Messages a second, on average over the trading day (default: that of the sim "
                     "ports): says how much a recording takes on disk, and how long the disk lasts")
        ->needs(config)
        ->check(CLI::PositiveNumber);
    CLI::Option* schema = command->add_flag("--schema", options->schema,
                                            "Print the JSON Schema of configs, for editors");
    command->callback([options, config, schema, &outcome] {
        if (config->count() + schema->count() != 1) {
            throw CLI::ValidationError("check", "needs either CONFIG or --schema");
        }
        outcome.status = options->schema      ? print_schema()
                         : options->hugepages ? print_hugepages(*options)
                                              : check(*options);
    });
}

}  // namespace pinstrike::command
