// path: cold
//
// `pinstrike bench`: measures what this machine achieves. Each measurement is a subcommand.
#include "actors/command/command.h"

#include <array>

namespace pinstrike::command {

void add_bench_actor(CLI::App& app, Outcome& outcome);
void add_bench_stages(CLI::App& app, Outcome& outcome);
void add_bench_state(CLI::App& app, Outcome& outcome);
void add_bench_stream(CLI::App& app, Outcome& outcome);

namespace {

constexpr std::array measurements{AddCommand{add_bench_actor}, AddCommand{add_bench_stages},
                                  AddCommand{add_bench_state}, AddCommand{add_bench_stream}};

}  // namespace

void add_bench(CLI::App& app, Outcome& outcome) {
    CLI::App* command = app.add_subcommand("bench", "Measure the performance of this machine");
    command->require_subcommand(1);
    for (const AddCommand add : measurements) {
        add(*command, outcome);
    }
}

}  // namespace pinstrike::command
