// path: cold
//
// `pinstrike forget`: removes published memory that nobody writes any more.
#include "actors/command/command.h"
#include "actors/publish/memory_file.h"

#include <string>

namespace pinstrike::command {

namespace {

Exit forget(const std::string& feed) {
    Problems problems;
    end_unless(actors::forget_memory(feed, problems), problems);
    return Exit::ok;
}

}  // namespace

void add_forget(CLI::App& app, Outcome& outcome) {
    const auto [command, feed] =
        add_command(app, outcome, "forget", "Remove the memory that a feed or replay left", forget);
    command->footer(
        "For memory of `pinstrike replay --keep`, or of a feed that was killed.\n"
        "Exit status: 0 removed; 1 there is none, or a process publishes under this name.\n\n"
        "Example:\n"
        "  pinstrike forget day");
    command->add_option("NAME", *feed, "The name under which it was published")->required();
}

}  // namespace pinstrike::command
