// path: cold
//
// The interface of the program's subcommands. Each subcommand has a file of its own, whose function
// adds it to the application. The subcommand stores its exit status in an Outcome, so that no
// command calls exit().
#pragma once

#include "config/problem.h"

#include <CLI/CLI.hpp>

namespace pinstrike::command {

/// The result of the chosen subcommand.
struct Outcome {
    Exit status = Exit::ok;
};

using AddCommand = void (*)(CLI::App& app, Outcome& outcome);

}  // namespace pinstrike::command
