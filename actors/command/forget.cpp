// path: cold
//
// `pinstrike forget`: removes published memory that nobody writes any more.
#include "actors/command/command.h"
#include "actors/publish/memory_file.h"
#include "config/print_problems.h"

#include <memory>
#include <string>

namespace pinstrike::command {

void add_forget(CLI::App& app, Outcome& outcome) {
    auto feed = std::make_shared<std::string>();
    CLI::App* command =
        app.add_subcommand("forget", "Remove the memory that a feed or replay left");
    command->footer(
        "For memory of `pinstrike replay --keep`, or of a feed that was killed.\n"
        "Exit status: 0 removed; 1 there is none, or a process publishes under this name.\n\n"
        "Example:\n"
        "  pinstrike forget day");
    command->add_option("NAME", *feed, "The name under which it was published")->required();
    command->callback([feed, &outcome] {
        Problems problems;
        if (!actors::forget_memory(*feed, problems)) {
            print_problems(problems);
            outcome.status = Exit::failed;
        }
    });
}

}  // namespace pinstrike::command
