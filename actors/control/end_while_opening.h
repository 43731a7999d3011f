// path: cold
//
// Handles SIGINT and SIGTERM while the control thread may be blocked in the kernel: it opens a pipe
// that has no writer, or a file on a server that does not answer.
#pragma once

#include <stop_token>
#include <string>
#include <thread>

namespace pinstrike::actors {

/// While an object exists, the signals end the program at once, with their default effect, after a
/// line on standard error. All threads must have blocked them when the object is made. From its end
/// on they stay pending until a thread waits for them.
class EndWhileOpening {
  public:
    /// `doing`: the current activity for that line, such as "opening the feed".
    explicit EndWhileOpening(std::string doing);

    EndWhileOpening(const EndWhileOpening&) = delete;
    EndWhileOpening& operator=(const EndWhileOpening&) = delete;

  private:
    void watch(const std::stop_token& over) const;

    std::string doing_;
    std::jthread thread_;  ///< last: it uses the text
};

}  // namespace pinstrike::actors
