// path: cold
//
// The program's subcommands. Each stands in a file of its own and adds itself to the application;
// its callback returns through `status`, so that no command calls exit().
#pragma once

#include "config/problem.h"

#include <CLI/CLI.hpp>

namespace pinstrike::command {

/// What the chosen subcommand ended with.
struct Outcome {
    Exit status = Exit::ok;
};

using AddCommand = void (*)(CLI::App& app, Outcome& outcome);

}  // namespace pinstrike::command
