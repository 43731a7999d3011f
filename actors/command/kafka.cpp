// path: cold
//
// `pinstrike kafka`: writes the records of a feed on this host to Kafka.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/control/side_services.h"

#include <string>

namespace pinstrike::command {
namespace {

struct KafkaArguments {
    std::string config;
    actors::SideOptions options;
};

Exit write_records(const KafkaArguments& given) {
    return actors::run_kafka(load_or_end(actors::kafka::load_kafka_config, given.config),
                             given.options);
}

}  // namespace

void add_kafka(CLI::App& app, Outcome& outcome) {
    const auto [command, given] = add_command(
        app, outcome, "kafka", "Write the records of a feed of this host to Kafka", write_records);
    command->footer(
        "Reads the memory that the feed publishes (publish.memory and publish.stream), as any\n"
        "program on the host can, and writes a topic for each kind of records: packed records in\n"
        "DBN, with the underlying as the key of a message.\n"
        "Exit status: 0 success; 1 a retry may help; 2 wrong use; 78 the config is wrong.\n\n"
        "Examples:\n"
        "  pinstrike kafka config/kafka.yaml");
    command->add_option("CONFIG", given->config, "YAML file of one Kafka producer")->required();
    add_duration(*command, "--for", given->options.for_ns,
                 "How long: 8h, 10m, 30s (default: until a signal)");
    command->add_option("--account", given->options.account_file,
                        "Write what became of the records as JSON at the end (-: standard output)");
}

}  // namespace pinstrike::command
