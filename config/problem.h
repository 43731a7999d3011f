// path: cold
//
// Problems of inputs from outside: a config, a file, a host. They are collected and reported
// together; no exception is thrown.
#pragma once

#include <string>
#include <vector>

namespace pinstrike {

/// A place in a text file. Line and column count from 1; 0 means unknown.
struct Place {
    std::string file;
    unsigned line = 0;
    unsigned column = 0;

    /// "file:line:column", or the known part of it.
    [[nodiscard]] std::string text() const;
};

/// What can fix a problem.
enum class Remedy : unsigned char {
    change,  ///< a change of the config or the host
    retry,   ///< a later start may succeed: a port is in use, memory is short
};

/// The remedy for a system call that failed with this `errno`.
[[nodiscard]] Remedy remedy_of(int error);

struct Problem {
    Place place;
    std::string text;  ///< what was found, in which key or object, and what was expected
    Remedy remedy = Remedy::change;
};

using Problems = std::vector<Problem>;

/// Adds a problem of the file as a whole; `file` is empty if it concerns no file.
void add_problem(Problems& problems, std::string file, std::string text,
                 Remedy remedy = Remedy::change);

/// Adds a problem at a place in a file.
void add_problem(Problems& problems, Place place, std::string text, Remedy remedy = Remedy::change);

/// Exit statuses of the program: those of sysexits.h where systemd gives them a meaning.
enum class Exit : int {
    ok = 0,
    failed = 1,
    usage = 2,
    config = 78,  ///< wrong config or host: a restart cannot fix it
};

/// `config` if one of the problems needs a change, `failed` if a retry may fix all of them.
[[nodiscard]] Exit exit_of(const Problems& problems);

}  // namespace pinstrike
