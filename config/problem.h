// path: cold
//
// What is wrong with something that came from outside: a config, a file, a host. Problems are
// collected and told all at once; nothing is thrown.
#pragma once

#include <string>
#include <vector>

namespace pinstrike {

/// Where something stands in a text file; line and column count from 1, 0 means unknown.
struct Place {
    std::string file;
    unsigned line = 0;
    unsigned column = 0;

    /// "file:line:column", or as much of it as is known.
    [[nodiscard]] std::string text() const;
};

struct Problem {
    Place place;
    std::string text;  ///< what was found, where in words, and what was expected
};

using Problems = std::vector<Problem>;

/// Adds a problem: of the file `file` as a whole, or of no file if it is empty.
void tell(Problems& problems, std::string file, std::string text);

/// Adds a problem of a place in a file.
void tell(Problems& problems, Place place, std::string text);

/// Exit statuses of the program: those of sysexits.h where systemd gives them a meaning.
enum class Exit : int {
    ok = 0,
    failed = 1,
    usage = 2,
    config = 78,  ///< wrong config or host: what a restart cannot mend
};

}  // namespace pinstrike
