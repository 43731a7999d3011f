// path: cold
#include "config/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace pinstrike {

std::string Place::text() const {
    if (line == 0) {
        return file;
    }
    return column == 0 ? fmt::format("{}:{}", file, line)
                       : fmt::format("{}:{}:{}", file, line, column);
}

Remedy remedy_of(int error) {
    // Errors that other processes, the network or a disk cause, and that may end without a change
    // of the config or the host.
    constexpr std::array passing{EADDRINUSE, EADDRNOTAVAIL, EAGAIN, EBUSY,       EINTR,    EIO,
                                 EMFILE,     ENETDOWN,      ENFILE, ENETUNREACH, ENOBUFS,  ENODEV,
                                 ENOMEM,     ENOSPC,        ENXIO,  ESTALE,      ETIMEDOUT};
    return std::ranges::count(passing, error) == 0 ? Remedy::change : Remedy::retry;
}

void add_problem(Problems& problems, std::string file, std::string text, Remedy remedy) {
    add_problem(problems, Place{std::move(file)}, std::move(text), remedy);
}

void add_problem(Problems& problems, Place place, std::string text, Remedy remedy) {
    problems.push_back({std::move(place), std::move(text), remedy});
}

Exit exit_of(const Problems& problems) {
    if (problems.empty()) {
        return Exit::ok;
    }
    const bool change = std::ranges::count(problems, Remedy::change, &Problem::remedy) != 0;
    return change ? Exit::config : Exit::failed;
}

}  // namespace pinstrike
