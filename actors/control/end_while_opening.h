// path: cold
//
// SIGINT and SIGTERM while the control thread may be held up in the kernel: it opens a pipe that
// nobody writes, or a file on a server that does not answer.
#pragma once

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

namespace pinstrike::command {

/// While an object exists, the signals end the program at once, with their default effect, after a
/// line on standard error. They must be blocked in all threads when it is made.
class EndWhileOpening {
  public:
    /// `doing`: "opening what the feed needs", for the sentence.
    explicit EndWhileOpening(std::string doing);

    /// From here on the signals stay pending until somebody waits for them.
    ~EndWhileOpening();

    EndWhileOpening(const EndWhileOpening&) = delete;
    EndWhileOpening& operator=(const EndWhileOpening&) = delete;

  private:
    void watch() const;

    std::string doing_;
    // Only asks the thread to stop; no other data depends on it, so relaxed order is enough.
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace pinstrike::command
