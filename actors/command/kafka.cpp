// path: cold
//
// `pinstrike kafka`: writes the records of a feed on this host to Kafka.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/control/kafka_service.h"
#include "config/print_problems.h"
#include "config/units.h"

#include <memory>
#include <string>

namespace pinstrike::command {
namespace {

struct KafkaArguments {
    std::string config;
    std::string duration;
    actors::KafkaOptions options;
};

Exit write(KafkaArguments& given) {
    Problems problems;
    const auto config = actors::kafka::load_kafka_config(given.config, problems);
    print_problems(problems);
    if (!config) {
        return exit_of(problems);
    }
    if (!given.duration.empty()) {
        given.options.for_ns = parse_duration_ns(given.duration).value_or(0);
    }
    return actors::run_kafka(*config, given.options);
}

}  // namespace

void add_kafka(CLI::App& app, Outcome& outcome) {
    auto given = std::make_shared<KafkaArguments>();
    CLI::App* command =
        app.add_subcommand("kafka", "Write the records of a feed of this host to Kafka");
    command->footer(
        "Reads the memory that the feed publishes (publish.memory and publish.stream), as any\n"
        "program on the host can, and writes a topic for each kind of records: packed records in\n"
        "DBN, with the underlying as the key of a message.\n"
        "Exit status: 0 success; 1 a retry may help; 2 wrong use; 78 the config is wrong.\n\n"
        "Examples:\n"
        "  pinstrike kafka config/kafka.yaml");
    command->add_option("CONFIG", given->config, "YAML file of one Kafka producer")->required();
    command
        ->add_option("--for", given->duration, "How long: 8h, 10m, 30s (default: until a signal)")
        ->check(is_duration);
    command->add_option("--account", given->options.account_file,
                        "Write what became of the records as JSON at the end (-: standard output)");
    command->callback([given, &outcome] { outcome.status = write(*given); });
}

}  // namespace pinstrike::command
