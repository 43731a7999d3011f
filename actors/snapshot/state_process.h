// path: cold
//
// Another process of this program, which writes the recorded state of all series to its standard
// output. The books of the feed do not wait for it, and its errors cannot concern them.
#pragma once

#include "nic/file_descriptor.h"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

class StateProcess {
  public:
    /// Starts `program` with these arguments. Null, with errno, if the system refuses.
    [[nodiscard]] static std::unique_ptr<StateProcess> start(const std::string& program,
                                                             std::vector<std::string> arguments);
    /// Ends the process.
    ~StateProcess();

    StateProcess(const StateProcess&) = delete;
    StateProcess& operator=(const StateProcess&) = delete;

    // No call waits.

    /// The next bytes of its output, valid until the next call; empty: there are none now.
    [[nodiscard]] std::span<const std::byte> read();

    /// Whether it has ended. Its output may still have bytes.
    [[nodiscard]] bool has_ended();

    /// Of a process that has ended: whether its status was 0.
    [[nodiscard]] bool succeeded() const { return status_ == 0; }

    /// The last line of its standard error.
    [[nodiscard]] std::string last_line();

  private:
    StateProcess(pid_t pid, nic::FileDescriptor output, nic::FileDescriptor errors)
        : pid_(pid), output_(std::move(output)), errors_(std::move(errors)) {}

    pid_t pid_;  ///< 0: it has ended
    nic::FileDescriptor output_;
    nic::FileDescriptor errors_;
    int status_ = -1;  ///< as of waitpid()
    std::string said_;
    std::array<std::byte, std::size_t{1} << 16> buffer_{};
};

}  // namespace pinstrike::actors
