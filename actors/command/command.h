// path: cold
//
// The interface of the program's subcommands. Each subcommand has a file of its own, whose function
// adds it to the application. The subcommand stores its exit status in an Outcome, so that no
// command calls exit().
#pragma once

#include "config/print_problems.h"
#include "config/problem.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace pinstrike::command {

/// The result of the chosen subcommand.
struct Outcome {
    Exit status = Exit::ok;
};

using AddCommand = void (*)(CLI::App& app, Outcome& outcome);

/// Ends a subcommand. Its functions throw this when they have printed the reason, and main.cpp
/// catches it.
struct Ended {
    Exit status = Exit::failed;
};

/// Prints the problems. Ends the subcommand unless all is `good`.
inline void end_unless(bool good, const Problems& problems, Exit status = Exit::failed) {
    print_problems(problems);
    if (!good) {
        throw Ended{status};
    }
}

/// A subcommand, and its arguments, which live as long as it.
template <class Arguments>
struct Added {
    CLI::App* command;
    Arguments* given;
};

/// Adds a subcommand. If it is chosen, `run` gets its arguments.
template <class Parameter, class Arguments = std::remove_cvref_t<Parameter>>
Added<Arguments> add_command(CLI::App& app, Outcome& outcome, const std::string& name,
                             const std::string& sentence, Exit (*run)(Parameter)) {
    auto given = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(name, sentence);
    command->callback([given, run, &outcome] { outcome.status = run(*given); });
    return {command, given.get()};
}

/// Adds an option for a number from `least` to `most`, whose default is shown.
template <class Number, class End>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value, End least,
                        End most, const std::string& what) {
    return command.add_option(name, value, what)
        ->check(CLI::Range(least, most))
        ->capture_default_str();
}

/// The config of a file. Prints its problems, and ends the subcommand if it is wrong.
template <class Config>
[[nodiscard]] Config load_or_end(std::optional<Config> (*load_file)(const std::string&, Problems&),
                                 const std::string& file) {
    Problems problems;
    auto config = load_file(file, problems);
    end_unless(config.has_value(), problems, exit_of(problems));
    return std::move(*config);
}

}  // namespace pinstrike::command
