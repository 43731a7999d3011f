// path: cold
#pragma once

#include "config/problem.h"

#include <chrono>
#include <future>
#include <optional>
#include <string>

namespace pinstrike::command {

/// Reads a text in a thread of its own, so that a pipe that nobody writes, or a file of a server
/// that is gone, holds up nobody else.
class TimedReader {
  public:
    /// The text; or a Problem: it cannot be read, not within `timeout`, or the one before is still
    /// being read.
    [[nodiscard]] std::optional<std::string> read(const std::string& path,
                                                  std::chrono::nanoseconds timeout,
                                                  Problems& problems);

  private:
    struct Outcome {
        std::optional<std::string> text;
        Problems problems;
    };

    std::future<Outcome> reading_;  ///< of a thread that nobody waits for
};

}  // namespace pinstrike::command
