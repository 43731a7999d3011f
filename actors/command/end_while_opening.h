// path: cold
//
// SIGINT and SIGTERM while the control thread may be held up in the kernel: it opens a pipe that
// nobody writes, or a file of a server that is gone.
#pragma once

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

namespace pinstrike::command {

/// While it lives, the signals end the program at once, as they would have had nobody asked for
/// them, with a sentence before. Made while they are blocked in all threads.
class EndWhileOpening {
  public:
    /// `doing`: "opening what the feed needs", for the sentence.
    explicit EndWhileOpening(std::string doing);

    /// From here on they wait for whoever takes them.
    ~EndWhileOpening();

    EndWhileOpening(const EndWhileOpening&) = delete;
    EndWhileOpening& operator=(const EndWhileOpening&) = delete;

  private:
    void watch() const;

    std::string doing_;
    // A wish and no more: nothing else is concluded from it, so relaxed is enough.
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace pinstrike::command
