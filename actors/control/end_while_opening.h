// path: cold
//
// Handles SIGINT and SIGTERM while the control thread may be blocked in the kernel: it opens a pipe
// that has no writer, or a file on a server that does not answer.
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace pinstrike::actors {

/// While an object exists, the signals end the program at once, with their default effect, after a
/// line on standard error. All threads must have blocked them when the object is made.
class EndWhileOpening {
  public:
    /// `doing`: the current activity for that line, such as "opening the feed".
    explicit EndWhileOpening(std::string doing);

    /// From here on the signals stay pending until a thread waits for them.
    ~EndWhileOpening();

    EndWhileOpening(const EndWhileOpening&) = delete;
    EndWhileOpening& operator=(const EndWhileOpening&) = delete;

  private:
    void watch() const;

    std::string doing_;
    // This flag only asks the thread to stop. No other data depends on it, so relaxed order is
    // enough.
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace pinstrike::actors
