// path: cold
//
// `pinstrike check`: all that is wrong with a config, or all that is in force with it; and what the
// keys of a config, the counters and the reasons mean.
#include "actors/command/command.h"
#include "actors/command/print_problems.h"
#include "actors/feed_keys.h"
#include "actors/host_report.h"
#include "actors/load_config.h"
#include "actors/row_tables.h"
#include "actors/series_list.h"
#include "actors/topology.h"
#include "config/explain.h"
#include "config/nearest.h"
#include "nic/dpdk/memory_need.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::command {

namespace {

struct CheckOptions {
    std::string config;
    std::string key;
    bool schema = false;
    bool config_only = false;
    bool hugepages = false;
};

std::vector<KeyDoc> documented_keys() {
    std::vector<KeyDoc> docs;
    document_section(actors::feed_section(), "", docs);
    return docs;
}

/// As comments, so that what is printed as a whole is a config.
void print_comment(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        fmt::print("# {}\n", text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

Exit check(const CheckOptions& options) {
    Problems problems;
    const auto config = actors::load_config(options.config, problems);
    if (!config) {
        print_problems(problems);
        return Exit::config;
    }
    const actors::Topology topology = actors::plan_topology(*config);
    actors::HostReport report = actors::report_on(actors::read_host(*config), *config, topology);
    fmt::print("{}\n", actors::effective_config(*config));
    print_comment(actors::to_text(topology, *config));
    if (!options.config_only) {
        print_comment(actors::to_text(actors::read_series_list(*config, report.problems), *config));
    }
    print_comment(report.text);
    for (const std::string& remark : report.remarks) {
        print_comment("remark: " + remark);
    }
    // What is printed stands before what is told, also where both go to one file.
    std::fflush(stdout);
    if (options.config_only) {
        return Exit::ok;
    }
    print_problems(report.problems);
    return report.problems.empty() ? Exit::ok : Exit::config;
}

/// For scripts: "any 20", "node0 132".
Exit print_hugepages(const CheckOptions& options) {
    Problems problems;
    const auto config = actors::load_config(options.config, problems);
    print_problems(problems);
    if (!config) {
        return Exit::config;
    }
    const auto demands = actors::dpdk_demands(*config, actors::plan_topology(*config));
    for (const auto& [node, pages] : nic::dpdk::hugepages_needed(demands)) {
        fmt::print("{} {}\n", node < 0 ? "any" : fmt::format("node{}", node), pages);
    }
    return Exit::ok;
}

void list_all(const std::vector<KeyDoc>& docs, const std::vector<RowTable>& tables) {
    for (const KeyDoc& doc : docs) {
        fmt::print("{:<40} {}\n", doc.path, doc.required ? "required" : doc.default_text);
    }
    for (const RowTable& table : tables) {
        fmt::print("\ncounted of {}:\n", table.of);
        for (const Row& row : table.rows) {
            fmt::print("  {:<38} {}\n", row.name, row.unit);
        }
    }
    fmt::print("\n`pinstrike check --explain NAME` says more of each.\n");
}

/// Each name once, though several tables have it.
std::vector<std::string> names_of(const std::vector<RowTable>& tables) {
    std::set<std::string> names;
    for (const RowTable& table : tables) {
        for (const Row& row : table.rows) {
            names.emplace(row.name);
        }
    }
    return {names.begin(), names.end()};
}

Exit explain(const std::string& key) {
    const std::vector<KeyDoc> docs = documented_keys();
    const std::vector<RowTable> tables = actors::row_tables();
    if (key.empty()) {
        list_all(docs, tables);
        return Exit::ok;
    }
    const std::vector<KeyDoc> found = find_keys(docs, key);
    for (const KeyDoc& doc : found) {
        fmt::print("{}\n", explain_text(doc));
    }
    const std::string rows = explain_rows(tables, key);
    fmt::print("{}", rows);
    if (!found.empty() || !rows.empty()) {
        return Exit::ok;
    }
    complain("no key, counter or reason is called {}", shown(key));
    std::vector<std::string> near = near_keys(docs, key);
    for (const std::string& name : nearest(key, names_of(tables), 5)) {
        near.push_back(name);
    }
    for (const std::string& name : near) {
        complain("did you mean {}?", name);
    }
    return Exit::usage;
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
    CLI::App* command = app.add_subcommand(
        "check", "Tell all that is wrong with a config, or all that is in force with it");
    command->footer(
        "Prints every key with its value, then, as comments, threads, rings and the memory and\n"
        "hugepages needed and there. Exit status 78: the config or this host is wrong.\n\n"
        "Examples:\n"
        "  pinstrike check /etc/pinstrike/opra.yaml\n"
        "  pinstrike check --config-only config/opra.yaml\n"
        "  pinstrike check --hugepages /etc/pinstrike/opra.yaml\n"
        "  pinstrike check --explain ports.burst_packets\n"
        "  pinstrike check --explain checksum_bad\n"
        "  pinstrike check --explain            (lists all names)\n"
        "  pinstrike check --schema >pinstrike.schema.json");
    CLI::Option* config = command->add_option("CONFIG", options->config, "A feed's YAML file");
    command->add_flag("--config-only", options->config_only,
                      "Judge the config alone, not whether this host can run it");
    command
        ->add_flag("--hugepages", options->hugepages,
                   "Print only how many hugepages of 2 MiB the config needs, a line for each NUMA "
                   "node")
        ->needs(config);
    CLI::Option* explained =
        command
            ->add_option("--explain", options->key,
                         "Say what a key of a config, a counter or a reason means")
            ->expected(0, 1)
            ->type_name("NAME");
    CLI::Option* schema = command->add_flag("--schema", options->schema,
                                            "Print the JSON Schema of configs, for editors");
    command->callback([options, config, explained, schema, &outcome] {
        if (config->count() + explained->count() + schema->count() != 1) {
            throw CLI::ValidationError("check", "needs one of CONFIG, --explain or --schema");
        }
        outcome.status = options->schema      ? print_schema()
                         : *explained         ? explain(options->key)
                         : options->hugepages ? print_hugepages(*options)
                                              : check(*options);
    });
}

}  // namespace pinstrike::command
