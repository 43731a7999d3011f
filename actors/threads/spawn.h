// path: cold
#pragma once

#include "nic/file_descriptor.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace pinstrike::actors {

/// Both ends close by themselves when a program is executed.
struct Pipe {
    nic::FileDescriptor read_end;
    nic::FileDescriptor write_end;

    /// False, with errno.
    [[nodiscard]] bool open();
};

/// The standard files of a process; -1: /dev/null.
struct StandardFiles {
    int input = -1;
    int output = -1;
    int errors = -1;
};

/// Starts a program as a process that has no other descriptors. It handles signals as usual,
/// although this thread may block and ignore some. `words`: its name and its arguments. Returns an
/// errno.
[[nodiscard]] int spawn(pid_t& pid, const std::string& program, std::vector<std::string> words,
                        const StandardFiles& files);

}  // namespace pinstrike::actors
