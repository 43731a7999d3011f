// path: cold
#pragma once

#include "config/problem.h"

#include <chrono>
#include <future>
#include <optional>
#include <string>

namespace pinstrike::actors {

/// Reads a text in a separate thread, so that a pipe without a writer, or a file on a server that
/// is gone, blocks no other thread.
class TimedReader {
  public:
    /// Returns the text, or a Problem if it cannot be read, is not read within `timeout`, or the
    /// text before is still being read.
    [[nodiscard]] std::optional<std::string> read(const std::string& path,
                                                  std::chrono::nanoseconds timeout,
                                                  Problems& problems);

  private:
    struct Outcome {
        std::optional<std::string> text;
        Problems problems;
    };

    std::future<Outcome> reading_;  ///< of a thread that is never joined
};

}  // namespace pinstrike::actors
